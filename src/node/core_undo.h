// What Bitcoin Core would make of the undo data below the tip: at its start it takes the last six
// blocks back in memory, and below the booster's last block there is nothing to do it with.
#pragma once

#include "util/log.h"
#include "validation/chain_manager.h"

namespace ibd {

/** Whether `tip` is the first at which Core finds all that it looks for. */
bool UndoJustSuffices(const HeaderNode& tip);
/** Says in the log what is missing, if something is. */
void WarnIfUndoIsShort(const ChainManager& chain, Logger& log);

} // namespace ibd
