// Miniscript and the script that it stands for (BIP379). Pure; any thread. Time and memory: linear
// in the script; for thresh() quadratic in the children that can be satisfied, of which at most
// kMaxStackSize are looked at.
#pragma once

#include "crypto/ripemd160.h"
#include "keys/miniscript/node.h"

#include <functional>
#include <map>

namespace ibd::miniscript {

/** A miniscript read from a script. */
struct Expression {
    Context context{};
    Node root;
    std::vector<Bytes> keys; //!< of the nodes: 33 bytes, in tapscript 32
};

/** The key of 33 or 32 bytes that has this Hash160, if it is known. */
using KeyFinder = std::function<std::optional<Bytes>(const Hash20&)>;

/** Nothing: the script is no miniscript of type B, is larger than MaxScriptSize(), is nested deeper
 *  than kMaxDepth, or has the hash of an unknown key. The expression may be insane. */
std::optional<Expression> FromScript(ByteSpan script, Context context, const KeyFinder& find_key);

/** Whether FindFault() finds no fault but kUnsatisfiable: an expression without a satisfaction may
 *  be sane. */
bool IsSane(const Expression& expression);

/** `keys`: as in Expression. */
Bytes ToScript(const Node& root, Context context, std::span<const Bytes> keys);

/** For each key the first position with an equal one; see FindFault(). */
template <typename Key>
std::vector<uint32_t> FirstEqual(const std::vector<Key>& keys)
{
    std::map<Key, uint32_t> first;
    std::vector<uint32_t> out;
    for (const Key& key : keys) {
        out.push_back(first.emplace(key, static_cast<uint32_t>(out.size())).first->second);
    }
    return out;
}

} // namespace ibd::miniscript
