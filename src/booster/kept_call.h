// The work of a call of dumptxouthints that died with its node: a join for hints in a folder of its
// own, beside the booster's (kept_work.h).
#pragma once

#include "validation/chain_manager.h"

namespace ibd {

/** Folder of the joins of calls. `booster`: the booster's folder. */
inline Path FolderOfCalls(const Path& booster) { return booster / "join"; }

/** Call at start, once the chain exists: describes the unfinished work in `folder`, or removes it
 *  if no call can resume it. A failure is only logged: the node does not need these files. */
void TendKeptCall(Env& env, Logger& log, const ChainManager& chain, const Path& folder);

} // namespace ibd
