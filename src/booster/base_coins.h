// BaseCoins: visits the coins that a chain in use had at the base of its snapshot, in database
// order: the coins of a cursor that were made up to the base, and the coins that later blocks have
// spent, from their undo data. The chain may advance meanwhile. One thread. Memory: as given, and a
// block; on disk the spent coins, sorted.
#pragma once

#include "swiftsync/coin_merge.h"
#include "validation/chain_manager.h"

namespace ibd {

class BaseCoins {
public:
    /** Flushes the coins, so call it on the thread that changes the chain. */
    static Result<std::unique_ptr<BaseCoins>> Start(ChainManager& chain, const HeaderNode& base);

    /** Call it before Next(): reads the blocks above the base and their undo data, and sorts the
     *  coins that they spend in `directory`, which it creates. False: stopped. Missing undo data is
     *  also an error. */
    Result<bool> TakeBack(Env& env, const Path& directory, size_t memory_bytes,
                          const std::atomic<bool>& stop);
    /** The next coin; false at the end. */
    Result<bool> Next(OutPoint& outpoint, Coin& coin);

private:
    BaseCoins(const ChainManager& chain, const HeaderNode& base, const HeaderNode& tip,
              CoinsCursor cursor)
        : m_chain(chain), m_base(base), m_tip(tip), m_cursor(std::move(cursor))
    {
    }
    Result<> NextSpent();
    Result<> NextKept();

    const ChainManager& m_chain;
    const HeaderNode& m_base;
    const HeaderNode& m_tip; //!< the block of the cursor's coins
    CoinsCursor m_cursor;
    std::vector<RunReader> m_runs; //!< run of spent coins: none or one
    std::optional<CoinMerger> m_spent;
    // The next coin of each of the two; nothing: there are no more.
    std::optional<std::pair<OutPoint, Coin>> m_next_kept;
    std::optional<std::pair<OutPoint, Coin>> m_next_spent;
    bool m_begun = false;
};

} // namespace ibd
