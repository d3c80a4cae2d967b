// dumptxouthints: hints made from the stored blocks of a running node. One file for one call, as it
// alone needs the join.
#pragma once

#include "join/join_options.h"
#include "rpc/chain_context.h"
#include "rpc/table.h"

namespace ibd {

/** `context` and `log` must outlive the table. `options`: of the joins that the call makes. */
void AddHintsMethods(RpcTable& table, const ChainContext& context, Logger& log,
                     const JoinOptions& options);

} // namespace ibd
