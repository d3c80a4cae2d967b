// PruneLocks: the readers of stored blocks that pruning must not overtake, such as indexes.
// Implemented by Indexes and SnapshotSession. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ibd {

/** A reader that has processed the blocks of the active chain up to a height. */
struct PruneLock {
    std::string name; //!< for the log
    int32_t height = 0;
};

class PruneLocks {
public:
    virtual ~PruneLocks() = default;
    /** The current state of each reader. */
    virtual std::vector<PruneLock> Current() const = 0;
    /** Has each reader write its progress, up to the block of the coins on disk; so write the coins
     *  before the call. Returns the state of each reader after a crash. The call may take as long
     * as a reader needs for one block; the caller may hold the state lock. */
    virtual std::vector<PruneLock> Save() = 0;
};

} // namespace ibd
