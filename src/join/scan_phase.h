// ScanPhase: finds the coins that the last blocks of a chain spend, without a join. Their inputs go
// into a table; all threads then read all blocks once, in any order, and look up the hashes of
// their outputs. If the table is too small for all inputs, the blocks are read again for the
// others. Owned by UndoRebuild, which calls it on its thread. A kill loses the work of this phase.
// Memory: JoinOptions::memory_bytes, and the blocks being parsed. See doc/develop/join.md.
#pragma once

#include "chain/block_source.h"
#include "join/coin_search.h"

namespace ibd {

/** The result of a scan. */
struct ScanEnd {
    enum class Kind {
        kDone,
        kStopped,  //!< the job was stopped
        kRepeated, //!< an outpoint is made or spent more than once: only a join can match the
                   //!< events
    };
    Kind kind = Kind::kStopped;
    JoinState state; //!< kDone: like the state of a join that has fetched the coins of the
                     //!< requested blocks
};

class ScanPhase {
public:
    /** For the blocks from `first` to the job's terminal block, at most WantedCoins::kMostBlocks.
     *  `first_spill`: number of the first spill that it writes. All arguments must outlive it. */
    ScanPhase(JoinJob& job, BlockSupply& supply, uint32_t first, uint32_t first_spill)
        : m_job(job), m_supply(supply), m_search(job, first, first_spill)
    {
    }

    /** Call once. Spills are durable on return. Errors are the machine's, a damaged block, or a
     *  spent coin that no block makes. */
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
