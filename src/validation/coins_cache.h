// CoinsCache: coins in memory over a slower set of coins, with the changes that the base does not
// have yet. Owned by a Chainstate (over the database) or used as a temporary overlay (over another
// cache). One thread at a time, except that Prefetch() reads the base on several. Memory:
// MemoryUsage() bytes, bounded by the caller of Flush.
#pragma once

#include "storage/coins_reader.h"
#include "util/found.h"
#include "util/threads.h"
#include "validation/coin_table.h"

#include <span>

namespace ibd {

class CoinsCache final : public CoinsReader {
public:
    /** `salt` keys the hash table; random in the node, seeded in tests. */
    CoinsCache(const CoinsReader& base, const OutPointHasher& salt);

    /** The coin; null: not unspent. The pointer is valid until the cache is changed. */
    Result<const Coin*> Get(const OutPoint& outpoint);
    /** The same without caching a coin read from the base; for overlays on this cache. */
    Found<Coin> Read(const OutPoint& outpoint) const override;
    bool IsInMemory(const OutPoint& outpoint) const override;

    /** Adds an unspent coin. `may_exist`: the base may have an older coin of the same outpoint
     *  (BIP30 repeats, restored coins); otherwise it must have none. */
    void Add(const OutPoint& outpoint, Coin coin, bool may_exist);
    /** Removes the coin and moves it to `spent`, if given. False: there was none. */
    Result<bool> Spend(const OutPoint& outpoint, Coin* spent = nullptr);
    /** Undoes an Add() whose coin was not spent since. Does not read the base, so it cannot fail.
     */
    void Remove(const OutPoint& outpoint);
    /** Applies all changes of an overlay on this cache, and empties the overlay. Does not read the
     *  base. */
    void Take(CoinsCache& overlay);

    /** Mark the begin and end of applying or undoing a block. In between, and permanently if
     *  EndBlock() is never called, no changes are written: coins within a block are no valid state.
     */
    void BeginBlock() { m_in_block = true; }
    void EndBlock() { m_in_block = false; }

    /** Returns the outpoints that have no entry in this cache. Searches a batch with prefetching,
     *  so that cache misses overlap; later searches for these outpoints hit the processor's cache.
     */
    std::vector<OutPoint> NotCached(std::span<const OutPoint> outpoints) const;
    /** Prefetches the memory for coins that will be added. */
    void PrefetchPlaces(std::span<const OutPoint> outpoints) const;
    /** Reads uncached coins from the base on the pool's threads. Missing ones are skipped; a later
     *  Get() reports them. */
    Result<> Prefetch(std::span<const OutPoint> outpoints, ThreadPool& pool);

    /** Writes all changes to the database, in key order; its best block becomes `best`. Then
     *  empties the cache (Flush) or keeps the coins (Sync). On an error the cache is unchanged.
     *  Within a block it is an error. */
    Result<> Flush(CoinsDb& db, const BlockHash& best);
    Result<> Sync(CoinsDb& db, const BlockHash& best);

    /** Calls `visit(outpoint, coin)` for each change over the base; `coin` is null if spent. */
    template <typename Visitor>
    void ForEachChange(Visitor visit) const
    {
        m_table.ForEach([&](const CoinTable::Entry& entry) {
            if (entry.dirty) visit(entry.outpoint, entry.spent ? nullptr : &entry.coin);
        });
    }

    size_t Size() const { return m_table.Size(); }
    /** Bytes held. Writing takes 16 more bytes for each change. */
    size_t MemoryUsage() const;

private:
    using Entry = CoinTable::Entry;

    /** The entry of an existing coin, read from the base if necessary. */
    Result<CoinTable::Place> Find(const OutPoint& outpoint);
    void SetCoin(Entry& entry, Coin coin);
    void SpendEntry(const CoinTable::Place& place, Coin* spent);
    Result<> WriteChanges(CoinsDb& db, const BlockHash& best) const;

    const CoinsReader& m_base;
    CoinTable m_table;
    size_t m_script_bytes = 0; //!< heap bytes of long scripts
    bool m_in_block = false;   //!< between BeginBlock and EndBlock
};

} // namespace ibd
