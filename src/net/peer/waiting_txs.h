// WaitingTxs: transactions that wait for their announcement to one peer. Owned by TxAnnouncer, one
// thread.
//
// They are announced in the pool's current mining order. Because many may wait, the pool is not
// queried for all of them each time: they are ordered here by the rates that it returned before. An
// announcement queries the best of these. If more wait, the others are queried in turn, which
// updates their rates: kMoreAsked for each announcement, and two for each transaction added, some
// time after. So if few wait, the order is exact. Otherwise a transaction whose rate rose since its
// last query may be late, but never later than one that spends it. A transaction that left the pool
// is removed in its turn, so gone transactions cannot outnumber the others for long.
#pragma once

#include "net/peer/peer_pool.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace ibd {

class WaitingTxs {
public:
    /** Transactions that an announcement queries besides the announced ones, and the turns that
     *  one query of the pool serves. */
    static constexpr size_t kMoreAsked = 200;
    /** Turns of others for each added transaction. */
    static constexpr size_t kTurnsOfNew = 2;
    /** Turns at a time, a millisecond or two. */
    static constexpr size_t kMostTurns = 2'000;

    /** `rate`: at which it would be mined; it is updated if the transaction waits already. */
    void Add(const Wtxid& id, double rate)
    {
        const auto [it, is_new] = m_rates.try_emplace(id, rate);
        if (!is_new) {
            if (it->second == rate) return;
            m_order.erase({it->second, id});
            it->second = rate;
        }
        m_order.insert({rate, id});
    }
    /** The same for one that is new to this peer. */
    void Come(const Wtxid& id, double rate)
    {
        Add(id, rate);
        m_due += kTurnsOfNew;
    }
    /** False: it did not wait. */
    bool Erase(const Wtxid& id)
    {
        const auto it = m_rates.find(id);
        if (it == m_rates.end()) return false;
        m_order.erase({it->second, id});
        m_rates.erase(it);
        return true;
    }
    void Clear()
    {
        m_rates.clear();
        m_order.clear();
        m_due = 0;
    }
    bool Has(const Wtxid& id) const { return m_rates.contains(id); }
    size_t Count() const { return m_rates.size(); }

    /** If kMoreAsked turns are due, gives all of them, up to kMostTurns; call it often. */
    void GiveTurns(const PeerPool& pool);
    /** Removes transactions in the order of mining, parents first, and hands them to `announce`,
     *  until it has returned true `most` times or no more wait. */
    void Announce(const PeerPool& pool, size_t most,
                  const std::function<bool(const PeerPool::Entry&)>& announce);

    /** Up to `most` of the highest rates, by rate. */
    std::vector<Wtxid> Best(size_t most) const
    {
        std::vector<Wtxid> out;
        for (auto it = m_order.rbegin(); it != m_order.rend() && out.size() < most; ++it) {
            out.push_back(it->second);
        }
        return out;
    }
    /** Up to `most`, in turn: each call continues after the previous one. */
    std::vector<Wtxid> Next(size_t most)
    {
        std::vector<Wtxid> out;
        auto next = m_rates.upper_bound(m_last);
        while (out.size() < std::min(most, Count())) {
            if (next == m_rates.end()) next = m_rates.begin();
            out.push_back(next++->first);
        }
        if (!out.empty()) m_last = out.back();
        return out;
    }

private:
    void GiveSome(const PeerPool& pool, size_t most);
    std::vector<PeerPool::Entry> Renew(const PeerPool& pool, const std::vector<Wtxid>& ids);

    std::map<Wtxid, double> m_rates;
    std::set<std::pair<double, Wtxid>> m_order;
    Wtxid m_last;     //!< that Next() returned
    size_t m_due = 0; //!< turns
};

} // namespace ibd
