// HintsPhase: the second half of a join for hints - from the spills to the last hint written.
// Partitions are joined on several threads, what is unspent is put in the order of the chain.
// Called by SpendJoin on its thread. Memory: JoinOptions::memory_bytes, and what HintBits takes.
// A kill costs this phase, which begins again from the spills.
#pragma once

#include "join/hint_bits.h"
#include "join/join_job.h"
#include "join/partition_join.h"

namespace ibd {

/** Gives a new writer, for a file that is begun anew. */
using MakeHintsWriter = std::function<Result<std::unique_ptr<HintsWriter>>()>;

struct HintsEnd {
    /** The first event in the chain, of those found, that no valid chain has; then nothing was
     *  written. */
    std::optional<JoinRecord> problem;
    bool interrupted = false;
    uint64_t unspent = 0;
};

class HintsPhase {
public:
    /** All must outlive it. `state`: of a join that has read all blocks. */
    HintsPhase(JoinJob& job, const JoinState& state) : m_job(job), m_state(state) {}

    /** Once. Writes no hints if there is a problem or an interruption. Bad data: a spill is
     *  damaged. */
    Result<HintsEnd> Run(const MakeHintsWriter& make_writer);

private:
    Result<> JoinPartitions(const HintBits& bits, SpillWriter& numbers);
    Result<> Work(const SpillReader& spills, const HintBits& bits, SpillWriter& numbers);
    void Take(const std::optional<JoinRecord>& problem, uint64_t unspent);
    HintsEnd End();

    JoinJob& m_job;
    const JoinState& m_state;
    std::atomic<uint32_t> m_next = 0; //!< partition that nobody has claimed
    Mutex m_mutex;
    HintsEnd m_end IBD_GUARDED_BY(m_mutex);
    Result<> m_status IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
