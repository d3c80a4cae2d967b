// Writers of hints files, for tests, the chain generator and code that makes or converts hints. One
// thread; memory is one group (containers) or one block. Format: doc/formats/hints.md.
#pragma once

#include "hints/hints.h"

namespace ibd {

class HintsWriter {
public:
    virtual ~HintsWriter() = default;

    /** Adds the next block: consecutive heights from the format's first block, 1 or 0. `outputs`:
     *  number of counted outputs, which version 2 does not need; `unspent`: ascending indices among
     *  them. */
    virtual Result<> Add(uint32_t height, std::optional<uint32_t> outputs,
                         std::span<const uint32_t> unspent) = 0;

    /** Completes and syncs the file. `terminal_hash`: of the last added block. */
    virtual Result<> Finish(const BlockHash& terminal_hash) = 0;

protected:
    /** Refuses input that no format can hold; indices that are not ascending below `outputs` are a
     *  bug. */
    static Result<> CheckWritable(uint32_t height, std::optional<uint32_t> outputs,
                                  std::span<const uint32_t> unspent);
    /** The error of a format that needs the number of outputs when it is unknown. */
    static Error OutputsNeeded(uint32_t height);
};

Result<std::unique_ptr<HintsWriter>> MakeContainerWriter(Env& env, const Path& path,
                                                         std::array<uint8_t, 4> network_magic);
/** Version 2. Keeps a second file, `path`.gaps, until Finish(), which takes about a byte of disk
 *  space for each unspent output. */
Result<std::unique_ptr<HintsWriter>> MakeContainer2Writer(Env& env, const Path& path,
                                                          std::array<uint8_t, 4> network_magic);
Result<std::unique_ptr<HintsWriter>> MakeBitmapWriter(Env& env, const Path& path);

/** Data that some formats need before the first block. */
struct HintsTarget {
    HintsFormat format = HintsFormat::kContainer;
    std::array<uint8_t, 4> network_magic{};
    uint32_t terminal_height = 0;
};

/** A writer of any format that needs no blocks: not for the revisions of the indexed file, nor for
 *  swifthints (swifthints.h). Heights from 1, or from FirstHeight(). */
Result<std::unique_ptr<HintsWriter>> StartHintsFile(Env& env, const Path& path,
                                                    const HintsTarget& target);

/** The height of the first block in files of the format: 0 or 1. */
constexpr uint32_t FirstHeight(HintsFormat format)
{
    switch (format) {
    case HintsFormat::kBitmap:
    case HintsFormat::kBip456:
    case HintsFormat::kSwifthints: return 0;
    default: return 1;
    }
}

/** The outputs that files of the format number. */
constexpr HintsCounting CountingOf(HintsFormat format)
{
    switch (format) {
    case HintsFormat::kBitmap:
    case HintsFormat::kIndexed:
    case HintsFormat::kIndexedCompact:
    case HintsFormat::kIndexedDeltas:
    case HintsFormat::kSwifthints: return HintsCounting::kAll;
    default: return HintsCounting::kSpendable;
    }
}

} // namespace ibd
