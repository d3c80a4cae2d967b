// See pool_table.h.
#include "mempool/pool_table.h"

#include "mempool/cluster_index.h"
#include "util/prefetch.h"

#include <algorithm>

namespace ibd {

// Each search reads a slot, its entry, and the entry's transaction, and each of these reads may
// miss the cache.
std::vector<const PoolTx*> PoolTable::Candidates(std::span<const uint64_t> hashes) const
{
    std::vector<const PoolTx*> found(hashes.size());
    const auto any = [](const PoolTx&, uint32_t) { return true; };
    Staggered(
        hashes.size(), [&](size_t i) { Prefetch(hashes[i]); },
        [&](size_t i) {
            found[i] = Find(hashes[i], any);
            if (found[i]) ibd::Prefetch(found[i]);
        },
        [&](size_t i) {
            if (!found[i]) return;
            ibd::Prefetch(found[i]->tx.get());
            ibd::Prefetch(found[i]->cluster);
        });
    return found;
}

void PoolTable::Place(const Slot& slot)
{
    size_t at = Home(slot.tag);
    while (m_slots[at].tx != nullptr) at = Next(at);
    m_slots[at] = slot;
}

void PoolTable::Grow()
{
    const std::vector<Slot> old =
        std::exchange(m_slots, std::vector<Slot>(std::max(kFirstSlots, 2 * m_slots.size())));
    CHECK(m_slots.size() <= size_t{1} << 32); // the tag has 32 bits to choose a slot
    for (const Slot& slot : old) {
        if (slot.tx != nullptr) Place(slot);
    }
}

void PoolTable::Insert(uint64_t hash, const PoolTx& tx, uint32_t input)
{
    if ((m_size + 1) * 16 > m_slots.size() * m_fullest) Grow();
    Place({&tx, static_cast<uint32_t>(hash), input});
    ++m_size;
}

void PoolTable::Erase(uint64_t hash, const PoolTx& tx, uint32_t input)
{
    CHECK(m_size > 0);
    size_t gap = Home(static_cast<uint32_t>(hash));
    while (m_slots[gap].tx != &tx || m_slots[gap].input != input) {
        CHECK(m_slots[gap].tx != nullptr);
        gap = Next(gap);
    }
    --m_size;
    // Moves later entries of the run up, so that no search ends at the gap before its entry.
    const size_t mask = m_slots.size() - 1;
    for (size_t at = Next(gap); m_slots[at].tx != nullptr; at = Next(at)) {
        const size_t home = Home(m_slots[at].tag);
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        m_slots[gap] = m_slots[at];
        gap = at;
    }
    m_slots[gap] = Slot();
}

void PoolStore::Add(std::unique_ptr<PoolTx> tx)
{
    PoolTx& added = *tx;
    m_oldest = std::min(m_oldest, added.time);
    added.stored_at = m_places.Add({added.time, std::move(tx)});
}

std::unique_ptr<PoolTx> PoolStore::Take(const PoolTx& tx)
{
    const size_t at = tx.stored_at;
    CHECK(at < Places().size() && Places()[at].tx.get() == &tx);
    return m_places.Take(at).tx;
}

/** Most searches end at once. Others read all entries: 4 MB in a full pool. */
std::vector<const PoolTx*> PoolStore::OlderThan(int64_t time) const
{
    std::vector<const PoolTx*> out;
    if (time <= m_oldest) return out;
    m_oldest = std::numeric_limits<int64_t>::max();
    for (const Place& place : Places()) {
        if (!place.tx) continue;
        m_oldest = std::min(m_oldest, place.time);
        if (place.time < time) out.push_back(place.tx.get());
    }
    std::sort(out.begin(), out.end(), [](const PoolTx* a, const PoolTx* b) {
        return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
    });
    return out;
}

} // namespace ibd
