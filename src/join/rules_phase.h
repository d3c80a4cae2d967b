// RulesPhase: checks the blocks of a join of values against the rules about coins, scripts
// excepted, with their accounts and the coins missing there; on several threads, by ranges of the
// chain. Called by SpendJoin on its thread. Memory: JoinOptions::memory_bytes.
#pragma once

#include "join/join_job.h"
#include "join/join_state.h"

namespace ibd {

class RulesPhase {
public:
    /** `found`: spills of the coins found in the partitions. All arguments must outlive it. */
    RulesPhase(JoinJob& job, const JoinState& state, std::span<const SpillInfo> found)
        : m_job(job), m_state(state), m_ranges(state.MakingRanges()), m_spills(state.value_spills)
    {
        m_spills.insert(m_spills.end(), found.begin(), found.end());
    }

    /** Call once. Returns whether all blocks keep the rules; false proves nothing, and the result
     *  is meaningless if the job was stopped. Bad data: a spill is damaged. */
    Result<bool> Run();

private:
    class Worker;
    Result<> Work(const SpillReader& spills);

    JoinJob& m_job;
    const JoinState& m_state;
    const HeightRanges m_ranges;
    std::vector<SpillInfo> m_spills;
    std::atomic<uint32_t> m_next = 0; //!< next range that no worker has claimed
    std::atomic<uint32_t> m_kept = 0; //!< blocks that keep the rules
    std::atomic<bool> m_broken = false;
};

} // namespace ibd
