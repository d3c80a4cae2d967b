// See asmap.h.
#include "net/address/asmap.h"

#include "crypto/sha256.h"
#include "primitives/serialize.h"
#include "util/check.h"

#include <bit>
#include <vector>

namespace ibd {

namespace {

constexpr int kInputBits = 128;
constexpr uint32_t kBroken = 0xffffffff; //!< never a valid number

// Numbers are coded in classes: a one for each lower class, a zero unless it is the last class,
// then the index in the class, highest bit first. The bits of a class's indices:
constexpr uint8_t kOpcodeBits[] = {0, 0, 1};
constexpr uint8_t kSystemBits[] = {15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
constexpr uint8_t kMatchBits[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr uint8_t kJumpBits[] = {5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                                 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
constexpr uint32_t kFirstSystem = 1;
constexpr uint32_t kFirstMatch = 2;
constexpr uint32_t kFirstJump = 17;

enum Opcode : uint32_t {
    kReturn = 0,  //!< the result is this system
    kJump = 1,    //!< continue if the next bit of the address is 0, else skip that many bits of
                  //!< program
    kMatch = 2,   //!< continue if the next bits of the address match, else return the default
    kDefault = 3, //!< sets the default for the following instructions
};

/** The bits of a program, lowest bit of each byte first. */
class Bits {
public:
    explicit Bits(ByteSpan bytes) : m_bytes(bytes) {}

    size_t Position() const { return m_at; }
    size_t Left() const { return m_bytes.size() * 8 - m_at; }
    void Skip(size_t n) { m_at += n; }
    bool Next()
    {
        const bool bit = (m_bytes[m_at / 8] >> m_at % 8 & 1) != 0;
        ++m_at;
        return bit;
    }
    /** kBroken: the program ends within the number. */
    uint32_t Number(uint32_t first, std::span<const uint8_t> class_bits)
    {
        uint32_t value = first;
        size_t k = 0;
        for (; k + 1 < class_bits.size(); ++k) {
            if (Left() == 0) return kBroken;
            if (!Next()) break;
            value += 1U << class_bits[k];
        }
        uint32_t place = 0;
        for (int i = 0; i < class_bits[k]; ++i) {
            if (Left() == 0) return kBroken;
            place = place << 1 | (Next() ? 1 : 0);
        }
        return value + place;
    }
    uint32_t NextOpcode() { return Number(0, kOpcodeBits); }
    uint32_t NextSystem() { return Number(kFirstSystem, kSystemBits); }
    uint32_t NextMatch() { return Number(kFirstMatch, kMatchBits); }
    uint32_t NextJump() { return Number(kFirstJump, kJumpBits); }

private:
    ByteSpan m_bytes;
    size_t m_at = 0;
};

/** Number of bits that a match compares: all below the highest set bit. */
int MatchLength(uint32_t match) { return std::bit_width(match) - 1; }

/** Walks through a program once and checks that it is a complete tree: each jump target is the end
 *  of the previous part, no path needs more bits than an address has, and no instruction is
 *  redundant. */
class Inspector {
public:
    explicit Inspector(ByteSpan program) : m_bits(program) {}

    bool IsSound()
    {
        while (m_bits.Left() > 0) {
            if (!m_jumps.empty() && m_bits.Position() >= m_jumps.back().target) return false;
            const uint32_t opcode = m_bits.NextOpcode();
            switch (opcode) {
            case kReturn: {
                if (m_previous == kDefault || m_bits.NextSystem() == kBroken) return false;
                if (m_jumps.empty()) return OnlyPaddingIsLeft();
                if (!TakeJump()) return false;
                continue;
            }
            case kJump:
                if (!SeeJump()) return false;
                break;
            case kMatch:
                if (!SeeMatch()) return false;
                break;
            case kDefault:
                if (m_previous == kDefault || m_bits.NextSystem() == kBroken) return false;
                break;
            default: return false;
            }
            m_previous = opcode;
        }
        return false;
    }

private:
    struct Jump {
        size_t target;
        int input_left;
    };

    bool OnlyPaddingIsLeft()
    {
        if (m_bits.Left() > 7) return false;
        while (m_bits.Left() > 0) {
            if (m_bits.Next()) return false;
        }
        return true;
    }
    /** Continues at the target of the last jump. */
    bool TakeJump()
    {
        if (m_bits.Position() != m_jumps.back().target) return false; // unreachable code
        m_input_left = m_jumps.back().input_left;
        m_jumps.pop_back();
        m_previous = kJump;
        return true;
    }
    bool SeeJump()
    {
        const uint32_t distance = m_bits.NextJump();
        if (distance == kBroken || distance > m_bits.Left() || m_input_left == 0) return false;
        --m_input_left;
        const size_t target = m_bits.Position() + distance;
        if (!m_jumps.empty() && target >= m_jumps.back().target) return false;
        m_jumps.push_back({target, m_input_left});
        return true;
    }
    bool SeeMatch()
    {
        const uint32_t match = m_bits.NextMatch();
        if (match == kBroken) return false;
        const int length = MatchLength(match);
        if (m_previous != kMatch) m_short_match = false;
        if (length < 8 && m_short_match) return false;
        m_short_match = length < 8;
        m_input_left -= length;
        return m_input_left >= 0;
    }

    Bits m_bits;
    std::vector<Jump> m_jumps; //!< jumps not taken yet; at most kInputBits
    int m_input_left = kInputBits;
    uint32_t m_previous = kJump;
    bool m_short_match = false; //!< in the current sequence of matches
};

} // namespace

Asmap::Asmap(Bytes program) : m_program(std::move(program))
{
    Bytes hashed;
    Writer(hashed).VarBytes(m_program);
    m_version = Uint256(Sha256d(hashed));
}

std::optional<Asmap> Asmap::Parse(Bytes program)
{
    if (!Inspector(program).IsSound()) return std::nullopt;
    return Asmap(std::move(program));
}

uint32_t Asmap::Lookup(const std::array<uint8_t, 16>& ip) const
{
    Bits bits(m_program);
    size_t ip_at = 0;
    const auto next_ip_bit = [&] {
        CHECK(ip_at < kInputBits); // checked by Parse()
        const bool bit = (ip[ip_at / 8] >> (7 - ip_at % 8) & 1) != 0;
        ++ip_at;
        return bit;
    };
    uint32_t fallback = 0;
    for (;;) {
        switch (bits.NextOpcode()) {
        case kReturn: return bits.NextSystem();
        case kJump: {
            const uint32_t distance = bits.NextJump();
            if (next_ip_bit()) bits.Skip(distance);
            break;
        }
        case kMatch: {
            const uint32_t match = bits.NextMatch();
            for (int i = MatchLength(match) - 1; i >= 0; --i) {
                if (next_ip_bit() != ((match >> i & 1) != 0)) return fallback;
            }
            break;
        }
        default: fallback = bits.NextSystem();
        }
    }
}

} // namespace ibd
