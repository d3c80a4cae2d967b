// BlockSource: where the booster gets its blocks - block files or peers. Blocks come in whatever
// order is cheapest; nothing that consumes them depends on it. Implemented by adapters in node;
// owned by the engine's caller. Next() may be called from several threads at once.
#pragma once

#include "primitives/block.h"
#include "util/result.h"

namespace ibd {

/** Where a delivered block belongs. */
struct BlockPosition {
    int height = -1;       //!< on the branch that the source was asked for
    int32_t file = -1;     //!< blk file it lies in; -1 when it came from a peer
    uint32_t data_pos = 0; //!< offset of the block in that file
};

class BlockSource {
public:
    virtual ~BlockSource() = default;

    /** Waits for one block of the branch, each height exactly once. False: none are left. The
     *  source holds at most the bytes that it was constructed with; `out` keeps its capacity from
     *  call to call. An error ends the run. */
    virtual Result<bool> Next(RawBlock& out, BlockPosition& position) = 0;

    /** Gives a height out again: its block did not match its header. Later blocks for it come from
     *  elsewhere if the source can; otherwise Next() reports the error. */
    virtual void Reject(const BlockPosition& position) = 0;

    /** Makes every Next() return soon with "none left"; from any thread. */
    virtual void Stop() = 0;
};

} // namespace ibd
