// Signature operation counting (BIP16, BIP141). Pure; any thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/verify_flags.h"

namespace ibd {

/** Operations in the scripts themselves, of one transaction or of a whole block; multisig counts as
 *  20. */
unsigned LegacySigOpCount(std::span<const InputView> inputs, std::span<const OutputView> outputs);

/** Operations in P2SH redeem scripts of the inputs, counted exactly. */
unsigned P2shSigOpCount(const TxView& tx, std::span<const SpentCoin> coins);

/** BIP141 cost: 4 * legacy, 4 * P2SH if kVerifyP2sh, witness if kVerifyWitness. `coins`: one for
 *  each input; not read for a coinbase. */
int64_t TransactionSigOpCost(const TxView& tx, std::span<const SpentCoin> coins, ScriptFlags flags);

/** An upper bound of TransactionSigOpCost() for any coins and flags. */
int64_t MostSigOpCost(const TxView& tx);

/** The cost that an input adds because of the coin that it spends: P2SH and witness. */
int64_t SpendSigOpCost(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags);
/** An upper bound of SpendSigOpCost() for any coin and flags. */
int64_t MostSpendSigOpCost(const InputView& input);

/** Cost of the witness of one input. */
unsigned WitnessSigOpCount(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags);

} // namespace ibd
