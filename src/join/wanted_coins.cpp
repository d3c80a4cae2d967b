// See wanted_coins.h.
#include "join/wanted_coins.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kFewestSlots = 64; //!< a table has a multiple of it
constexpr size_t kFilterBitsPerSlot = 8;

/** At most seven eighths of the slots are filled. */
size_t RoomIn(size_t slots) { return slots / 8 * 7; }

/** With enough memory three quarters are filled at most, as a lookup then passes fewer slots. */
size_t SlotsFor(size_t bytes, uint64_t inputs, size_t slot_bytes)
{
    const uint64_t most = bytes / (slot_bytes + kFilterBitsPerSlot / 8) / kFewestSlots;
    const uint64_t wanted = (inputs + 2) / 3 * 4 / kFewestSlots + 1;
    return std::max<uint64_t>(1, std::min(wanted, most)) * kFewestSlots;
}

} // namespace

WantedCoins::WantedCoins(uint32_t first, uint64_t most_inputs, size_t bytes, SipKey key)
    : m_first(first), m_hash(key),
      m_filter_key(SipHasher(key).Write(AsBytes("filter")).Finalize() | 1),
      m_slots(SlotsFor(bytes, most_inputs, sizeof(Slot))),
      m_filter(m_slots.size() * kFilterBitsPerSlot / 64)
{
}

void WantedCoins::Clear()
{
    std::fill(m_slots.begin(), m_slots.end(), Slot{});
    std::fill(m_filter.begin(), m_filter.end(), 0);
    m_size = 0;
    m_repeated = false;
}

std::array<uint32_t, 3> WantedCoins::KeyOf(const Hash128& hash)
{
    return {static_cast<uint32_t>(hash.first), static_cast<uint32_t>(hash.first >> 32),
            static_cast<uint32_t>(hash.second)};
}

uint64_t WantedCoins::PlaceOf(uint32_t spent) const
{
    const uint32_t at = spent & ~kTaken;
    return JoinRecord::PlaceOf(m_first + (at >> JoinRecord::kIndexBits),
                               at & JoinRecord::kMaxIndex);
}

bool WantedCoins::Add(const uint8_t* outpoint, uint64_t place)
{
    if (m_size >= RoomIn(m_slots.size())) return false;
    const uint32_t height = JoinRecord::HeightOf(place) - m_first;
    CHECK(height < kMostBlocks && JoinRecord::IndexOf(place) > 0);
    const Hash128 hash = OutpointHash::Finish(m_hash.Begin(outpoint), ReadLE32(outpoint + 32));
    const auto key = KeyOf(hash);
    size_t i = FirstSlot(hash);
    for (; m_slots[i].spent != 0; i = NextSlot(i)) {
        if (m_slots[i].key == key) m_repeated = true;
    }
    m_slots[i] = {key, height << JoinRecord::kIndexBits | JoinRecord::IndexOf(place)};
    const uint64_t bit = FilterBit(outpoint);
    m_filter[bit / 64] |= uint64_t{1} << bit % 64;
    ++m_size;
    return true;
}

std::optional<uint64_t> WantedCoins::Take(const Hash128& prepared, uint32_t height, bool again)
{
    const auto key = KeyOf(prepared);
    size_t i = FirstSlot(prepared);
    while (true) {
        std::atomic_ref<uint32_t> slot(m_slots[i].spent);
        const uint32_t spent = slot.load(std::memory_order_relaxed);
        if (spent == 0) return std::nullopt;
        if (m_slots[i].key == key) {
            if (JoinRecord::HeightOf(PlaceOf(spent)) < height) return std::nullopt;
            const bool first = (slot.fetch_or(kTaken, std::memory_order_relaxed) & kTaken) == 0;
            if (!first && !again) m_repeated = true;
            return first ? std::optional(PlaceOf(spent)) : std::nullopt;
        }
        i = NextSlot(i);
    }
}

std::optional<uint64_t> WantedCoins::FirstMissing() const
{
    std::optional<uint64_t> lowest;
    for (const Slot& slot : m_slots) {
        if (slot.spent == 0 || (slot.spent & kTaken) != 0) continue;
        const uint64_t place = PlaceOf(slot.spent);
        if (!lowest || place < *lowest) lowest = place;
    }
    return lowest;
}

} // namespace ibd
