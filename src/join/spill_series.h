// SpillSeries: the spills of one phase, which are useful only together. Any thread may add pages.
// Each thread writes to its own spill, because the system allows only one write to a file at a
// time. When a spill's index is full, another spill follows.
#pragma once

#include "join/spill_file.h"

namespace ibd {

/** Memory: a SpillWriter's for each thread that adds. Each finished spill stays open until all are
 *  synced. */
class SpillSeries final : public PageSink {
public:
    /** Pages of a spill: 4 MiB for the index of each open one. */
    static constexpr size_t kMostPages = 1 << 18;

    /** `first_number`: of the first spill; the others follow. */
    SpillSeries(Env& env, const Path& directory, uint32_t first_number, const SpillOwner& owner,
                SpillUse use, size_t most_pages = kMostPages)
        : m_env(env), m_directory(directory), m_owner(owner), m_use(use), m_most_pages(most_pages),
          m_next_number(first_number)
    {
    }

    bool Add(uint32_t partition, ByteSpan records) override;
    /** Completes all spills; kKept ones are durable on return. No Add() may follow or be running.
     */
    Result<std::vector<SpillInfo>> Finish();

private:
    std::unique_ptr<SpillWriter> Take();
    bool PutBack(std::unique_ptr<SpillWriter> writer, bool added);
    void Retire(SpillWriter& writer);

    Env& m_env;
    const Path m_directory;
    const SpillOwner m_owner;
    const SpillUse m_use;
    const size_t m_most_pages;

    Mutex m_mutex;
    uint32_t m_next_number IBD_GUARDED_BY(m_mutex);
    std::vector<std::unique_ptr<SpillWriter>> m_idle IBD_GUARDED_BY(m_mutex);
    std::vector<WrittenSpill> m_written IBD_GUARDED_BY(m_mutex);
    Result<> m_status IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
