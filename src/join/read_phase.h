// ReadPhase: the first half of a join: resumes from the state, or starts from nothing, and reads
// all blocks; unmatched records are spilled and durable. Called by SpendJoin on its thread; starts
// a thread for each worker and one for the log. Memory: JoinOptions::memory_bytes and the blocks
// being parsed.
#pragma once

#include "join/join_job.h"
#include "util/found.h"
#include "util/progress.h"

namespace ibd {

struct ReadEnd {
    JoinState state; //!< all data read so far; durable
    std::optional<FoldFailure> failure{};
    std::string shortage{}; //!< the reason if there is too little disk space to continue; empty:
                            //!< there is enough
};

class ReadPhase {
public:
    /** Both must outlive it. */
    ReadPhase(JoinJob& job, BlockSupply& supply) : m_job(job), m_supply(supply) {}

    /** Call once. `ordered`: no records may be matched in memory, see HotTable; kept work of an
     *  earlier join may be ordered even without it. `hints`: events are needed; without it kept
     *  pairs suffice, and nothing is read if there are any. Ends when all is read, the supply is
     *  empty, an error occurred, the job is stopped, or at once if disk space is short. An error is
     *  the machine's: the durable part is in the state. */
    Result<ReadEnd> Run(bool ordered, bool hints);

private:
    Found<JoinState> Resume(bool ordered, bool hints);
    bool Owns(const JoinState& state, bool ordered) const;
    Result<JoinState> StartNew(bool ordered);
    Result<> BeginSupply(const std::optional<JoinState>& kept);
    std::string FindShortage(const JoinState& state) const;
    Found<FoldFailure> ReadAll(JoinLog& log);
    void ExpectBytes(ProgressMeter& meter) const;
    void ExpectSpills(JoinLog& log) const;
    void Work(const JoinContext& context, size_t number);

    JoinJob& m_job;
    BlockSupply& m_supply;
    std::vector<std::unique_ptr<BlockSource>> m_sources; //!< by worker; kept until all is durable
    Mutex m_mutex;
    std::optional<FoldFailure> m_failure IBD_GUARDED_BY(m_mutex); //!< the first
};

/** Estimated bytes of spills for bytes of blocks: there is one output or input in about 110 bytes,
 *  and half of their records are usually matched in memory. */
uint64_t ExpectedSpillBytes(uint64_t block_bytes, bool ordered);
/** Peak bytes on disk where pairs are kept: pairs with events or with half of the coins. An
 *  UndoRebuild usually keeps fewer coins than that. */
uint64_t ExpectedPairedBytes(uint64_t block_bytes, bool ordered);
/** Additional bytes where values are joined. */
uint64_t ExpectedValueBytes(uint64_t block_bytes, bool ordered);
/** The part of ExpectedPairedBytes() that is coins. */
uint64_t ExpectedCoinBytes(uint64_t block_bytes);
/** Bytes of undo data. */
uint64_t ExpectedUndoBytes(uint64_t block_bytes);

} // namespace ibd
