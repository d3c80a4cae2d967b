// VerifyChain: checks what is stored again, from the tip down, at start-up and by RPC.
#pragma once

#include "validation/chain_manager.h"

namespace ibd {

/** What VerifyChain found. */
struct Verification {
    bool sound = true;    //!< nothing was wrong
    bool complete = true; //!< all that was asked for was checked; false too when interrupted

    explicit operator bool() const { return sound && complete; }
};

/** Checks the last `blocks` blocks (0: all) at `level` 0..4, see doc/options.md; ends early when
 *  interrupted. What is wrong and what could not be checked was logged. Holds the
 *  coins all the time, so nothing is connected; not to be called twice at a time, as both would run
 *  scripts. Errors are of the disk. */
Result<Verification> VerifyChain(ChainManager& chain, int level, int blocks);

} // namespace ibd
