// Rules that a transaction keeps by itself, without coins or chain. Pure; any thread.
#pragma once

#include "consensus/rule_result.h"
#include "primitives/block.h"

namespace ibd {

/** Inputs and outputs exist, size within a block, values and their sum in range, no input twice
 *  (CVE-2018-17144), coinbase script 2 to 100 bytes, no null prevout elsewhere. Time
 *  n log n in the inputs. */
RuleResult CheckTransaction(const TxView& tx);

/** True only if CheckTransaction passes for every transaction and the first one, and only that, is
 *  a coinbase. A fast path, linear in the block; false means that each must be looked at: so it is
 *  in a few sound blocks too, of much value or with outpoints that are hard to tell apart. */
bool TransactionsAreSound(const BlockView& block);

} // namespace ibd
