// CoinTable: a hash table from outpoint to coin, designed for tens of millions of them. Entries are
// in chunks that never move; an open-addressing index of 8 bytes a slot points to them. Owned by a
// CoinsCache. One writer, or any number of readers. Memory: MemoryUsage() bytes, 108 to 120 a coin
// when filled, and the heap bytes of long scripts.
#pragma once

#include "primitives/outpoint_hasher.h"
#include "script/coin.h"

#include <memory>
#include <vector>

namespace ibd {

class CoinTable {
public:
    /** The state of one outpoint. */
    struct Entry {
        OutPoint outpoint;
        bool used = false;  //!< false: on the free list
        bool spent = false; //!< no coin; kept so that a flush removes the coin from the base
        bool dirty = false; //!< differs from the base
        bool fresh = false; //!< the base has no coin of this outpoint
        Coin coin;
    };

    explicit CoinTable(const OutPointHasher& hasher) : m_hasher(hasher) {}
    CoinTable(const CoinTable&) = delete;
    CoinTable& operator=(const CoinTable&) = delete;

    /** A place in the index; valid until the table is changed. */
    struct Place {
        size_t slot = 0;
        uint32_t tag = 0;
        Entry* entry = nullptr; //!< null: the outpoint is not in the table
    };
    Place Find(const OutPoint& outpoint) const { return Find(outpoint, TagOf(outpoint)); }
    /** Hashing, the part of Find() that reads no table memory. */
    uint32_t TagOf(const OutPoint& outpoint) const
    {
        return static_cast<uint32_t>(m_hasher(outpoint));
    }
    Place Find(const OutPoint& outpoint, uint32_t tag) const;
    /** Prefetch the memory that Find() will read for this tag. Call both steps in order, some
     *  searches before Find(). */
    void PrefetchSlot(uint32_t tag) const
    {
        if (!m_slots.empty()) __builtin_prefetch(&m_slots[tag & (m_slots.size() - 1)]);
    }
    void PrefetchEntry(uint32_t tag) const;
    /** Adds an entry at a place where Find() found none. */
    Entry& Insert(const Place& place, const OutPoint& outpoint);
    /** Removes the entry at a place from Find(). */
    void Erase(const Place& place);
    /** Removes all entries and frees all memory. */
    void Clear();

    /** Calls `visit(Entry&)` for each entry; it must not insert or erase. */
    template <typename Visitor>
    void ForEach(Visitor visit) const
    {
        for (size_t i = 0; i < m_ever_used; ++i) {
            Entry& entry = At(static_cast<uint32_t>(i));
            if (entry.used) visit(entry);
        }
    }
    /** Removes the entries for which `drop(Entry&)` is true. */
    template <typename Predicate>
    void EraseIf(Predicate drop)
    {
        for (size_t i = 0; i < m_ever_used; ++i) {
            Entry& entry = At(static_cast<uint32_t>(i));
            if (entry.used && drop(entry)) Erase(Find(entry.outpoint));
        }
    }

    size_t Size() const { return m_size; }
    /** Bytes of chunks and index, without the heap bytes of scripts. */
    size_t MemoryUsage() const;

private:
    static constexpr size_t kChunk = 2048;      //!< entries
    static constexpr size_t kFirstSlots = 1024; //!< power of two

    /** Slots hold tag << 32 entry number + 1, or 0. The tag is the low half of the hash. It
     *  determines the slot where a search begins, so the index can grow without reading entries. */
    using Slot = uint64_t;

    Entry& At(uint32_t number) const { return m_chunks[number / kChunk][number % kChunk]; }
    uint32_t TakeFree();
    void Grow();

    const OutPointHasher m_hasher;
    std::vector<Slot> m_slots;
    std::vector<std::unique_ptr<Entry[]>> m_chunks;
    std::vector<uint32_t> m_free; //!< numbers of erased entries
    size_t m_ever_used = 0;       //!< number of entries ever handed out, including erased ones
    size_t m_size = 0;
};

} // namespace ibd
