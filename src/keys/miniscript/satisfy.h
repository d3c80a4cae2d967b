// The smallest witness of a miniscript (BIP379) that is not malleable: others cannot change it. On
// the caller's thread; recursion as in node.h.
#pragma once

#include "keys/miniscript/script.h"

namespace ibd::miniscript {

/** Answers about one input of a transaction. */
class WitnessSource {
public:
    virtual ~WitnessSource() = default;
    /** A signature by a key of the expression; nothing: not available. */
    virtual std::optional<Bytes> Sign(ByteSpan key) = 0;
    /** `function`: kSha256, kHash256, kRipemd160 or kHash160. */
    virtual std::optional<Bytes> FindPreimage(Fragment function, ByteSpan hash) const = 0;
    /** Whether the input keeps a relative lock (BIP112) or an absolute one (BIP65). */
    virtual bool IsOlder(uint32_t lock) const = 0;
    virtual bool IsAfter(uint32_t lock) const = 0;
};

/** The items from the bottom of the stack, without the script; nothing: some are missing. Asks for
 *  a signature of every key, because other signers may need one that is not used here. The
 *  expression may be insane; a witness that others can change, or without a signature, counts as
 *  missing. Memory: linear, but quadratic in the largest multi_a() or thresh(). Time: quadratic in
 *  the keys of a multi_a() and in the children of a thresh() that `source` can satisfy, of which at
 *  most kMaxStackSize are used. */
std::optional<std::vector<Bytes>> Satisfy(const Expression& expression, WitnessSource& source);

} // namespace ibd::miniscript
