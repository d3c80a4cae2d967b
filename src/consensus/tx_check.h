// Rules that a transaction keeps by itself, without coins or chain. Pure; any thread.
#pragma once

#include "consensus/rule_result.h"
#include "primitives/tx_view.h"

namespace ibd {

/** Inputs and outputs exist, size within a block, values and their sum in range, no input twice
 *  (CVE-2018-17144), coinbase script 2 to 100 bytes, no null prevout elsewhere. Time
 *  n log n in the inputs; allocates a pointer an input above 16 of them. */
RuleResult CheckTransaction(const TxView& tx);

} // namespace ibd
