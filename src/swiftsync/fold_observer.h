// FoldObserver: sees the blocks that are folded, already checked and hashed. Owned by the code that
// starts the sync; it outlives the sync. A fold may have several, which do not know each other. No
// failure of an observer fails the fold.
#pragma once

#include "primitives/block.h"

namespace ibd {

class FoldObserver {
public:
    virtual ~FoldObserver() = default;

    /** All blocks up to the terminal block are about to be folded by `workers` workers; on the
     *  caller's thread. False: no interest in this fold, so no other call follows. Called again
     *  after End() if the sync starts over. */
    virtual bool Begin(size_t workers) = 0;
    /** A block was folded by the worker of that number, on its thread; valid during the call.
     *  Blocks come in any order. */
    virtual void Folded(size_t worker, const BlockView& block, uint32_t height) = 0;
    /** No more blocks come, whether all did or not; on the thread of Begin(). */
    virtual void End() = 0;
};

} // namespace ibd
