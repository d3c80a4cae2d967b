// ReadPhase: the first half of a join - from the state, or from nothing, to the last block read and
// all that did not meet spilled and durable. Called by SpendJoin on its thread; starts a thread a
// worker and one for the log. Memory: JoinOptions::memory_bytes and the blocks being parsed.
#pragma once

#include "join/join_job.h"
#include "util/progress.h"

namespace ibd {

struct ReadEnd {
    JoinState state; //!< all that is read; durable
    std::optional<FoldFailure> failure{};
    std::string shortage{}; //!< of room to read on; empty: there is none
};

class ReadPhase {
public:
    /** All must outlive it. */
    ReadPhase(JoinJob& job, BlockSupply& supply) : m_job(job), m_supply(supply) {}

    /** Once. `ordered`: nothing may meet in memory, see HotTable; what is kept of an earlier join
     *  may be so in any case. `hints`: events are needed, so that pairs alone do not do; else there
     *  is nothing to read where they are found. Ends when all is read, the supply is empty,
     *  something failed, the job is stopped, or at once where there is no room. An error is the
     *  machine's: what is durable is in the state. */
    Result<ReadEnd> Run(bool ordered, bool hints);

private:
    Result<std::optional<JoinState>> Resume(bool ordered, bool hints);
    bool Owns(const JoinState& state, bool ordered) const;
    Result<JoinState> StartNew(bool ordered);
    Result<> BeginSupply(const std::optional<JoinState>& kept);
    std::string FindShortage(const JoinState& state) const;
    Result<std::optional<FoldFailure>> ReadAll(JoinLog& log);
    void ExpectSpills(JoinLog& log) const;
    void Work(const JoinContext& context, size_t number);

    JoinJob& m_job;
    BlockSupply& m_supply;
    std::vector<std::unique_ptr<BlockSource>> m_sources; //!< by worker; until all is durable
    Mutex m_mutex;
    std::optional<FoldFailure> m_failure IBD_GUARDED_BY(m_mutex); //!< the first
};

/** Bytes of spills for each byte of blocks: a record for each output and input, of which there is
 *  one in about 110 bytes; half of them usually meet in memory. */
uint64_t ExpectedSpillBytes(uint64_t block_bytes, bool ordered);
/** The most that is on the disk where pairs are kept: events beside them, or half of the coins, of
 *  which an UndoRebuild as a rule keeps fewer. */
uint64_t ExpectedPairedBytes(uint64_t block_bytes, bool ordered);
/** Besides, where values are joined too. */
uint64_t ExpectedValueBytes(uint64_t block_bytes, bool ordered);
/** The coins among these. */
uint64_t ExpectedCoinBytes(uint64_t block_bytes);
/** Bytes of undo data. */
uint64_t ExpectedUndoBytes(uint64_t block_bytes);

} // namespace ibd
