// The same hints in another format, beside the blocks. Formats number outputs differently: all, or
// spendable ones; between those the block's scripts are asked. swifthints are coded by the shapes
// of transactions. One thread calls; all read blocks.
#pragma once

#include "hints/hints_writer.h"
#include "hints/swifthints.h"
#include "swiftsync/block_walk.h"

namespace ibd {

/** Where hints come from: swifthints say theirs only in order, beside the blocks' shapes. */
struct HintsSource {
    std::unique_ptr<Hints> hints;
    std::unique_ptr<SwifthintsReader> swifthints;

    const HintsInfo& Info() const { return hints ? hints->Info() : swifthints->Info(); }
};

/** Where they go to. */
struct HintsSink {
    HintsTarget hints_target;
    std::unique_ptr<HintsWriter> hints;
    std::unique_ptr<SwifthintsWriter> swifthints;

    Result<> Start(Env& env, const Path& path);
    Result<> Add(uint32_t height, const BlockSlot& slot, BlockShape shape);
    Result<> Finish(const BlockHash& terminal)
    {
        return swifthints ? swifthints->Finish() : hints->Finish(terminal);
    }
};

/** Reads blocks 1 to the source's end, which is where the walk's chain ends, and adds all of them
 * to the target, which was started. `progress` hears each height and says whether to go on; false:
 * it said no, and not all are added. Bad data: the source is damaged, or of other blocks. */
Result<bool> ConvertBeside(const BlockWalk& blocks, const HintsSource& source, HintsSink& target,
                           const std::function<bool(uint32_t height)>& progress);

} // namespace ibd
