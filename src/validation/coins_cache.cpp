// See coins_cache.h.
#include "validation/coins_cache.h"

#include "util/endian.h"
#include "util/prefetch.h"

#include <algorithm>

namespace ibd {

namespace {

/** Heap bytes of a long script, as malloc rounds them. */
size_t HeapBytes(const Coin& coin)
{
    const size_t bytes = coin.script.HeapBytes();
    return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + sizeof(size_t) + 15) & ~size_t{15});
}

/** A change to be written; the first bytes of the txid decide most comparisons. */
struct SortedChange {
    uint64_t prefix;
    const CoinTable::Entry* entry;

    bool operator<(const SortedChange& other) const
    {
        if (prefix != other.prefix) return prefix < other.prefix;
        return entry->outpoint < other.entry->outpoint;
    }
};

} // namespace

CoinsCache::CoinsCache(const CoinsReader& base, const OutPointHasher& salt)
    : m_base(base), m_table(salt)
{
}

size_t CoinsCache::MemoryUsage() const { return m_table.MemoryUsage() + m_script_bytes; }

void CoinsCache::SetCoin(Entry& entry, Coin coin)
{
    m_script_bytes += HeapBytes(coin) - HeapBytes(entry.coin);
    entry.coin = std::move(coin);
}

Result<CoinTable::Place> CoinsCache::Find(const OutPoint& outpoint)
{
    CoinTable::Place place = m_table.Find(outpoint);
    if (place.entry) {
        if (place.entry->spent) place.entry = nullptr;
        return place;
    }
    IBD_ASSIGN_OR_RETURN(std::optional<Coin> coin, m_base.Read(outpoint));
    if (!coin) return place;
    SetCoin(m_table.Insert(place, outpoint), std::move(*coin));
    return m_table.Find(outpoint);
}

Result<const Coin*> CoinsCache::Get(const OutPoint& outpoint)
{
    IBD_ASSIGN_OR_RETURN(const CoinTable::Place place, Find(outpoint));
    return place.entry ? &place.entry->coin : nullptr;
}

Found<Coin> CoinsCache::Read(const OutPoint& outpoint) const
{
    const Entry* entry = m_table.Find(outpoint).entry;
    if (!entry) return m_base.Read(outpoint);
    if (entry->spent) return std::nullopt;
    return entry->coin;
}

bool CoinsCache::IsInMemory(const OutPoint& outpoint) const
{
    const Entry* entry = m_table.Find(outpoint).entry;
    return entry ? !entry->spent : m_base.IsInMemory(outpoint);
}

std::vector<OutPoint> CoinsCache::NotCached(std::span<const OutPoint> outpoints) const
{
    std::vector<uint32_t> tags;
    tags.reserve(outpoints.size());
    for (const OutPoint& outpoint : outpoints) tags.push_back(m_table.TagOf(outpoint));
    std::vector<OutPoint> out;
    Staggered(
        outpoints.size(), [&](size_t i) { m_table.PrefetchSlot(tags[i]); },
        [&](size_t i) { m_table.PrefetchEntry(tags[i]); },
        [&](size_t i) {
            if (!m_table.Find(outpoints[i], tags[i]).entry) out.push_back(outpoints[i]);
        });
    return out;
}

void CoinsCache::PrefetchPlaces(std::span<const OutPoint> outpoints) const
{
    for (const OutPoint& outpoint : outpoints) m_table.PrefetchSlot(m_table.TagOf(outpoint));
}

void CoinsCache::Add(const OutPoint& outpoint, Coin coin, bool may_exist)
{
    const CoinTable::Place place = m_table.Find(outpoint);
    CHECK(may_exist || !place.entry || place.entry->spent);
    // A spent entry stays non-fresh: the base still has the old coin, and would keep it if the new
    // one were spent and dropped before a write.
    Entry& entry = place.entry ? *place.entry : m_table.Insert(place, outpoint);
    if (!place.entry) entry.fresh = !may_exist;
    SetCoin(entry, std::move(coin));
    entry.spent = false;
    entry.dirty = true;
}

Result<bool> CoinsCache::Spend(const OutPoint& outpoint, Coin* spent)
{
    IBD_ASSIGN_OR_RETURN(const CoinTable::Place place, Find(outpoint));
    if (!place.entry) return false;
    SpendEntry(place, spent);
    return true;
}

