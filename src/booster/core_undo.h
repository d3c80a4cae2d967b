// Whether Bitcoin Core finds the undo data that it needs below the tip: at start-up Core
// disconnects the last six blocks in memory, and blocks of the booster have no undo data.
#pragma once

#include "util/log.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Whether `tip` is the first block at which Core finds all undo data that it needs. */
bool UndoJustSuffices(const ChainManager& chain, const HeaderNode& tip);
/** Logs missing undo data, if any. */
void WarnIfUndoIsShort(const ChainManager& chain, Logger& log);

} // namespace ibd
