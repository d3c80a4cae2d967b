// A node of a miniscript (BIP379), with its type and the cost of satisfying it. Values; keys are
// positions in a table of the owner. Recursion over a node goes at most 2 * kMaxDepth calls deep.
// Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace ibd::miniscript {

/** The script that contains a miniscript: of P2WSH, or a leaf of a taproot output. */
enum class Context : uint8_t { kWsh, kTapscript };

/** Nested expressions and wrappers that are read; the script of more would be absurd. */
inline constexpr size_t kMaxDepth = 1000;
inline constexpr int64_t kMaxLock = 0x7fffffff; //!< of older() and after(), which are at least 1
inline constexpr size_t kMaxKeysOfMultiA = 999;

/** Bytes of a script that a standard transaction can spend: 3,600 in P2WSH. In tapscript, what
 *  400,000 weight leave to it beside a transaction of one input and one output (378), the largest
 *  witness of 1,000 signatures, and the control block. */
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

/** Keys that CHECKMULTISIG counts as operations. */
struct KeyOps {
    uint32_t count = 0;

    friend constexpr KeyOps operator+(KeyOps a, KeyOps b) { return {a.count + b.count}; }
    friend constexpr KeyOps MaxOf(KeyOps a, KeyOps b) { return {std::max(a.count, b.count)}; }
};

/** Items on the stack, each as a difference to the items at the end of the run. */
struct StackUse {
    int32_t start = 0; //!< at the start
    int32_t most = 0;  //!< the most during the run

    /** One run, and another after it. */
    friend constexpr StackUse operator+(StackUse a, StackUse b)
    {
        return {a.start + b.start, std::max(b.most, b.start + a.most)};
    }
    friend constexpr StackUse MaxOf(StackUse a, StackUse b)
    {
        return {std::max(a.start, b.start), std::max(a.most, b.most)};
    }
};

/** The largest cost of satisfying (`yes`) and of dissatisfying a node; nothing: it is not possible.
 */
template <typename Cost>
struct Ways {
    std::optional<Cost> yes, no;
};

struct Node {
    Fragment fragment{};
    uint32_t number = 0; //!< of a lock; signatures of multi, children of thresh
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

/** The rules that a sane expression keeps, as far as they can be named. */
enum class Fault {
    kNone,
    kInvalid,    //!< the types of the children do not fit, or the script is too long
    kMalleable,  //!< others could change the witness
    kUnsigned,   //!< it can be spent without a signature
    kMixedLocks, //!< locks by height and by time are needed together
    kRepeatedKey,
    kTooExpensive,  //!< more operations or stack items than a script may use
    kNoCondition,   //!< the whole is no B, so it leaves no truth value
    kUnsatisfiable, //!< sane, but of no use
};

struct FaultAt {
    Fault fault = Fault::kNone;
    const Node* where = nullptr; //!< the first node with a fault, in the order of the script
};

/** `same_key`: for each key, the first position in the table that has an equal one. */
FaultAt FindFault(const Node& root, Context context, std::span<const uint32_t> same_key);

} // namespace ibd::miniscript
