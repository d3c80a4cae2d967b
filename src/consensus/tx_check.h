// Rules that a transaction keeps by itself, without coins or chain. Pure; any thread.
#pragma once

#include "consensus/rule_result.h"
#include "primitives/tx_view.h"

namespace ibd {

/** Inputs and outputs exist, size within a block, values and their sum in range, no input twice
 *  (CVE-2018-17144), coinbase script 2 to 100 bytes, no null prevout elsewhere. Time is linear;
 *  memory 36 bytes an input for transactions with many inputs. */
RuleResult CheckTransaction(const TxView& tx);

} // namespace ibd
