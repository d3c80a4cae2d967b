// Signature operation counting (BIP16, BIP141). Pure; any thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/verify_flags.h"

namespace ibd {

/** Operations in the scripts themselves, multisig counted as 20: of one transaction, or of all in a
 *  block. */
unsigned LegacySigOpCount(std::span<const InputView> inputs, std::span<const OutputView> outputs);

/** Operations in P2SH redeem scripts of the inputs, counted exactly. */
unsigned P2shSigOpCount(const TxView& tx, std::span<const SpentCoin> coins);

/** BIP141 cost: 4 * legacy, 4 * P2SH if kVerifyP2sh, witness if kVerifyWitness. `coins`: one for
 *  each input; not read for a coinbase. */
int64_t TransactionSigOpCost(const TxView& tx, std::span<const SpentCoin> coins, ScriptFlags flags);

/** No less than TransactionSigOpCost(), whatever coins are spent under whatever flags. */
int64_t MostSigOpCost(const TxView& tx);

/** What one input adds for the coin that it spends: what of its scripts and witness counts. */
int64_t SpendSigOpCost(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags);
/** No less than that, whatever the coin and the flags. */
int64_t MostSpendSigOpCost(const InputView& input);

/** Cost of the witness of one input. */
unsigned WitnessSigOpCount(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags);

} // namespace ibd
