// ScanPhase: the coins that the last blocks of a chain spend, without a join: their inputs are put
// into a table, then all blocks are read once, in any order, on all threads, and hashed for what
// the table holds. If it is too small for all of them, the blocks are read once more for the rest.
// Owned by UndoRebuild, which calls it on its thread. A kill costs this phase. Memory:
// JoinOptions::memory_bytes, and the blocks being parsed. See doc/develop/join.md.
#pragma once

#include "chain/block_source.h"
#include "join/coin_search.h"

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
    ScanPhase(JoinJob& job, BlockSupply& supply, uint32_t first, uint32_t first_spill)
        : m_job(job), m_supply(supply), m_search(job, first, first_spill)
    {
    }

    /** Once. Spills are durable on return. Errors: the machine's; a block that is damaged, or what
     *  it spends in none, is one. */
    Result<ScanEnd> Run();

private:
    Result<> Collect();
    Result<> FindAll();
    Result<> Scan(bool careful);
    Result<> Work(BlockSource& source, bool careful);

    JoinJob& m_job;
    BlockSupply& m_supply;
    CoinSearch m_search;
};

} // namespace ibd
