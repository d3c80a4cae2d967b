// See block_filter.h.
#include "index/block_filter.h"

#include "crypto/siphash.h"
#include "primitives/serialize.h"
#include "script/opcodes.h"

#include <algorithm>

namespace ibd {

namespace {

__extension__ typedef unsigned __int128 Uint128;

// Parameters of basic filters.
constexpr unsigned kRiceBits = 19;
constexpr uint64_t kInverseFalseRate = 784931;

/** Bits of a byte string, most significant first. */
class BitsOut {
public:
    explicit BitsOut(Bytes& out) : m_out(out) {}

    /** `count` up to 32. */
    void Write(uint64_t bits, unsigned count)
    {
        while (count-- > 0) {
            if (m_free == 0) {
                m_out.push_back(0);
                m_free = 8;
            }
            --m_free;
            m_out.back() |= static_cast<uint8_t>((bits >> count & 1) << m_free);
        }
    }
    void WriteRice(uint64_t value)
    {
        for (uint64_t left = value >> kRiceBits; left > 0; --left) Write(1, 1);
        Write(0, 1);
        Write(value, kRiceBits);
    }

private:
    Bytes& m_out;
    unsigned m_free = 0; //!< bits of the last byte
};

class BitsIn {
public:
    explicit BitsIn(ByteSpan data) : m_data(data) {}

    /** Zero past the end, and then not Ok(). */
    unsigned Bit()
    {
        if (m_at / 8 >= m_data.size()) {
            m_ok = false;
            return 0;
        }
        const unsigned bit = m_data[m_at / 8] >> (7 - m_at % 8) & 1;
        ++m_at;
        return bit;
    }
    uint64_t Rice()
    {
        uint64_t value = 0;
        while (Bit() == 1) ++value;
        for (unsigned i = 0; i < kRiceBits; ++i) value = value << 1 | Bit();
        return value;
    }
    bool Ok() const { return m_ok; }

private:
    ByteSpan m_data;
    size_t m_at = 0;
    bool m_ok = true;
};

/** The elements' hashes below count * kInverseFalseRate, sorted. `count`: elements of the filter.
 */
std::vector<uint64_t> HashesOf(std::span<const ByteSpan> elements, const BlockHash& block,
                               uint64_t count)
{
    Reader in(block.Span());
    SipKey key;
    key.k0 = in.U64();
    key.k1 = in.U64();
    const uint64_t range = count * kInverseFalseRate;
    std::vector<uint64_t> out;
    out.reserve(elements.size());
    for (const ByteSpan element : elements) {
        const uint64_t hash = SipHasher(key).Write(element).Finalize();
        out.push_back(static_cast<uint64_t>(static_cast<Uint128>(hash) * range >> 64));
    }
    std::ranges::sort(out);
    return out;
}

bool Less(ByteSpan a, ByteSpan b) { return std::ranges::lexicographical_compare(a, b); }

} // namespace

Bytes EncodeFilter(const BlockHash& block, std::vector<ByteSpan> elements)
{
    Bytes out;
    Writer(out).CompactSize(elements.size());
    BitsOut bits(out);
    uint64_t last = 0;
    for (const uint64_t hash : HashesOf(elements, block, elements.size())) {
        bits.WriteRice(hash - last);
        last = hash;
    }
    return out;
}

Bytes BasicFilter(const BlockView& block, const BlockUndo* undo)
{
    std::vector<ByteSpan> scripts;
    for (const OutputView& output : block.Outputs()) {
        const ByteSpan script = output.script_pubkey;
        if (!script.empty() && script[0] != OP_RETURN) scripts.push_back(script);
    }
    if (undo) {
        for (const TxUndo& tx : undo->txs) {
            for (const Coin& coin : tx.spent) {
                if (!coin.script.empty()) scripts.emplace_back(coin.script);
            }
        }
    }
    std::ranges::sort(scripts, Less);
    const auto same = [](ByteSpan a, ByteSpan b) { return std::ranges::equal(a, b); };
    scripts.erase(std::unique(scripts.begin(), scripts.end(), same), scripts.end());
    return EncodeFilter(block.Hash(), std::move(scripts));
}

Uint256 FilterHash(ByteSpan filter) { return Uint256(Sha256d(filter)); }

FilterHeader NextFilterHeader(const Uint256& filter_hash, const FilterHeader& previous)
{
    Bytes both(filter_hash.Span().begin(), filter_hash.Span().end());
    Append(both, previous.Span());
    return FilterHeader(Sha256d(both));
}

Result<bool> FilterQuery::MayMatch(const BlockHash& block, ByteSpan filter) const
{
    Reader in(filter);
    const uint64_t count = in.CompactSize();
    if (!in.Ok() || count > filter.size() * 8) return BadData("the filter is malformed");
    const std::vector<uint64_t> wanted = HashesOf(m_elements, block, count);
    BitsIn bits(filter.subspan(in.Position()));
    uint64_t value = 0;
    auto next = wanted.begin();
    for (uint64_t i = 0; i < count && next != wanted.end(); ++i) {
        value += bits.Rice();
        if (!bits.Ok()) return BadData("the filter is cut");
        while (next != wanted.end() && *next < value) ++next;
        if (next != wanted.end() && *next == value) return true;
    }
    return false;
}

} // namespace ibd
