// RulesPhase: holds the blocks of a join of values against the rules about the coins that they
// spend, but scripts, by their accounts and by the coins that these lack; on several threads, by
// ranges of the chain. Called by SpendJoin on its thread. Memory: JoinOptions::memory_bytes.
#pragma once

#include "join/join_job.h"
#include "join/join_state.h"

namespace ibd {

class RulesPhase {
public:
    /** `found`: by the partitions. All must outlive it. */
    RulesPhase(JoinJob& job, const JoinState& state, std::span<const SpillInfo> found)
        : m_job(job), m_state(state), m_ranges(state.MakingRanges()), m_spills(state.value_spills)
    {
        m_spills.insert(m_spills.end(), found.begin(), found.end());
    }

    /** Once. Whether all blocks keep them; false says nothing, nor does it if the job was stopped.
     *  Bad data: a spill is damaged. */
    Result<bool> Run();

private:
    class Worker;
    Result<> Work(const SpillReader& spills);

    JoinJob& m_job;
    const JoinState& m_state;
    const HeightRanges m_ranges;
    std::vector<SpillInfo> m_spills;
    std::atomic<uint32_t> m_next = 0; //!< range that nobody has claimed
    std::atomic<uint32_t> m_kept = 0; //!< blocks
    std::atomic<bool> m_broken = false;
};

} // namespace ibd
