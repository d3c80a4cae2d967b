// VerifyScript: whether an input may spend an output: scriptSig, scriptPubKey, P2SH and witness
// together. Consensus code. Pure; any thread.
#pragma once

#include "script/interpreter.h"
#include "script/taproot.h"

namespace ibd {

/** The witness of an input as serialized in the transaction. */
struct WitnessView {
    ByteSpan items; //!< each CompactSize length, then bytes
    uint32_t count = 0;
};

/** kOk if the spend is valid under `flags`. kVerifyCleanStack needs kVerifyP2sh and
 *  kVerifyWitness; kVerifyWitness needs kVerifyP2sh. */
ScriptError VerifyScript(ByteSpan script_sig, ByteSpan script_pubkey, const WitnessView& witness,
                         ScriptFlags flags, const SignatureChecker& checker);

/** Verifies one input of a transaction. `spent`: the output that it spends. With `deferred`, kOk
 *  holds only if all notes there prove valid, and an error only means that the input must run
 *  without deferring. */
ScriptError VerifyInput(const TxView& tx, size_t input, const SpentOutput& spent,
                        const TxHashes& hashes, ScriptFlags flags, SignatureCacheUse cache = {},
                        DeferredSignatures* deferred = nullptr);

} // namespace ibd
