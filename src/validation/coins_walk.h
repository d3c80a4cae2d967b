// CoinsWalk: visits every coin at a block of the active chain, in database order, while the node
// keeps running. It walks a cursor of the database and applies a sorted list of differences, so the
// coins at an older block can be read without changing the chainstate. One thread. Memory: the
// differences between the tip and the block.
#pragma once

#include "storage/coins_stats.h"
#include "validation/chain_manager.h"

namespace ibd {

class CoinsWalk {
public:
    /** The coins at `target`, a block of the active chain; null: the tip. Locks the coins while it
     *  flushes the cache and undoes blocks, so call it on the connecting thread. An error if undo
     *  data is missing. */
    static Result<std::unique_ptr<CoinsWalk>> Start(ChainManager& chain, const HeaderNode* target);

    /** The next coin; false at the end. */
    Result<bool> Next(OutPoint& outpoint, Coin& coin);
    /** The block that the coins are at. */
    const HeaderNode& Block() const { return m_block; }

private:
    struct Change {
        OutPoint outpoint;
        CoinKey key;
        std::optional<Coin> coin;
    };

    CoinsWalk(const HeaderNode& block, CoinsCursor cursor)
        : m_block(block), m_cursor(std::move(cursor))
    {
    }
    static Result<> UndoDownTo(const ChainView& chain, const HeaderNode& target,
                               CoinsCache& overlay);
    void TakeChanges(const CoinsCache& overlay);
    bool ChangeComesFirst() const;

    const HeaderNode& m_block;
    CoinsCursor m_cursor;
    std::vector<Change> m_changes; //!< in database order
    size_t m_next = 0;
};

/** Counts and hashes the coins of a walk that has not begun. Returns early with an error when
 *  interrupted. */
Result<CoinsStats> ComputeCoinsStats(CoinsWalk& walk, CoinsHashKind kind,
                                     const std::atomic<bool>& interrupt);

} // namespace ibd
