// See coins_cache.h.
#include "validation/coins_cache.h"

namespace ibd {

namespace {

/** Node of the hash table as the standard library allocates it: next pointer, value, hash. */
template <typename Value>
constexpr size_t NodeBytes()
{
    return sizeof(void*) + sizeof(Value) + sizeof(size_t);
}

} // namespace

CoinsCache::CoinsCache(const CoinsReader& base, const OutPointHasher& salt)
    : m_base(base), m_hasher(salt)
{
    Clear();
}

void CoinsCache::Clear()
{
    m_map.reset();
    m_pool = std::make_unique<std::pmr::unsynchronized_pool_resource>();
    m_map = std::make_unique<Map>(0, m_hasher, std::equal_to<OutPoint>{}, m_pool.get());
    m_script_bytes = 0;
}

size_t CoinsCache::MemoryUsage() const
{
    return m_map->size() * NodeBytes<Map::value_type>() + m_map->bucket_count() * sizeof(void*) +
           m_script_bytes;
}

CoinsCache::Entry& CoinsCache::Insert(const OutPoint& outpoint, Coin coin)
{
    m_script_bytes += coin.script.HeapBytes();
    Entry& entry = (*m_map)[outpoint];
    m_script_bytes -= entry.coin.script.HeapBytes();
    entry.coin = std::move(coin);
    return entry;
}

Result<CoinsCache::Entry*> CoinsCache::Find(const OutPoint& outpoint)
{
    if (const auto it = m_map->find(outpoint); it != m_map->end()) {
        return it->second.spent ? nullptr : &it->second;
    }
    IBD_ASSIGN_OR_RETURN(std::optional<Coin> coin, m_base.Read(outpoint));
    if (!coin) return nullptr;
    return &Insert(outpoint, std::move(*coin));
}

Result<const Coin*> CoinsCache::Get(const OutPoint& outpoint)
{
    IBD_ASSIGN_OR_RETURN(Entry * entry, Find(outpoint));
    return entry ? &entry->coin : nullptr;
}

Result<std::optional<Coin>> CoinsCache::Read(const OutPoint& outpoint) const
{
    if (const auto it = m_map->find(outpoint); it != m_map->end()) {
        if (it->second.spent) return std::optional<Coin>();
        return std::optional<Coin>(it->second.coin);
    }
    return m_base.Read(outpoint);
}

void CoinsCache::Add(const OutPoint& outpoint, Coin coin, bool may_exist)
{
    const auto it = m_map->find(outpoint);
    const bool known = it != m_map->end();
    CHECK(may_exist || !known || it->second.spent);
    // A spent entry that the base does not know of yet must stay non-fresh: the base still has
    // the old coin, and would keep it if the new one were spent before a flush.
    const bool fresh = known ? it->second.fresh : !may_exist;
    Entry& entry = Insert(outpoint, std::move(coin));
    entry.spent = false;
    entry.dirty = true;
    entry.fresh = fresh;
}

Result<bool> CoinsCache::Spend(const OutPoint& outpoint, Coin* spent)
{
    IBD_ASSIGN_OR_RETURN(Entry * entry, Find(outpoint));
    if (!entry) return false;
    m_script_bytes -= entry->coin.script.HeapBytes();
    if (spent) *spent = std::move(entry->coin);
    if (entry->fresh) {
        m_map->erase(outpoint);
        return true;
    }
    entry->coin = Coin{};
    entry->spent = true;
    entry->dirty = true;
    return true;
}

Result<> CoinsCache::Prefetch(std::span<const OutPoint> outpoints, ThreadPool& pool)
{
    std::vector<OutPoint> wanted;
    for (const OutPoint& outpoint : outpoints) {
        if (!m_map->contains(outpoint)) wanted.push_back(outpoint);
    }
    constexpr size_t kChunk = 16; // reads handed to a thread at once
    std::vector<std::optional<Coin>> coins(wanted.size());
    std::vector<Result<>> results((wanted.size() + kChunk - 1) / kChunk);
    pool.ParallelFor(results.size(), [&](size_t chunk) {
        const size_t end = std::min(wanted.size(), (chunk + 1) * kChunk);
        for (size_t i = chunk * kChunk; i < end; ++i) {
            auto coin = m_base.Read(wanted[i]);
            if (!coin) {
                results[chunk] = coin.GetError();
                return;
            }
            coins[i] = std::move(*coin);
        }
    });
    for (const Result<>& result : results) IBD_RETURN_IF_ERROR(result);
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (coins[i]) Insert(wanted[i], std::move(*coins[i]));
    }
    return {};
}

Result<> CoinsCache::Flush(CoinsDb& db, const BlockHash& best)
{
    auto it = m_map->begin();
    const auto next = [&](CoinChange& change) {
        while (it != m_map->end() && !it->second.dirty) ++it;
        if (it == m_map->end()) return false;
        change.outpoint = &it->first;
        change.coin = it->second.spent ? nullptr : &it->second.coin;
        ++it;
        return true;
    };
    IBD_RETURN_IF_ERROR(db.Write(next, best));
    Clear();
    return {};
}

} // namespace ibd
