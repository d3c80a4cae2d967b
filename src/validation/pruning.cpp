// See pruning.h.
#include "validation/pruning.h"

#include "storage/block_store.h"

#include <algorithm>

namespace ibd {

namespace {

/** Assumed size of a block that is not downloaded yet, in bytes. */
constexpr uint64_t kAverageBlock = 1'000'000;

/** Number of blocks kept below a reader, so that it can follow a reorganisation. */
constexpr int32_t kLockBuffer = 10;

uint64_t BytesOf(const BlockFileInfo& file) { return uint64_t{file.size} + file.undo_size; }

} // namespace

int32_t LastToPrune(int32_t tip, int32_t wanted)
{
    return std::min(wanted, std::max(0, tip - kMinBlocksToKeep));
}

PruneLimit LimitOf(std::span<const PruneLock> locks, int32_t most)
{
    PruneLimit limit{most, {}};
    for (const PruneLock& lock : locks) {
        const int32_t last = lock.height - kLockBuffer - 1;
        if (last <= limit.last) limit = {last, lock.name};
    }
    return limit;
}

std::vector<int32_t> FilesUpTo(std::span<const BlockFileInfo> files, int32_t last)
{
    std::vector<int32_t> out;
    if (last < 0) return out;
    for (size_t n = 0; n + 1 < files.size(); ++n) {
        const BlockFileInfo& file = files[n];
        if (file.size == 0 || file.height_last > static_cast<uint32_t>(last)) continue;
        out.push_back(static_cast<int32_t>(n));
    }
    return out;
}

std::vector<int32_t> FilesAboveTarget(std::span<const BlockFileInfo> files, const PruneGoal& goal)
{
    uint64_t usage = 0;
    for (const BlockFileInfo& file : files) usage += BytesOf(file);
    uint64_t buffer = kBlockFileChunk + kUndoFileChunk;
    if (usage + buffer < goal.target) return {};
    if (goal.downloading && goal.best_header > goal.tip) {
        buffer += kAverageBlock * static_cast<uint64_t>(goal.best_header - goal.tip);
    }
    std::vector<int32_t> out = FilesUpTo(files, LastToPrune(goal.tip, goal.last));
    size_t count = 0;
    while (count < out.size() && usage + buffer >= goal.target) {
        usage -= BytesOf(files[static_cast<size_t>(out[count++])]);
    }
    out.resize(count);
    return out;
}

} // namespace ibd
