// CoinsCache: coins in memory over a slower set of coins, with the changes that the slower one does
// not have yet. Owned by a Chainstate (over the database) or used as a throw-away overlay (over
// another cache). One thread at a time, except that Prefetch() reads the base on several.
// Memory: MemoryUsage() bytes, bounded by whoever calls Flush.
#pragma once

#include "storage/coins_reader.h"
#include "util/threads.h"
#include "validation/coin_table.h"

#include <span>

namespace ibd {

class CoinsCache final : public CoinsReader {
public:
    /** `salt` keys the hash table; random in the node, from the seed in tests. */
    CoinsCache(const CoinsReader& base, const OutPointHasher& salt);

    /** The coin, or null if it is not unspent. The pointer holds until the cache is changed. */
    Result<const Coin*> Get(const OutPoint& outpoint);
    /** Without changing this cache; for overlays on top of it. */
    Result<std::optional<Coin>> Read(const OutPoint& outpoint) const override;

    /** Adds an unspent coin. `may_exist`: the base may have an older coin of the same name (BIP30
     *  repeats, coins restored); otherwise there must be none. */
    void Add(const OutPoint& outpoint, Coin coin, bool may_exist);
    /** Takes the coin out; false if it was not there. The coin is moved to `spent` if given. */
    Result<bool> Spend(const OutPoint& outpoint, Coin* spent = nullptr);
    /** Takes an Add back; the coin is still there. Reads nothing, so it cannot fail. */
    void Remove(const OutPoint& outpoint);
    /** Takes over all changes of an overlay on this cache, and empties it. Reads nothing. */
    void Take(CoinsCache& overlay);

    /** Whoever applies or takes back a block says where it begins and ends. In between, and for
     *  good when the end never comes, nothing is written: half a block is no state of the coins. */
    void BeginBlock() { m_in_block = true; }
    void EndBlock() { m_in_block = false; }

    bool Cached(const OutPoint& outpoint) const { return m_table.Find(outpoint).entry != nullptr; }
    /** Reads coins that are not cached from the base, on the pool's threads. Missing ones are
     *  skipped: asking for them later says so. */
    Result<> Prefetch(std::span<const OutPoint> outpoints, ThreadPool& pool);

    /** Writes all changes to the database, in its order; it becomes the state after `best`. Then
     *  forgets everything cached (Flush) or keeps the coins (Sync). On error the cache is
     *  unchanged. An error too in the middle of a block. */
    Result<> Flush(CoinsDb& db, const BlockHash& best);
    Result<> Sync(CoinsDb& db, const BlockHash& best);

    /** Calls `visit(outpoint, coin)` for each change over the base; the coin is null if spent. */
    template <typename Visitor>
    void ForEachChange(Visitor visit) const
    {
        m_table.ForEach([&](const CoinTable::Entry& entry) {
            if (entry.dirty) visit(entry.outpoint, entry.spent ? nullptr : &entry.coin);
        });
    }

    size_t Size() const { return m_table.Size(); }
    /** Bytes held. Writing takes 16 bytes for each change on top. */
    size_t MemoryUsage() const;

private:
    using Entry = CoinTable::Entry;

    /** The entry of a coin that is there, read from the base if need be. */
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
