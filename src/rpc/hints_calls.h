// dumptxouthints: hints made from the stored blocks of a running node. One file for one call, as it
// alone needs the join.
#pragma once

#include "hints/hints.h"
#include "join/join_options.h"
#include "rpc/chain_context.h"
#include "rpc/table.h"

#include <functional>

namespace ibd {

/** Told of hints that were made, with the block where they end; on the call's thread. */
using HintsMade = std::function<void(const Hints& hints, const BlockHash& terminal)>;

/** `context` and `log` must outlive the table. `options`: of the joins that the call makes. */
void AddHintsMethods(RpcTable& table, const ChainContext& context, Logger& log,
                     const JoinOptions& options, const HintsMade& made);

/** For the start, once the chain is there: warns of what a call left in `directory`, its joins',
 *  when the node died in it; what no call can go on with is removed. */
Result<> TendBegunHints(Env& env, Logger& log, const ChainManager& chain, const Path& directory);

} // namespace ibd
