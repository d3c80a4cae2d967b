// See waiting_txs.h.
#include "net/peer/waiting_txs.h"

namespace ibd {

/** Queries the pool's entries and updates their rates. Removes ids that are not in the pool. */
std::vector<PeerPool::Entry> WaitingTxs::Renew(const PeerPool& pool, const std::vector<Wtxid>& ids)
{
    std::vector<PeerPool::Entry> entries = pool.InMiningOrder(ids);
    std::set<Wtxid> gone;
    if (entries.size() < ids.size()) gone.insert(ids.begin(), ids.end());
    for (const PeerPool::Entry& entry : entries) {
        Add(entry.tx->WitnessId(), entry.mining_rate);
        gone.erase(entry.tx->WitnessId());
    }
    for (const Wtxid& id : gone) Erase(id);
    return entries;
}

/** The pool is queried for a bounded number at a time, because the query holds its mutex. */
void WaitingTxs::GiveTurns(const PeerPool& pool)
{
    const size_t turns = kMoreAsked + kTurnsOfNew * m_came;
    for (size_t left = std::min(turns, Count()); left > 0;) {
        const std::vector<Wtxid> ids = Next(std::min(left, kMoreAsked));
        if (ids.empty()) return;
        left -= ids.size();
        (void)Renew(pool, ids);
    }
}

void WaitingTxs::Announce(const PeerPool& pool, size_t most,
                          const std::function<bool(const PeerPool::Entry&)>& announce)
{
    if (Count() > most + kMoreAsked) GiveTurns(pool);
    m_came = 0;
    const std::vector<PeerPool::Entry> best = Renew(pool, Best(most + kMoreAsked));
    const bool more_wait = Count() > best.size();
    size_t left = most;
    for (const PeerPool::Entry& entry : best) {
        if (left == 0) return;
        if (!Has(entry.tx->WitnessId()))
            continue; // it was announced with a transaction that
                      // spends it
        std::vector<PeerPool::Entry> line;
        if (entry.has_parents && more_wait) line = pool.AncestorsOf(entry.tx->WitnessId());
        line.push_back(entry);
        for (const PeerPool::Entry& next : line) {
            if (left > 0 && Erase(next.tx->WitnessId()) && announce(next)) --left;
        }
    }
}

} // namespace ibd
