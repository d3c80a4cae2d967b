// VerifyChain: checks stored blocks again, from the tip down, at start-up and by RPC. RefuseBroken:
// looks for a chainstate above an invalid block.
#pragma once

#include "validation/chain_manager.h"

namespace ibd {

/** Result of VerifyChain. */
struct Verification {
    bool sound = true;    //!< no fault was found
    bool complete = true; //!< all requested checks were done; false also when interrupted

    explicit operator bool() const { return sound && complete; }
};

/** Checks the last `blocks` blocks (0: all) at `level` 0..4, see doc/options.md; ends early when
 *  interrupted. Logs faults and skipped checks. Locks the coins throughout, so no block is
 *  connected. One call at a time, since it runs scripts. Errors are of the disk. */
Result<Verification> VerifyChain(ChainManager& chain, int level, int blocks);

/** Refuses a chainstate built on an invalid block that a later check has found, if undo data to
 *  disconnect it is missing. Call it at start, before the coins are attached. */
Result<> RefuseBroken(const ChainManager& chain, const CoinsDb& coins);

} // namespace ibd
