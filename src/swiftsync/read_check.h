// What users of stored blocks check of the bytes that a BlockSource hands out, if the block index
// has accepted the blocks before. Any thread.
#pragma once

#include "chain/header_node.h"
#include "consensus/rule_result.h"

namespace ibd {

/** Whether the bytes are the block: `parsed` is the result of parsing them into `block`. `careful`:
 *  also whether its transactions are unchanged. The violation is of the data alone. */
RuleResult CheckRead(const BlockView& block, const Result<>& parsed, const HeaderNode& node,
                     bool careful);

} // namespace ibd
