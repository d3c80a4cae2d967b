// See recent_coins.h.
#include "storage/recent_coins.h"

namespace ibd {

namespace {

/** Memory of a kept coin: about two nodes of the tables, and its script. */
size_t BytesOf(const Coin& coin)
{
    constexpr size_t kNodes = 192;
    return kNodes + coin.script.HeapBytes();
}

} // namespace

Found<Coin> RecentCoins::Read(const OutPoint& outpoint, const BlockHash& tip,
                              const CoinsReader& chain)
{
    if (chain.IsInMemory(outpoint)) return chain.Read(outpoint);
    if (auto kept = Find(outpoint, tip)) return kept;
    Found<Coin> coin = chain.Read(outpoint);
    // Missing coins are not kept: their number is unlimited.
    if (coin && *coin) Keep(outpoint, tip, **coin);
    return coin;
}

std::optional<Coin> RecentCoins::Find(const OutPoint& outpoint, const BlockHash& tip) const
{
    const Lock lock(m_mutex);
    if (m_tip != tip) return std::nullopt;
    const auto found = m_coins.find(outpoint);
    return found == m_coins.end() ? std::nullopt : std::optional(found->second);
}

void RecentCoins::Keep(const OutPoint& outpoint, const BlockHash& tip, const Coin& coin)
{
    const Lock lock(m_mutex);
    if (m_tip != tip) {
        m_tip = tip;
        m_coins.clear();
        m_order.clear();
        m_bytes = 0;
    }
    const size_t bytes = BytesOf(coin);
    if (bytes > kMaxBytes || !m_coins.try_emplace(outpoint, coin).second) return;
    m_order.push_back(outpoint);
    m_bytes += bytes;
    while (m_bytes > kMaxBytes) {
        const auto oldest = m_coins.find(m_order.front());
        m_bytes -= BytesOf(oldest->second);
        m_coins.erase(oldest);
        m_order.pop_front();
    }
}

size_t RecentCoins::Bytes() const
{
    const Lock lock(m_mutex);
    return m_bytes;
}

} // namespace ibd
