// A node of a miniscript (BIP379), with its type and the cost of satisfying it. A value type; a key
// is a position in a table of the owner. Recursion over a node goes at most 2 * kMaxDepth calls
// deep. Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace ibd::miniscript {

/** The script that contains a miniscript: of P2WSH, or a leaf of a taproot output. */
enum class Context : uint8_t { kWsh, kTapscript };

/** Largest depth of nested expressions and wrappers that is read. It bounds the recursion. */
inline constexpr size_t kMaxDepth = 1000;
inline constexpr int64_t kMaxLock = 0x7fffffff; //!< for older() and after(); the least is 1
inline constexpr size_t kMaxKeysOfMultiA = 999;

/** The size of the largest script that a standard transaction can spend, bytes. In P2WSH: 3,600. In
 *  tapscript: the largest weight, 400,000, less a transaction of one input and one output (378), a
 *  witness of 1,000 signatures, and the largest control block. */
size_t MaxScriptSize(Context context);

enum class Fragment : uint8_t {
    kFalse,
    kTrue,
    kKey,     //!< pk_k
    kKeyHash, //!< pk_h
    kOlder,
    kAfter,
    kSha256,
    kHash256,
    kRipemd160,
    kHash160,
    kMulti, //!< in tapscript: multi_a
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
 *  BIP379. Further letters: x: the last opcode has no VERIFY form. g, h: a relative lock by time or
 *  by height. i, j: an absolute lock by time or by height. k: no satisfaction needs g with h, or i
 *  with j. */
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

    uint64_t m_bits = 0; //!< bit i: the letter at distance i from A
};

/** Keys that CHECKMULTISIG counts as operations. */
struct KeyOps {
    uint32_t count = 0;

    friend constexpr KeyOps operator+(KeyOps a, KeyOps b) { return {a.count + b.count}; }
    friend constexpr KeyOps MaxOf(KeyOps a, KeyOps b) { return {std::max(a.count, b.count)}; }
};

/** Numbers of items on the stack during a run, less the number at its end. */
struct StackUse {
    int32_t start = 0; //!< at the start
    int32_t most = 0;  //!< the most during the run

    /** The run `a`, and then `b`. */
    friend constexpr StackUse operator+(StackUse a, StackUse b)
    {
        return {a.start + b.start, std::max(b.most, b.start + a.most)};
    }
    friend constexpr StackUse MaxOf(StackUse a, StackUse b)
    {
        return {std::max(a.start, b.start), std::max(a.most, b.most)};
    }
};

/** The largest cost of satisfying (`yes`) and of dissatisfying (`no`) a node; nothing: impossible.
 */
template <typename Cost>
struct Ways {
    std::optional<Cost> yes, no;
};

struct Node {
    Fragment fragment{};
    uint32_t number = 0; //!< of a lock; the threshold of multi and thresh
    std::vector<uint32_t> keys = {};
    Bytes hash = {};
    std::vector<Node> subs = {};

    // Set by Complete().

    Properties type = {};   //!< without a basic type: the types of the children do not fit
    size_t script_size = 0; //!< bytes
    size_t height = 0;      //!< levels of nodes
    uint32_t ops = 0;       //!< opcodes other than pushes
    Ways<KeyOps> key_ops = {};
    Ways<StackUse> stack = {};
};

/** Sets the members derived from fragment and children. */
void Complete(Node& node, Context context);

bool HasBasicType(const Node& node);
/** Whether a fitting witness exists, for some signatures, preimages and times. */
bool IsSatisfiable(const Node& node);

/** The rule that an expression breaks: Core's error names most of these. */
enum class Fault {
    kNone,
    kInvalid,    //!< the types of the children do not fit, or the script is too long
    kMalleable,  //!< others could change the witness
    kUnsigned,   //!< it can be spent without a signature
    kMixedLocks, //!< locks by height and by time are needed together
    kRepeatedKey,
    kTooExpensive,  //!< more operations or stack items than a script may use
    kNoCondition,   //!< the root is not of type B, so it leaves no truth value
    kUnsatisfiable, //!< sane, but of no use
};

struct FaultAt {
    Fault fault = Fault::kNone;
    const Node* where = nullptr; //!< the first node with a fault, in the order of the script
};

/** `same_key`: for each key, the first position in the table that has an equal one. */
FaultAt FindFault(const Node& root, Context context, std::span<const uint32_t> same_key);

} // namespace ibd::miniscript
