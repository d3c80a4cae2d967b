// FoldObserver: receives the folded blocks, already checked and hashed. Owned by the code that
// starts the sync; it outlives the sync. A fold may have several independent observers. A failure
// of an observer does not fail the fold.
#pragma once

#include "primitives/block.h"

namespace ibd {

class FoldObserver {
public:
    virtual ~FoldObserver() = default;

    /** All blocks up to the terminal block are about to be folded by `workers` workers; on the
     *  caller's thread. False: the observer does not want the blocks of this fold, and no other
     *  call follows. Called again after End() if the sync starts over. */
    virtual bool Begin(size_t workers) = 0;
    /** A block was folded by the worker of that number, on its thread; valid during the call.
     *  Blocks are in any order. */
    virtual void Folded(size_t worker, const BlockView& block, uint32_t height) = 0;
    /** No more blocks follow, even if the fold is incomplete. On the thread of Begin(). */
    virtual void End() = 0;
};

} // namespace ibd
