// CoinsWalk: visits every coin at a block of the active chain, in database order, while the node
// keeps running. For an older block it visits the coins of a cursor that were made up to this
// block, and the coins that later blocks have spent, from their undo data. The chain may advance
// meanwhile. One thread. Memory: as given, and a block; on disk the spent coins, sorted.
#pragma once

#include "storage/coins_stats.h"
#include "swiftsync/coin_merge.h"
#include "validation/chain_manager.h"

namespace ibd {

class CoinsWalk {
public:
    /** The coins at `target`, a block of the active chain; null: the tip. Flushes the coins, so
     *  call it on the thread that changes the chain. */
    static Result<std::unique_ptr<CoinsWalk>> Start(ChainManager& chain, const HeaderNode* target);
    /** Removes the files of TakeBack(). */
    ~CoinsWalk();
    CoinsWalk(const CoinsWalk&) = delete;
    CoinsWalk& operator=(const CoinsWalk&) = delete;

    /** Whether the block is below the tip: then call TakeBack() before Next(). */
    bool IsBelowTip() const { return &m_tip != &m_block; }
    /** Reads the blocks above and their undo data, and sorts the coins that they spend in
     *  `directory`, which it creates. False: stopped. Missing undo data is an error. Call it once,
     *  on any thread; it takes no lock. `log` receives the progress. */
    Result<bool> TakeBack(Env& env, const Path& directory, size_t memory_bytes,
                          const std::atomic<bool>& stop, Logger& log);
    /** The next coin; false at the end. */
    Result<bool> Next(OutPoint& outpoint, Coin& coin);
    /** The block that the coins are at. */
    const HeaderNode& Block() const { return m_block; }

private:
    CoinsWalk(const ChainManager& chain, const HeaderNode& block, CoinsCursor cursor)
        : m_chain(chain), m_block(block), m_tip(*chain.Tip()), m_cursor(std::move(cursor))
    {
    }
    Result<> NextSpent();
    Result<> NextKept();

    const ChainManager& m_chain;
    const HeaderNode& m_block;
    const HeaderNode& m_tip; //!< the block of the cursor's coins
    CoinsCursor m_cursor;
    Env* m_env = nullptr; //!< null: there are no files
    Path m_directory;
    std::vector<RunReader> m_runs; //!< run of spent coins: none or one
    std::optional<CoinMerger> m_spent;
    // The next coin of each of the two; nothing: there are no more.
    std::optional<std::pair<OutPoint, Coin>> m_next_kept;
    std::optional<std::pair<OutPoint, Coin>> m_next_spent;
    bool m_begun = false;
};

/** The place of an id in the order of a walk, in which ids are distributed evenly: 0 to 65,535. */
inline uint32_t PlaceInWalk(const Txid& txid) { return 256u * txid.Span()[0] + txid.Span()[1]; }

/** Counts and hashes the coins of a walk that has not begun. Returns early with an error when
 *  interrupted. */
Result<CoinsStats> ComputeCoinsStats(CoinsWalk& walk, CoinsHashKind kind,
                                     const std::atomic<bool>& interrupt);

} // namespace ibd
