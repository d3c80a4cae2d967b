// PoolTable: an index over the transactions of the pool by a keyed hash of one of their properties
// (an id, a spent output). PoolStore: the transactions themselves, unordered. Both are arrays: a
// block removes thousands of transactions from the pool, and following pointers between heap nodes
// would cause cache misses. Owned by TxPool; under its mutex. Memory: for each entry of the
// largest pool so far 21 to 51 bytes in a table, and 16 in the store.
#pragma once

#include "mempool/pool_tx.h"
#include "util/check.h"
#include "util/place_list.h"

#include <memory>
#include <span>
#include <vector>

namespace ibd {

/** Open addressing. The table does not store keys: the caller compares them. */
class PoolTable {
public:
    /** `fullest`: the share of its slots that is used at most, in sixteenths, 1 to 15. A table that
     *  grows copies all of itself, so tables that grow with the same pool get different shares, and
     *  the pool's mutex is held for one growth at a time. */
    explicit PoolTable(size_t fullest = 12) : m_fullest(fullest) {}

    /** The transaction of this hash for which `matches(tx, input)` is true; null: none. */
    template <typename Matches>
    const PoolTx* Find(uint64_t hash, Matches matches) const
    {
        if (m_slots.empty()) return nullptr;
        const auto tag = static_cast<uint32_t>(hash);
        for (size_t at = Home(tag); m_slots[at].tx != nullptr; at = Next(at)) {
            const Slot& slot = m_slots[at];
            if (slot.tag == tag && matches(*slot.tx, slot.input)) return slot.tx;
        }
        return nullptr;
    }
    /** For each hash a transaction with that hash, not compared; null: none. The memory that a
     *  comparison or removal reads first (transaction, cluster) is prefetched. */
    std::vector<const PoolTx*> Candidates(std::span<const uint64_t> hashes) const;
    /** Adds a key that is not in the table. `input`: the input that spends the output. */
    void Insert(uint64_t hash, const PoolTx& tx, uint32_t input = 0);
    /** It is in the table. */
    void Erase(uint64_t hash, const PoolTx& tx, uint32_t input = 0);
    /** Number of slots, the free ones too. */
    size_t Capacity() const { return m_slots.size(); }
    /** Prefetches the memory that Find() and Erase() will read. */
    void Prefetch(uint64_t hash) const
    {
        if (!m_slots.empty()) __builtin_prefetch(&m_slots[Home(static_cast<uint32_t>(hash))]);
    }

private:
    struct Slot {
        const PoolTx* tx = nullptr; //!< null: free
        uint32_t tag = 0;           //!< low half of the hash
        uint32_t input = 0;
    };
    static constexpr size_t kFirstSlots = 64; //!< power of two

    size_t Home(uint32_t tag) const { return tag & (m_slots.size() - 1); }
    size_t Next(size_t at) const { return (at + 1) & (m_slots.size() - 1); }
    void Place(const Slot& slot);
    void Grow();

    const size_t m_fullest;
    std::vector<Slot> m_slots;
    size_t m_size = 0;
};

class PoolStore {
public:
    /** An entry with the transaction's time, so that a search for old ones reads no transaction. */
    struct Place {
        int64_t time = 0;           //!< PoolTx::time
        std::unique_ptr<PoolTx> tx; //!< null: free
    };

    void Add(std::unique_ptr<PoolTx> tx);
    std::unique_ptr<PoolTx> Take(const PoolTx& tx);
    size_t Size() const { return m_places.Size(); }
    std::span<const Place> Places() const { return m_places.Places(); }
    /** All that arrived before `time`, the oldest first; equal times in order of arrival. */
    std::vector<const PoolTx*> OlderThan(int64_t time) const;
    void Prefetch(const PoolTx& tx) const { __builtin_prefetch(&Places()[tx.stored_at]); }

private:
    PlaceList<Place> m_places;
    /** A lower bound of the times of all transactions. */
    mutable int64_t m_oldest = std::numeric_limits<int64_t>::max();
};

} // namespace ibd
