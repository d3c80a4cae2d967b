// See private_queue.h.
#include "net/peer/private_queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ibd {

PrivateAddition PrivateQueue::Add(const TransactionRef& tx, int64_t now)
{
    if (m_txs.contains(tx->WitnessId())) return PrivateAddition::kThere;
    if (m_txs.size() >= kMaxTxs) return PrivateAddition::kFull;
    Entry entry;
    entry.tx.tx = tx;
    entry.tx.added = now;
    entry.number = m_next++;
    m_txs.emplace(tx->WitnessId(), std::move(entry));
    return PrivateAddition::kAdded;
}

std::optional<size_t> PrivateQueue::Remove(const Wtxid& id)
{
    const auto found = m_txs.find(id);
    if (found == m_txs.end()) return std::nullopt;
    const size_t confirmed = found->second.confirmed;
    m_txs.erase(found);
    return confirmed;
}

/** Whether `one` is sent first. */
bool PrivateQueue::IsBefore(const Entry& one, const Entry& other)
{
    const auto rank = [](const Entry& entry) {
        return std::tuple(entry.picked, entry.confirmed, entry.last_picked, entry.last_confirmed,
                          entry.number);
    };
    return rank(one) < rank(other);
}

TransactionRef PrivateQueue::Pick(PeerId peer, const Endpoint& address, int64_t now)
{
    const auto first =
        std::min_element(m_txs.begin(), m_txs.end(), [](const auto& one, const auto& other) {
            return IsBefore(one.second, other.second);
        });
    if (first == m_txs.end()) return nullptr;
    Entry& entry = first->second;
    ++entry.picked;
    entry.last_picked = now;
    auto& sends = entry.tx.sends;
    if (sends.size() >= kMaxSends) sends.pop_front();
    sends.push_back({peer, address, now, std::nullopt});
    m_given[peer] = {first->first};
    return entry.tx.tx;
}

TransactionRef PrivateQueue::TxOf(PeerId peer) const
{
    const auto given = m_given.find(peer);
    if (given == m_given.end()) return nullptr;
    const auto found = m_txs.find(given->second.id);
    return found == m_txs.end() ? nullptr : found->second.tx.tx;
}

void PrivateQueue::Confirm(PeerId peer, int64_t now)
{
    const auto given = m_given.find(peer);
    if (given == m_given.end() || std::exchange(given->second.confirmed, true)) return;
    const auto found = m_txs.find(given->second.id);
    if (found == m_txs.end()) return;
    Entry& entry = found->second;
    ++entry.confirmed;
    entry.last_confirmed = now;
    for (PrivateSend& send : entry.tx.sends) {
        if (send.peer == peer) send.received = now;
    }
}

bool PrivateQueue::Forget(PeerId peer)
{
    const auto given = m_given.find(peer);
    if (given == m_given.end()) return false;
    const bool confirmed = given->second.confirmed;
    m_given.erase(given);
    return confirmed;
}

std::vector<TransactionRef> PrivateQueue::Stale(int64_t now) const
{
    std::vector<TransactionRef> out;
    for (const auto& [id, entry] : m_txs) {
        const bool stale = entry.confirmed == 0 ? entry.tx.added < now - kFirstWait
                                                : entry.last_confirmed < now - kWait;
        if (stale) out.push_back(entry.tx.tx);
    }
    return out;
}

std::vector<PrivateTx> PrivateQueue::All() const
{
    std::vector<const Entry*> entries;
    for (const auto& [id, entry] : m_txs) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(),
              [](const Entry* one, const Entry* other) { return one->number < other->number; });
    std::vector<PrivateTx> out;
    for (const Entry* const entry : entries) out.push_back(entry->tx);
    return out;
}

} // namespace ibd
