// ScanPhase: the coins that the last blocks of a chain spend, without a join: their inputs are put
// into a table, then all blocks are read once, in any order, on all threads, and hashed for what
// the table holds. If it is too small for all of them, the blocks are read once more for the rest.
// Owned by UndoRebuild, which calls it on its thread. A kill costs this phase. Memory:
// JoinOptions::memory_bytes, and the blocks being parsed. See doc/join.md.
#pragma once

#include "chain/block_source.h"
#include "join/join_job.h"
#include "join/join_state.h"
#include "join/range_collector.h"
#include "join/sought_coins.h"
#include "join/spill_series.h"

namespace ibd {

/** How a scan ends. */
struct ScanEnd {
    enum class Kind {
        kDone,
        kStopped,  //!< the job was
        kRepeated, //!< an outpoint is made or spent more than once: only a join tells them apart
    };
    Kind kind = Kind::kStopped;
    JoinState state; //!< kDone: as of a join whose coins are fetched, of the blocks asked for
};

class ScanPhase {
public:
    /** Of the blocks `first` to the job's terminal block, SoughtCoins::kMostBlocks at most.
     *  `first_spill`: number of the first spill that it writes. All must outlive it. */
    ScanPhase(JoinJob& job, BlockSupply& supply, uint32_t first, uint32_t first_spill);

    /** Once. Spills are durable on return. Errors: the machine's; a block that is damaged, or what
     *  it spends in none, is one. */
    Result<ScanEnd> Run();

private:
    class Worker;

    Result<> Collect();
    Result<> CollectFrom(BlockSource& source);
    void AddInputs(uint32_t height, const BlockView& block);
    Result<> FindAll();
    Result<> Scan(bool careful);

    /** How far the inputs of a block are dealt with. */
    static constexpr uint32_t kAll = ~uint32_t{0};

    JoinJob& m_job;
    BlockSupply& m_supply;
    const uint32_t m_first;
    JoinState m_state;
    const HeightRanges m_spending;
    std::optional<SoughtCoins> m_sought;
    std::vector<uint32_t> m_next_input; //!< by height from m_first
    SpillSeries m_coins;
};

} // namespace ibd
