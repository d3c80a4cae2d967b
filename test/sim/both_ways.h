// An input verified plainly and with its signatures deferred: the verdict, which deferring must not
// change. For tests of every kind that verify scripts.
#pragma once

#include "script/deferred_signatures.h"
#include "script/verify.h"
#include "util/check.h"

namespace ibd::sim {

/** The results of both ways. */
struct BothWays {
    ScriptError plain = ScriptError::kOk;
    bool proven = false; //!< the deferred run holds: the input would not be run again
};

/** A deferred run that holds means a valid input; CHECKed. */
inline BothWays VerifyBothWays(const TxView& tx, size_t input, const SpentOutput& spent,
                               const TxHashes& hashes, ScriptFlags flags)
{
    BothWays out;
    out.plain = VerifyInput(tx, input, spent, hashes, flags);
    DeferredSignatures deferred(LanesMode::kCheck);
    deferred.BeginInput();
    const ScriptError error = VerifyInput(tx, input, spent, hashes, flags, {}, &deferred);
    if (error != ScriptError::kOk) {
        deferred.DropInput();
        return out;
    }
    out.proven = deferred.Prove()[0];
    CHECK(!out.proven || out.plain == ScriptError::kOk);
    return out;
}

} // namespace ibd::sim
