// The witness of a miniscript (BIP379): of the smallest ones, one that others cannot change. Uses
// the thread that calls; recursion as in node.h.
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
 *  the signature of each key, also beyond those needed, as other signers may need it. The
 *  expression must be sane. Time and memory: linear, but quadratic in the keys of multi_a() and in
 *  the children of thresh() that `source` can satisfy, of which at most kMaxStackSize are used. */
std::optional<std::vector<Bytes>> Satisfy(const Expression& expression, WitnessSource& source);

} // namespace ibd::miniscript
