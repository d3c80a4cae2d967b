// HintsPhase: the second half of a join, from the spills to the last hint and the last pair.
// Several threads join the partitions. Unspent outputs, and pairs of outputs and spending inputs,
// are sorted into chain order. Called by SpendJoin on its thread. Memory:
// JoinOptions::memory_bytes, and HintBits' own. After a kill this phase begins again from the
// spills.
#pragma once

#include "join/hint_bits.h"
#include "join/join_job.h"
#include "join/partition_join.h"
#include "join/spill_series.h"
#include "join/value_record.h"

namespace ibd {

/** Makes a writer for a new file. Empty: no hints are wanted. */
using MakeHintsWriter = std::function<Result<std::unique_ptr<HintsWriter>>()>;

struct HintsEnd {
    /** The lowest event found that cannot occur in a valid chain; if set, nothing was written. */
    std::optional<JoinRecord> problem;
    /** An outpoint has more events than fit in memory: nothing was written, and `problem` need not
     *  be the lowest. */
    bool crowded = false;
    bool interrupted = false;
    uint64_t unspent = 0;
    std::vector<SpillInfo> pairs;  //!< if pairs are kept: those found in this phase, durable
    std::vector<SpillInfo> values; //!< if values are joined: the coins found, already removed
    bool rules_kept = false;       //!< if values are joined: see JoinVerdict
};

class HintsPhase {
public:
    /** All arguments must outlive it. `state`: of a join that has read all blocks. */
    HintsPhase(JoinJob& job, const JoinState& state)
        : m_job(job), m_state(state), m_bits(state.outputs, job.options.memory_bytes / 2)
    {
    }

    /** Call once. Writes no hints if there is a problem or an interruption. Bad data: a spill is
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
    std::unique_ptr<SpillWriter> m_numbers; //!< numbers of unspent outputs; null: no hints are
                                            //!< wanted
    std::optional<HeightRanges> m_ranges;   //!< of pairs and values
    std::optional<SpillSeries> m_pairs;     //!< if pairs are kept
    std::optional<SpillSeries> m_values;    //!< if values are joined
    std::atomic<uint32_t> m_next = 0;       //!< next partition that no worker has claimed
    Mutex m_mutex;
    HintsEnd m_end IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
