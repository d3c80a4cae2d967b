// A node of a miniscript in a witness script (BIP379), with its type and the cost of satisfying it.
// Values; the bytes of keys and hashes are the script's. Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <array>
#include <optional>
#include <vector>

namespace ibd::miniscript {

enum class Fragment : uint8_t {
    kFalse,
    kTrue,
    kKey, //!< pk_k
    kOlder,
    kAfter,
    kSha256,
    kHash256,
    kRipemd160,
    kHash160,
    kMulti,
    kWrapA,
    kWrapS,
    kWrapC,
    kWrapD,
    kWrapV,
    kWrapJ,
    kWrapN,
    kAndV,
    kAndB,
    kOrB,
    kOrC,
    kOrD,
    kOrI,
    kAndOr,
    kThresh,
};

/** A set of letters: the basic types B, V, K, W, and the properties z, o, n, d, u, e, f, s, m of
 *  BIP379. Besides: x, its last opcode has no VERIFY form; g to j, it has a relative lock by time,
 *  by height, an absolute one by time, by height; k, no satisfaction needs locks of both kinds. */
class Properties {
public:
    constexpr Properties() = default;
    constexpr Properties(const char* letters)
    {
        for (; *letters != 0; ++letters) m_bits |= uint64_t{1} << (*letters - 'A');
    }

    constexpr bool Has(Properties wanted) const
    {
        return (m_bits & wanted.m_bits) == wanted.m_bits;
    }
    constexpr bool Any() const { return m_bits != 0; }
    /** These properties if the condition holds, else none. */
    constexpr Properties If(bool condition) const { return condition ? *this : Properties(); }
    friend constexpr Properties operator|(Properties a, Properties b)
    {
        return Properties(a.m_bits | b.m_bits);
    }
    friend constexpr Properties operator&(Properties a, Properties b)
    {
        return Properties(a.m_bits & b.m_bits);
    }

private:
    constexpr explicit Properties(uint64_t bits) : m_bits(bits) {}

    uint64_t m_bits = 0; //!< by the letters' distance from A
};

/** The cost of one way to satisfy a script; nothing: there is no such way. */
using MaybeCount = std::optional<uint32_t>;

/** The largest cost of satisfying (`yes`) and dissatisfying a node. */
struct Ways {
    MaybeCount yes, no;
};

struct Node {
    Fragment fragment{};
    uint32_t number = 0; //!< of a lock; signatures of multi, children of thresh
    std::vector<ByteSpan> data = {}; //!< keys, or a hash
    std::vector<Node> subs = {};

    // Set by Complete().

    Properties type = {};
    uint32_t ops = 0; //!< opcodes other than pushes
    Ways keys = {};   //!< keys that executed CHECKMULTISIGs count as operations
    Ways items = {};  //!< of the witness
};

/** Sets the members derived from fragment and children. False: the types of the children do not
 *  fit. */
bool Complete(Node& node);

} // namespace ibd::miniscript
