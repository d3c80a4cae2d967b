// See coin_table.h.
#include "validation/coin_table.h"

#include "util/check.h"
#include "util/prefetch.h"

namespace ibd {

CoinTable::Place CoinTable::Find(const OutPoint& outpoint, uint32_t tag) const
{
    Place place;
    place.tag = tag;
    if (m_slots.empty()) return place;
    const size_t mask = m_slots.size() - 1;
    for (place.slot = place.tag & mask; m_slots[place.slot] != 0;
         place.slot = (place.slot + 1) & mask) {
        const Slot slot = m_slots[place.slot];
        if (static_cast<uint32_t>(slot >> 32) != place.tag) continue;
        Entry& entry = At(static_cast<uint32_t>(slot) - 1);
        if (entry.outpoint == outpoint) {
            place.entry = &entry;
            break;
        }
    }
    return place;
}

void CoinTable::PrefetchEntry(uint32_t tag) const
{
    if (m_slots.empty()) return;
    const size_t mask = m_slots.size() - 1;
    size_t at = tag & mask;
    while (m_slots[at] != 0 && (m_slots[at] >> 32) != tag) at = (at + 1) & mask;
    if (m_slots[at] == 0) return;
    Prefetch(&At(static_cast<uint32_t>(m_slots[at]) - 1));
}

void CoinTable::Grow()
{
    std::vector<Slot> old(m_slots.empty() ? kFirstSlots : m_slots.size() * 2);
    CHECK(old.size() <= size_t{1} << 32); // the tag has 32 bits to choose a slot
    old.swap(m_slots);
    const size_t mask = m_slots.size() - 1;
    for (const Slot slot : old) {
        if (slot == 0) continue;
        size_t at = (slot >> 32) & mask;
        while (m_slots[at] != 0) at = (at + 1) & mask;
        m_slots[at] = slot;
    }
}

uint32_t CoinTable::TakeFree()
{
    if (!m_free.empty()) {
        const uint32_t number = m_free.back();
        m_free.pop_back();
        return number;
    }
    if (m_ever_used == m_chunks.size() * kChunk) {
        m_chunks.push_back(std::make_unique<Entry[]>(kChunk));
    }
    return static_cast<uint32_t>(m_ever_used++);
}

CoinTable::Entry& CoinTable::Insert(const Place& place, const OutPoint& outpoint)
{
    size_t slot = place.slot;
    if ((m_size + 1) * 4 > m_slots.size() * 3) {
        Grow();
        const size_t mask = m_slots.size() - 1;
        for (slot = place.tag & mask; m_slots[slot] != 0; slot = (slot + 1) & mask) {
        }
    }
    const uint32_t number = TakeFree();
    m_slots[slot] = Slot{place.tag} << 32 | (number + 1);
    ++m_size;
    Entry& entry = At(number);
    entry.outpoint = outpoint;
    entry.used = true;
    return entry;
}

void CoinTable::Erase(const Place& place)
{
    CHECK(place.entry);
    m_free.push_back(static_cast<uint32_t>(m_slots[place.slot]) - 1);
    *place.entry = Entry{};
    --m_size;
    // Moves later entries of the run up, so that no search ends at the gap before it finds its
    // entry.
    const size_t mask = m_slots.size() - 1;
    size_t gap = place.slot;
    for (size_t at = (gap + 1) & mask; m_slots[at] != 0; at = (at + 1) & mask) {
        const size_t home = (m_slots[at] >> 32) & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        m_slots[gap] = m_slots[at];
        gap = at;
    }
    m_slots[gap] = 0;
}

void CoinTable::Clear()
{
    m_slots = std::vector<Slot>();
    m_chunks = std::vector<std::unique_ptr<Entry[]>>();
    m_free = std::vector<uint32_t>();
    m_ever_used = 0;
    m_size = 0;
}

size_t CoinTable::MemoryUsage() const
{
    return m_chunks.size() * kChunk * sizeof(Entry) + m_slots.capacity() * sizeof(Slot) +
           m_free.capacity() * sizeof(uint32_t) + m_chunks.capacity() * sizeof(m_chunks[0]);
}

} // namespace ibd
