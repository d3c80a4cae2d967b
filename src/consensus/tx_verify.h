// Rules of a transaction in the context of a block: finality, relative lock times, spent coins.
// Pure; any thread.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/limits.h"
#include "consensus/rule_result.h"
#include "primitives/tx_view.h"

#include <span>

namespace ibd {

/** A coin as the rules read it. The script belongs to the caller. */
struct SpentCoin {
    Amount value = 0;
    ByteSpan script_pubkey;
    int height = 0; //!< of the block that created it
    bool is_coinbase = false;
};

/** Whether the lock time lets the transaction into a block of this height and lock-time cutoff
 *  (BIP113: median time past of the previous block; before CSV the block's own time). */
bool IsFinalTx(const TxView& tx, int block_height, int64_t block_time);

/** The last block (height, median time past) that is too early; -1: no constraint. */
struct SequenceLocks {
    int min_height = -1;
    int64_t min_time = -1;
};

/** BIP68. `prev_heights`: for each input the height of the block that made its coin (the block's
 *  own height for coins of the same block). `chain` reaches at least up to each of them minus one.
 *  `enforce`: false before CSV: no locks. */
SequenceLocks CalculateSequenceLocks(const TxView& tx, bool enforce,
                                     std::span<const int> prev_heights, const Ancestry& chain);

/** Whether a block at `block_height`, on a block with `prev_median_time`, is late enough. */
bool EvaluateSequenceLocks(const SequenceLocks& locks, int block_height, int64_t prev_median_time);

/** Maturity, value range and sums of a transaction that is not a coinbase. `coins`: one for each
 *  input, in order. Sets `fee` on success. The caller must report missing coins with
 *  MissingInputs(). */
RuleResult CheckTxInputs(const TxView& tx, std::span<const SpentCoin> coins, int spend_height,
                         Amount& fee);

/** The violation "bad-txns-inputs-missingorspent" as Core reports it for this transaction. */
RuleViolation MissingInputs(const TxView& tx);

/** Sum of the outputs; each value and the sum must be in range (CheckTransaction). */
Amount ValueOut(const TxView& tx);

} // namespace ibd
