// Whether Bitcoin Core can use the undo data below the tip: at its start Core disconnects the last
// six blocks in memory, and the booster's blocks have no undo data.
#pragma once

#include "util/log.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Whether `tip` is the first block at which Core finds all that it needs. */
bool UndoJustSuffices(const HeaderNode& tip);
/** Logs missing undo data, if any. */
void WarnIfUndoIsShort(const ChainManager& chain, Logger& log);

} // namespace ibd
