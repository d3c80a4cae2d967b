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

// All turns at an announcement would take tens of milliseconds if many transactions have come.
void WaitingTxs::GiveTurns(const PeerPool& pool)
{
    if (m_due < kMoreAsked) return;
    m_due = std::min(m_due, Count());
    for (size_t given = 0; given < kMostTurns && m_due > 0; given += kMoreAsked) {
        const size_t turns = std::min(m_due, kMoreAsked);
        m_due -= turns;
        GiveSome(pool, turns);
    }
}

/** The pool is queried for few at a time, because the query holds its mutex. */
void WaitingTxs::GiveSome(const PeerPool& pool, size_t most)
{
    const std::vector<Wtxid> ids = Next(most);
    const std::vector<std::optional<double>> rates = pool.MiningRates(ids);
    for (size_t i = 0; i < ids.size(); ++i) {
        if (rates[i]) {
            Add(ids[i], *rates[i]);
        } else {
            Erase(ids[i]);
        }
    }
}

void WaitingTxs::Announce(const PeerPool& pool, size_t most,
                          const std::function<bool(const PeerPool::Entry&)>& announce)
{
    if (Count() > most + kMoreAsked) GiveSome(pool, kMoreAsked);
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
