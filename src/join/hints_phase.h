// HintsPhase: the second half of a join - from the spills to the last hint written and the last
// pair. Partitions are joined on several threads; what is unspent, and which input spends which
// output, is put in the order of the chain. Called by SpendJoin on its thread. Memory:
// JoinOptions::memory_bytes, and what HintBits takes. A kill costs this phase, which begins again
// from the spills.
#pragma once

#include "join/hint_bits.h"
#include "join/join_job.h"
#include "join/partition_join.h"
#include "join/spill_series.h"
#include "join/value_record.h"

namespace ibd {

/** Gives a new writer, for a file that is begun anew. Empty: no hints are wanted. */
using MakeHintsWriter = std::function<Result<std::unique_ptr<HintsWriter>>()>;

struct HintsEnd {
    /** The first event in the chain, of those found, that no valid chain has; then nothing was
     *  written. */
    std::optional<JoinRecord> problem;
    /** An outpoint occurs more often than memory has room for: nothing was written, and `problem`
     *  need not be the first. */
    bool crowded = false;
    bool interrupted = false;
    uint64_t unspent = 0;
    std::vector<SpillInfo> pairs; //!< if they are kept: those found here, durable
    std::vector<SpillInfo> values; //!< if they are joined: likewise, gone by now
    bool rules_kept = false;       //!< likewise: see JoinVerdict
};

class HintsPhase {
public:
    /** All must outlive it. `state`: of a join that has read all blocks. */
    HintsPhase(JoinJob& job, const JoinState& state)
        : m_job(job), m_state(state), m_bits(state.outputs, job.options.memory_bytes / 2)
    {
    }

    /** Once. Writes no hints if there is a problem or an interruption. Bad data: a spill is
     *  damaged. */
    Result<HintsEnd> Run(const MakeHintsWriter& make_writer);

private:
    Result<> Begin(bool hints);
    Result<> JoinPartitions();
    template <typename Record>
    class Worker;
    Result<> WriteBeside(const MakeHintsWriter& make_writer, HintsEnd& end);
    Result<> WriteHints(const MakeHintsWriter& make_writer);
    Result<> CheckRules(HintsEnd& end);
    void Take(const std::optional<JoinRecord>& problem, bool crowded, uint64_t unspent);
    HintsEnd End();

    JoinJob& m_job;
    const JoinState& m_state;
    const HintBits m_bits;
    std::unique_ptr<SpillWriter> m_numbers; //!< of what is unspent; null: no hints are wanted
    std::optional<HeightRanges> m_ranges;   //!< of pairs and values
    std::optional<SpillSeries> m_pairs;     //!< if they are kept
    std::optional<SpillSeries> m_values;    //!< likewise
    std::atomic<uint32_t> m_next = 0; //!< partition that nobody has claimed
    Mutex m_mutex;
    HintsEnd m_end IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
