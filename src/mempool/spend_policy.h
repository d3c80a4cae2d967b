// Policy on the spent coins of a transaction: templates of the spent scripts, signature operations,
// sizes of witnesses; and the flags for its scripts. Rules and reject reasons are Core's. Pure; any
// thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/verify_flags.h"

namespace ibd {

/** All consensus flags, and flags that reserve room for soft forks and prevent changes of ids by
 *  third parties. */
inline constexpr ScriptFlags kStandardScriptFlags =
    kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv | kVerifyCsv | kVerifyWitness |
    kVerifyTaproot | kVerifyStrictEnc | kVerifyMinimalData | kVerifyDiscourageUpgradableNops |
    kVerifyCleanStack | kVerifyMinimalIf | kVerifyNullFail | kVerifyLowS |
    kVerifyDiscourageUpgradableWitnessProgram | kVerifyWitnessPubkeyType | kVerifyConstScriptCode |
    kVerifyDiscourageUpgradableTaprootVersion | kVerifyDiscourageOpSuccess |
    kVerifyDiscourageUpgradablePubkeyType;

/** `coins`: one for each input. Every input spends a standard script, P2SH with at most 15
 *  signature operations; at most 2,500 outside of witnesses (BIP54). Input scripts only push
 *  (CheckStandardTx), so running one is linear in its size. */
RuleResult CheckStandardSpends(const TxView& tx, std::span<const SpentCoin> coins);

/** Witnesses only for witness programs, with P2WSH and tapscript within limits, without annex. */
bool IsStandardWitness(const TxView& tx, std::span<const SpentCoin> coins);

} // namespace ibd
