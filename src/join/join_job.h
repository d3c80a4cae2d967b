// JoinJob: the description of one join (its blocks, rules and options) and the counters that show
// its progress. Owned by SpendJoin, which hands it to its phases. Immutable but for the atomics;
// any thread.
#pragma once

#include "crypto/siphash.h"
#include "join/join_worker.h"
#include "util/log.h"

namespace ibd {

struct JoinState;

struct JoinProgress {
    enum class Phase : uint8_t { kIdle, kReading, kJoining, kWriting, kChecking, kFetching, kUndo };
    Phase phase = Phase::kIdle;
    uint64_t bytes = 0;         //!< bytes of blocks read, including those read by the earlier joins
                                //!< that this one resumes
    uint64_t resumed_bytes = 0; //!< of these, bytes read by earlier joins
    uint64_t total_bytes = 0;   //!< of all blocks, estimated
    uint32_t joined = 0;        //!< partitions joined
    uint32_t partitions = 0;
    uint64_t fetched_bytes = 0; //!< bytes of blocks read for their coins
    uint32_t undo_blocks = 0;   //!< blocks with finished undo data
    double seconds_in_phase = 0;
};

struct JoinJob {
    JoinJob(Env& e, Logger& l, const ChainParams& p, const HeaderNode& t, JoinOptions o,
            const std::atomic<bool>& s)
        : env(e), log(l), params(p), terminal(t), options(std::move(o)), stop(s),
          rules(FoldRulesOf(t, HintsCounting::kSpendable, p.consensus)),
          unique(UniqueCoinbasesOf(t, p.consensus)), counters(std::max(1u, options.threads))
    {
    }

    Env& env;
    Logger& log;
    const ChainParams& params;
    const HeaderNode& terminal;
    const JoinOptions options;
    const std::atomic<bool>& stop; //!< request to end early; finished work is kept
    const FoldRules rules;
    const UniqueCoinbases unique;

    // Progress.
    std::vector<JoinCounters> counters; //!< by worker
    std::atomic<JoinProgress::Phase> phase = JoinProgress::Phase::kIdle;
    std::atomic<int64_t> phase_began = 0; //!< MonotonicMicros
    std::atomic<uint64_t> resumed_bytes = 0;
    std::atomic<uint64_t> total_bytes = 0;
    std::atomic<uint32_t> joined = 0;
    std::atomic<uint32_t> partitions = 0;
    std::atomic<uint64_t> fetched_bytes = 0;
    std::atomic<uint32_t> undo_blocks = 0;

    void Enter(JoinProgress::Phase next)
    {
        phase_began = env.MonotonicMicros();
        phase = next;
    }
    size_t Threads() const { return counters.size(); }
    uint64_t BytesRead() const
    {
        uint64_t bytes = resumed_bytes;
        for (const JoinCounters& c : counters) bytes += c.bytes.load(std::memory_order_relaxed);
        return bytes;
    }
    JoinProgress Progress() const
    {
        JoinProgress progress{.phase = phase,
                              .bytes = BytesRead(),
                              .resumed_bytes = resumed_bytes,
                              .total_bytes = total_bytes,
                              .joined = joined,
                              .partitions = partitions,
                              .fetched_bytes = fetched_bytes,
                              .undo_blocks = undo_blocks};
        if (progress.phase != JoinProgress::Phase::kIdle) {
            progress.seconds_in_phase =
                static_cast<double>(env.MonotonicMicros() - phase_began) / 1e6;
        }
        return progress;
    }
    Uint256 RulesId() const
    {
        return FoldRulesIdOf(terminal, HintsCounting::kSpendable, params.consensus);
    }
    /** A new state for this chain, with a new salt, before any block is read. */
    JoinState NewState() const;
    /** Whether `state` has the same terminal block and was checked under the same rules. */
    bool IsOfSameChain(const JoinState& state) const;
};

} // namespace ibd
