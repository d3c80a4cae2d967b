// The unfinished work of dumptxouthints calls that ended because the node was killed: a join in a
// folder of its own, beside the booster's (kept_work.h).
#pragma once

#include "validation/chain_manager.h"

namespace ibd {

/** Folder of the joins of calls. `booster`: the booster's folder. */
inline Path FolderOfCalls(const Path& booster) { return booster / "join"; }

/** Call it at start, once the chain is open: logs the unfinished work in `folder`, or removes it if
 *  no call can resume it. A failure is only logged: the node does not need these files. */
void TendKeptCall(Env& env, Logger& log, const ChainManager& chain, const Path& folder);

} // namespace ibd
