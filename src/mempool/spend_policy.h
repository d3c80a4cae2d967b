// Policy on the spent coins of a transaction: templates of the spent scripts, signature operations,
// sizes of witnesses; and the flags for its scripts. Rules and reject reasons are Core's. Pure; any
// thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/sighash.h"
#include "script/verify_flags.h"

namespace ibd {

/** All consensus flags, and flags that reserve upgrade paths for soft forks and prevent
 *  malleability by third parties. */
inline constexpr ScriptFlags kStandardScriptFlags =
    kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv | kVerifyCsv | kVerifyWitness |
    kVerifyTaproot | kVerifyStrictEnc | kVerifyMinimalData | kVerifyDiscourageUpgradableNops |
    kVerifyCleanStack | kVerifyMinimalIf | kVerifyNullFail | kVerifyLowS |
    kVerifyDiscourageUpgradableWitnessProgram | kVerifyWitnessPubkeyType | kVerifyConstScriptCode |
    kVerifyDiscourageUpgradableTaprootVersion | kVerifyDiscourageOpSuccess |
    kVerifyDiscourageUpgradablePubkeyType;

/** `coins`: one for each input. Checks that every input spends a standard script, P2SH with at most
 *  15 signature operations, and that there are at most 2,500 outside of witnesses (BIP54). Input
 *  scripts contain only pushes (CheckStandardTx), so running one is linear in its size. */
RuleResult CheckStandardSpends(const TxView& tx, std::span<const SpentCoin> coins);

/** Checks that only inputs with witness programs have witnesses, that P2WSH and tapscript are
 *  within limits, and that there is no annex. */
bool IsStandardWitness(const TxView& tx, std::span<const SpentCoin> coins);

/** Whether an input spends a witness program, directly or as P2SH, other than P2A: without its
 *  witness such a transaction fails, and another peer may have the witness. */
bool SpendsWitnessProgram(const TxView& tx, std::span<const SpentOutput> spent);

} // namespace ibd
