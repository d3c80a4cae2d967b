// Rules of a single transaction, without coins or chain. Pure; any thread.
#pragma once

#include "consensus/rule_result.h"
#include "primitives/block.h"

namespace ibd {

/** Inputs and outputs exist, size within a block, values and their sum in range, no input twice
 *  (CVE-2018-17144), coinbase script 2 to 100 bytes, no null prevout elsewhere. Time
 *  n log n in the inputs. */
RuleResult CheckTransaction(const TxView& tx);

/** True only if CheckTransaction passes for every transaction, and exactly the first one is a
 *  coinbase. A fast path, linear in the block. False means that each must be checked; false
 *  negatives are possible: large sums of values, or outpoints that collide in the filter. */
bool TransactionsAreSound(const BlockView& block);

} // namespace ibd
