// Converts hints to another format by reading the blocks. Formats number either all outputs or the
// spendable ones; the block's scripts translate between the two. swifthints are coded by the shapes
// of transactions. One thread calls; several read blocks.
#pragma once

#include "hints/hints_writer.h"
#include "hints/swifthints.h"
#include "swiftsync/block_walk.h"

namespace ibd {

/** Input of a conversion: swifthints can only be read in order, with the blocks' shapes. */
struct HintsSource {
    std::unique_ptr<Hints> hints;
    std::unique_ptr<SwifthintsReader> swifthints;

    const HintsInfo& Info() const { return hints ? hints->Info() : swifthints->Info(); }
};

/** Output of a conversion. */
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

/** Reads blocks 1 to the source's end, which is the end of the walk's chain, and adds all of them
 *  to the started target. `progress` is called with each height; if it returns false, the
 *  conversion stops and returns false. Bad data: the source is damaged, or was made from other
 *  blocks. */
Result<bool> ConvertBeside(const BlockWalk& blocks, const HintsSource& source, HintsSink& target,
                           const std::function<bool(uint32_t height)>& progress);

} // namespace ibd
