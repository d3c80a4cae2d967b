// RecentCoins: coins that were read from the disk at one tip, so that they need not be read again:
// a peer may send any number of refused transactions that spend the same coins. Owned by the code
// that hands coins to the pool; any thread. Such reads cannot add to the coins cache itself,
// because they hold its lock only for reading. Memory: kMaxBytes; the oldest go first.
#pragma once

#include "primitives/outpoint_hasher.h"
#include "storage/coins_reader.h"
#include "util/mutex.h"

#include <deque>
#include <unordered_map>

namespace ibd {

class RecentCoins {
public:
    static constexpr size_t kMaxBytes = 4 << 20;

    explicit RecentCoins(SipKey key) : m_coins(0, OutPointHasher(key)) {}

    /** Looks up a coin of `chain`, whose tip is `tip`. A change of the tip clears the kept coins.
     */
    Found<Coin> Read(const OutPoint& outpoint, const BlockHash& tip, const CoinsReader& chain);
    size_t Bytes() const;

private:
    std::optional<Coin> Find(const OutPoint& outpoint, const BlockHash& tip) const;
    void Keep(const OutPoint& outpoint, const BlockHash& tip, const Coin& coin);

    mutable Mutex m_mutex; //!< a leaf
    BlockHash m_tip IBD_GUARDED_BY(m_mutex);
    std::unordered_map<OutPoint, Coin, OutPointHasher> m_coins IBD_GUARDED_BY(m_mutex);
    std::deque<OutPoint> m_order IBD_GUARDED_BY(m_mutex); //!< of arrival
    size_t m_bytes IBD_GUARDED_BY(m_mutex) = 0;
};

/** A CoinsReader of a chain at a tip that uses a RecentCoins. All arguments outlive it. */
class RecentCoinsReader final : public CoinsReader {
public:
    RecentCoinsReader(RecentCoins& recent, const CoinsReader& chain, const BlockHash& tip)
        : m_recent(recent), m_chain(chain), m_tip(tip)
    {
    }
    Found<Coin> Read(const OutPoint& outpoint) const override
    {
        return m_recent.Read(outpoint, m_tip, m_chain);
    }
    bool IsInMemory(const OutPoint& outpoint) const override
    {
        return m_chain.IsInMemory(outpoint);
    }

private:
    RecentCoins& m_recent;
    const CoinsReader& m_chain;
    const BlockHash& m_tip;
};

} // namespace ibd
