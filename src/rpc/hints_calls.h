// dumptxouthints: makes hints from the stored blocks of a running node. A file of its own, as only
// this call needs the join.
#pragma once

#include "hints/hints.h"
#include "join/join_options.h"
#include "jsonrpc/table.h"
#include "rpc/chain_context.h"

#include <functional>

namespace ibd {

/** Receives finished hints, with their terminal block; on the call's thread. */
using HintsMade = std::function<void(const Hints& hints, const BlockHash& terminal)>;

/** `context` and `log` must outlive the table. `options`: for the joins of the call. */
void AddHintsMethods(RpcTable& table, const ChainContext& context, Logger& log,
                     const JoinOptions& options, const HintsMade& made);

} // namespace ibd
