// FoldObserver: who wants to see the blocks that are folded, as they have been checked and hashed
// already. Owned by whoever starts the sync; it outlives the sync. Nothing that it does, or cannot
// do, fails the fold.
#pragma once

#include "primitives/block.h"

namespace ibd {

class FoldObserver {
public:
    virtual ~FoldObserver() = default;

    /** All blocks up to the terminal block are about to be folded by so many workers; the caller's
     *  thread. False: it does not want to see them, and nothing else is called. Again after End()
     *  if the sync starts over. */
    virtual bool Begin(size_t workers) = 0;
    /** This block was folded, by the worker of that number, on its thread: valid during the call.
     *  Blocks come in any order. */
    virtual void Folded(size_t worker, const BlockView& block, uint32_t height) = 0;
    /** No more blocks will come, whether all did or not; the thread of Begin(). */
    virtual void End() = 0;
};

} // namespace ibd
