// Signature operation counting (BIP16, BIP141). Pure; any thread.
#pragma once

#include "consensus/tx_verify.h"
#include "script/verify_flags.h"

namespace ibd {

/** Operations in all scripts of the transaction itself, multisig counted as 20. */
unsigned LegacySigOpCount(const TxView& tx);

/** Operations in P2SH redeem scripts of the inputs, counted exactly. */
unsigned P2shSigOpCount(const TxView& tx, std::span<const SpentCoin> coins);

/** BIP141 cost: 4 * legacy, 4 * P2SH if kVerifyP2sh, witness if kVerifyWitness. `coins`: one for
 *  each input; not read for a coinbase. */
int64_t TransactionSigOpCost(const TxView& tx, std::span<const SpentCoin> coins, ScriptFlags flags);

/** Cost of the witness of one input. */
unsigned WitnessSigOpCount(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags);

} // namespace ibd