void CoinsCache::SpendEntry(const CoinTable::Place& place, Coin* spent)
{
    Entry& entry = *place.entry;
    m_script_bytes -= HeapBytes(entry.coin);
    if (spent) *spent = std::move(entry.coin);
    if (entry.fresh) {
        m_table.Erase(place);
        return;
    }
    entry.coin = Coin{};
    entry.spent = true;
    entry.dirty = true;
}

void CoinsCache::Remove(const OutPoint& outpoint)
{
    const CoinTable::Place place = m_table.Find(outpoint);
    CHECK(place.entry && !place.entry->spent);
    SpendEntry(place, nullptr);
}

void CoinsCache::Take(CoinsCache& overlay)
{
    CHECK(&overlay.m_base == this && !overlay.m_in_block);
    overlay.m_table.ForEach([&](Entry& change) {
        if (!change.dirty) return;
        if (!change.spent) {
            Add(change.outpoint, std::move(change.coin), !change.fresh);
            return;
        }
        CoinTable::Place place = m_table.Find(change.outpoint);
        if (!place.entry) {
            m_table.Insert(place, change.outpoint);
            place = m_table.Find(change.outpoint);
        }
        if (!place.entry->spent) SpendEntry(place, nullptr);
    });
    overlay.m_table.Clear();
    overlay.m_script_bytes = 0;
}

Result<> CoinsCache::Prefetch(std::span<const OutPoint> outpoints, ThreadPool& pool)
{
    constexpr size_t kChunk = 16; // reads given to a thread at once
    std::vector<std::optional<Coin>> coins(outpoints.size());
    std::vector<Result<>> results((outpoints.size() + kChunk - 1) / kChunk);
    pool.ParallelFor(results.size(), [&](size_t chunk) {
        const size_t end = std::min(outpoints.size(), (chunk + 1) * kChunk);
        for (size_t i = chunk * kChunk; i < end; ++i) {
            auto coin = m_base.Read(outpoints[i]);
            if (!coin) {
                results[chunk] = coin.GetError();
                return;
            }
            coins[i] = std::move(*coin);
        }
    });
    for (const Result<>& result : results) IBD_RETURN_IF_ERROR(result);
    // The pool only reads: the table has one writer.
    for (size_t i = 0; i < outpoints.size(); ++i) {
        if (!coins[i]) continue;
        const CoinTable::Place place = m_table.Find(outpoints[i]);
        if (!place.entry) SetCoin(m_table.Insert(place, outpoints[i]), std::move(*coins[i]));
    }
    return {};
}

Result<> CoinsCache::WriteChanges(CoinsDb& db, const BlockHash& best) const
{
    if (m_in_block) {
        return SystemError("the coins in memory are in the middle of a block: they were not "
                           "written");
    }
    // Writes in the order of the database, so that its files do not overlap and need no merging.
    // Counts first: memory is fullest at a write, and a growing vector takes twice its content.
    size_t count = 0;
    ForEachChange([&](const OutPoint&, const Coin*) { ++count; });
    std::vector<SortedChange> changes;
    changes.reserve(count);
    m_table.ForEach([&](const Entry& entry) {
        if (entry.dirty) changes.push_back({ReadBE64(entry.outpoint.txid.data()), &entry});
    });
    std::sort(changes.begin(), changes.end());
    auto it = changes.begin();
    const auto next = [&](CoinChange& change) {
        if (it == changes.end()) return false;
        change.outpoint = &it->entry->outpoint;
        change.coin = it->entry->spent ? nullptr : &it->entry->coin;
        ++it;
        return true;
    };
    return db.Write(next, best);
}

Result<> CoinsCache::Flush(CoinsDb& db, const BlockHash& best)
{
    IBD_RETURN_IF_ERROR(WriteChanges(db, best));
    m_table.Clear();
    m_script_bytes = 0;
    return {};
}

Result<> CoinsCache::Sync(CoinsDb& db, const BlockHash& best)
{
    IBD_RETURN_IF_ERROR(WriteChanges(db, best));
    m_table.EraseIf([](const Entry& entry) { return entry.spent; });
    m_table.ForEach([](Entry& entry) { entry.dirty = entry.fresh = false; });
    return {};
}

} // namespace ibd
