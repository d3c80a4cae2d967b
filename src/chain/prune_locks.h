// PruneLocks: the readers of stored blocks that pruning must not overtake, such as indexes.
// Implemented by Indexes. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ibd {

/** A reader that has taken the blocks of the active chain up to a height. */
struct PruneLock {
    std::string name; //!< for the log
    int32_t height = 0;
};

class PruneLocks {
public:
    virtual ~PruneLocks() = default;
    /** Of each reader, as it is now. */
    virtual std::vector<PruneLock> Now() const = 0;
    /** Of each reader, as it would be after a crash. Before, it writes as much as the coins on disk
     *  allow, so the caller has written these. The answer may take as long as a reader needs for
     *  one block; the caller may hold the state lock. */
    virtual std::vector<PruneLock> Saved() = 0;
};

} // namespace ibd
