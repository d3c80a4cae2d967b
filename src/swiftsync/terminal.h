// The checks that decide, once every block is folded, whether the hints were right. All must hold;
// the first that fails gives the reason. Pure but for reading coinbase ids from the runs.
#pragma once

#include "swiftsync/checkpoint.h"
#include "swiftsync/hints.h"

#include "consensus/params.h"

namespace ibd {

/** Coinbase ids of the blocks below this height must differ for the sum to prove anything: until
 *  BIP34 two transactions may have the same id. 0 where BIP34 holds from the start. `hash_at_bip34`
 *  is the hash at consensus.bip34_height on the branch, nothing if the branch is shorter. */
uint32_t UniqueCoinbasesBelow(const ConsensusParams& params, int32_t terminal_height,
                              const std::optional<BlockHash>& hash_at_bip34);

/** Counts, value, sum: nothing if all is well, else which check failed and with which numbers. */
std::optional<std::string> JudgeTotals(const Checkpoint& state, const Aggregate& sum,
                                       const HintsInfo& hints, const ConsensusParams& params);

/** Nothing if all differ, else a pair that does not. Sorts its argument. */
std::optional<std::string> JudgeCoinbases(std::vector<CoinbaseId> ids);

} // namespace ibd
