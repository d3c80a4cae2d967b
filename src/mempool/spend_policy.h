// What this node takes into its pool of the way in which a transaction spends coins: shapes of the
// scripts that are spent, signature operations, sizes of witnesses; and the flags that its scripts
// are run under. Rules and reject reasons are Core's. Pure; any thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/verify_flags.h"

namespace ibd {

/** All of consensus, and what keeps room for later rules and ids from being changed by others. */
inline constexpr ScriptFlags kStandardScriptFlags =
    kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv | kVerifyCsv | kVerifyWitness |
    kVerifyTaproot | kVerifyStrictEnc | kVerifyMinimalData | kVerifyDiscourageUpgradableNops |
    kVerifyCleanStack | kVerifyMinimalIf | kVerifyNullFail | kVerifyLowS |
    kVerifyDiscourageUpgradableWitnessProgram | kVerifyWitnessPubkeyType | kVerifyConstScriptCode |
    kVerifyDiscourageUpgradableTaprootVersion | kVerifyDiscourageOpSuccess |
    kVerifyDiscourageUpgradablePubkeyType;

/** `coins`: one for each input. Every input spends a shape that is known, P2SH with at most 15
 *  signature operations; at most 2,500 outside of witnesses (BIP54). Scripts of inputs push only
 *  (CheckStandardTx), so running one is linear in its size. */
RuleResult CheckStandardSpends(const TxView& tx, std::span<const SpentCoin> coins);

/** Witnesses stand at programs alone, of P2WSH and of tapscript within limits, without annex. */
bool IsStandardWitness(const TxView& tx, std::span<const SpentCoin> coins);

} // namespace ibd
