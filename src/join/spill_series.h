// SpillSeries: spills that follow one another, since the index of one is bounded. For what is
// written in one go: a part of it is of no use. Any thread may add.
#pragma once

#include "join/spill_file.h"

namespace ibd {

/** Memory: a SpillWriter's. Each finished spill stays open until all are synced. */
class SpillSeries final : public PageSink {
public:
    /** `first_number`: of the first; the others follow. */
    SpillSeries(Env& env, const Path& directory, uint32_t first_number, const SpillOwner& owner,
                size_t most_pages = SpillWriter::kMaxPages)
        : m_env(env), m_directory(directory), m_owner(owner), m_most_pages(most_pages),
          m_next_number(first_number)
    {
    }

    bool Add(uint32_t partition, ByteSpan records) override;
    /** Completes them; durable on return. No Add() may follow or be under way. */
    Result<std::vector<SpillInfo>> Finish();

private:
    std::shared_ptr<SpillWriter> AddTo(uint32_t partition, ByteSpan records);
    Result<> Put(uint32_t partition, ByteSpan records) IBD_REQUIRES(m_mutex);
    Result<> Retire() IBD_REQUIRES(m_mutex);

    Env& m_env;
    const Path m_directory;
    const SpillOwner m_owner;
    const size_t m_most_pages;

    Mutex m_mutex;
    uint32_t m_next_number IBD_GUARDED_BY(m_mutex);
    std::shared_ptr<SpillWriter> m_writer IBD_GUARDED_BY(m_mutex);
    std::vector<WrittenSpill> m_written IBD_GUARDED_BY(m_mutex);
    Result<> m_status IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
