// See orphan_pool.h.
#include "net/peer/orphan_pool.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kInputsOfLatency = 10;

int64_t InputLatency(const Transaction& tx)
{
    return static_cast<int64_t>(tx->inputs.size() / kInputsOfLatency);
}

} // namespace

/** Compares used / allowed; if these are equal, the smaller allowance is the greater excess. */
std::partial_ordering OrphanPool::Excess::operator<=>(const Excess& other) const
{
    const int64_t left = used * other.allowed;
    const int64_t right = other.used * allowed;
    return left != right ? left <=> right : other.allowed <=> allowed;
}

void OrphanPool::Add(const TransactionRef& tx, PeerId peer)
{
    const Wtxid& id = tx->WitnessId();
    const int64_t weight = (*tx)->Weight();
    if (weight > kMaxOrphanWeight) {
        m_log.Debug(LogCategory::kTxPackages,
                    "ignoring large orphan tx (size: {}, txid: {}, wtxid: {})", weight,
                    tx->Id().ToHex(), id.ToHex());
        return;
    }
    const auto [orphan, is_new] = m_orphans.try_emplace(id);
    if (is_new) {
        orphan->second.tx = tx;
        for (const InputView& input : (*tx)->inputs) m_spenders[input.Prevout()].insert(id);
        m_weight += weight;
        m_input_latency += InputLatency(*tx);
    }
    if (orphan->second.peers.contains(peer)) return;
    Announce(orphan, peer);
    if (is_new) {
        m_log.Debug(LogCategory::kTxPackages,
                    "stored orphan tx {} (wtxid={}), weight: {} (mapsz {} outsz {})",
                    tx->Id().ToHex(), id.ToHex(), weight, m_announcements, m_spenders.size());
    } else {
        m_log.Debug(LogCategory::kTxPackages,
                    "added peer={} as announcer of orphan tx {} (wtxid={})", peer, tx->Id().ToHex(),
                    id.ToHex());
    }
    Trim();
}

void OrphanPool::Announce(Orphans::iterator orphan, PeerId peer)
{
    Kept& kept = orphan->second;
    const uint64_t sequence = m_next_sequence++;
    kept.peers[peer] = sequence;
    Share& share = m_shares[peer];
    share.waiting[sequence] = orphan->first;
    share.weight += (*kept.tx)->Weight();
    share.latency += 1 + InputLatency(*kept.tx);
    ++m_announcements;
}

/** Removes an announcement, and with its last announcement the orphan. */
void OrphanPool::Remove(Orphans::iterator orphan, PeerId peer)
{
    Kept& kept = orphan->second;
    const auto announced = kept.peers.find(peer);
    const auto share = m_shares.find(peer);
    share->second.waiting.erase(announced->second);
    share->second.ready.erase(announced->second);
    share->second.weight -= (*kept.tx)->Weight();
    share->second.latency -= 1 + InputLatency(*kept.tx);
    if (share->second.Count() == 0) m_shares.erase(share);
    if (kept.ready == peer) kept.ready.reset();
    kept.peers.erase(announced);
    --m_announcements;
    if (!kept.peers.empty()) return;
    m_weight -= (*kept.tx)->Weight();
    m_input_latency -= InputLatency(*kept.tx);
    for (const InputView& input : (*kept.tx)->inputs) {
        const auto spenders = m_spenders.find(input.Prevout());
        if (spenders == m_spenders.end()) continue; // the transaction spends it twice
        spenders->second.erase(orphan->first);
        if (spenders->second.empty()) m_spenders.erase(spenders);
    }
    m_orphans.erase(orphan);
}

/** Removes the peer's oldest announcement; orphans that are ready for a check come last. */
void OrphanPool::RemoveOldest(const Share& share, PeerId peer)
{
    const auto& list = share.waiting.empty() ? share.ready : share.waiting;
    Remove(m_orphans.find(list.begin()->second), peer);
}

void OrphanPool::EraseAll(Orphans::iterator orphan)
{
    const TransactionRef tx = orphan->second.tx;
    const size_t count = orphan->second.peers.size();
    for (size_t left = count; left > 0; --left) Remove(orphan, orphan->second.peers.begin()->first);
    m_log.Debug(LogCategory::kTxPackages, "removed orphan tx {} (wtxid={}) ({} announcements)",
                tx->Id().ToHex(), tx->WitnessId().ToHex(), count);
}

TransactionRef OrphanPool::Find(const Wtxid& id) const
{
    const auto orphan = m_orphans.find(id);
    return orphan == m_orphans.end() ? nullptr : orphan->second.tx;
}

bool OrphanPool::IsOf(const Wtxid& id, PeerId peer) const
{
    const auto orphan = m_orphans.find(id);
    return orphan != m_orphans.end() && orphan->second.peers.contains(peer);
}

void OrphanPool::VisitSpenders(
    const Txid& parent, const std::function<void(const OutPoint&, const Wtxid&)>& visit) const
{
    for (auto it = m_spenders.lower_bound({parent, 0});
         it != m_spenders.end() && it->first.txid == parent; ++it) {
        for (const Wtxid& id : it->second) visit(it->first, id);
    }
}

void OrphanPool::ParentCame(const TxView& parent)
{
    VisitSpenders(parent.txid, [&](const OutPoint& spent, const Wtxid& id) {
        if (spent.vout < parent.outputs.size()) MakeReady(id);
    });
}

/** Assigns the orphan to a random announcer. Otherwise a peer could get it assigned, and prevent
 *  its check by disconnecting. */
void OrphanPool::MakeReady(const Wtxid& id)
{
    Kept& kept = m_orphans.at(id);
    if (kept.ready) return;
    const auto skip = static_cast<std::ptrdiff_t>(m_random(kept.peers.size()));
    const auto [peer, sequence] = *std::next(kept.peers.begin(), skip);
    kept.ready = peer;
    Share& share = m_shares.at(peer);
    share.waiting.erase(sequence);
    share.ready[sequence] = id;
    m_log.Debug(LogCategory::kTxPackages, "added {} (wtxid={}) to peer {} workset",
                kept.tx->Id().ToHex(), id.ToHex(), peer);
}

bool OrphanPool::HasReady(PeerId peer) const
{
    const auto share = m_shares.find(peer);
    return share != m_shares.end() && !share->second.ready.empty();
}

TransactionRef OrphanPool::TakeReady(PeerId peer)
{
    if (!HasReady(peer)) return nullptr;
    Share& share = m_shares.at(peer);
    const auto [sequence, id] = *share.ready.begin();
    share.ready.erase(sequence);
    share.waiting[sequence] = id;
    Kept& kept = m_orphans.at(id);
    kept.ready.reset();
    return kept.tx;
}

std::vector<TransactionRef> OrphanPool::ChildrenFrom(const Txid& parent, PeerId peer) const
{
    std::map<std::pair<bool, uint64_t>, TransactionRef> found; // by readiness, then sequence
    VisitSpenders(parent, [&](const OutPoint&, const Wtxid& id) {
        const Kept& kept = m_orphans.at(id);
        const auto announced = kept.peers.find(peer);
        if (announced == kept.peers.end()) return;
        found[{kept.ready == peer, announced->second}] = kept.tx;
    });
    std::vector<TransactionRef> out;
    for (auto it = found.rbegin(); it != found.rend(); ++it) out.push_back(it->second);
    return out;
}

bool OrphanPool::Erase(const Wtxid& id)
{
    const auto orphan = m_orphans.find(id);
    if (orphan == m_orphans.end()) return false;
    EraseAll(orphan);
    Trim(); // a peer without orphans adds nothing to the allowed weight
    return true;
}

void OrphanPool::Disconnected(PeerId peer)
{
    size_t count = 0;
    for (auto share = m_shares.find(peer); share != m_shares.end(); share = m_shares.find(peer)) {
        RemoveOldest(share->second, peer);
        ++count;
    }
    if (count == 0) return;
    m_log.Debug(LogCategory::kTxPackages, "Erased {} orphan transaction(s) from peer={}", count,
                peer);
    Trim();
}

void OrphanPool::EraseSpenders(std::span<const OutPoint> spent)
{
    if (m_orphans.empty()) return;
    std::set<Wtxid> ids;
    for (const OutPoint& outpoint : spent) {
        const auto spenders = m_spenders.find(outpoint);
        if (spenders != m_spenders.end()) {
            ids.insert(spenders->second.begin(), spenders->second.end());
        }
    }
    for (const Wtxid& id : ids) EraseAll(m_orphans.find(id));
    if (ids.empty()) return;
    m_log.Debug(LogCategory::kTxPackages,
                "Erased {} orphan transaction(s) included or conflicted by block", ids.size());
    Trim();
}

std::vector<OrphanPool::Orphan> OrphanPool::All() const
{
    std::vector<Orphan> out;
    for (const auto& [id, kept] : m_orphans) {
        Orphan& orphan = out.emplace_back();
        orphan.tx = kept.tx;
        for (const auto& [peer, sequence] : kept.peers) orphan.peers.insert(peer);
    }
    return out;
}

int64_t OrphanPool::Latency() const
{
    return m_input_latency + static_cast<int64_t>(m_announcements);
}

int64_t OrphanPool::WeightOf(PeerId peer) const
{
    const auto share = m_shares.find(peer);
    return share == m_shares.end() ? 0 : share->second.weight;
}

bool OrphanPool::IsTooLarge() const
{
    const auto peers = static_cast<int64_t>(std::max<size_t>(m_shares.size(), 1));
    return Latency() > kMaxLatency || m_weight > kWeightOfPeer * peers;
}

/** If several peers are equally bad, the youngest of them. */
PeerId OrphanPool::Worst(int64_t allowed_latency) const
{
    PeerId worst = -1;
    Excess most;
    for (const auto& [peer, share] : m_shares) {
        const Excess excess =
            std::max(Excess{share.latency, allowed_latency}, Excess{share.weight, kWeightOfPeer});
        if (worst != -1 && excess < most) continue;
        worst = peer;
        most = excess;
    }
    return worst;
}

void OrphanPool::Trim()
{
    if (!IsTooLarge()) return;
    const size_t orphans_before = m_orphans.size();
    const size_t announced_before = m_announcements;
    // Fixed before the loop, in which peers may lose all orphans.
    const int64_t allowed_latency =
        std::max<int64_t>(kMaxLatency / static_cast<int64_t>(m_shares.size()), 1);
    while (IsTooLarge()) {
        const PeerId peer = Worst(allowed_latency);
        const size_t had = m_shares.at(peer).Count();
        size_t removed = 0;
        do {
            RemoveOldest(m_shares.at(peer), peer);
            ++removed;
        } while (IsTooLarge() && Worst(allowed_latency) == peer);
        m_log.Debug(LogCategory::kTxPackages,
                    "peer={} orphanage overflow, removed {} of {} announcements", peer, removed,
                    had);
    }
    m_log.Debug(LogCategory::kTxPackages, "orphanage overflow, removed {} tx ({} announcements)",
                orphans_before - m_orphans.size(), announced_before - m_announcements);
}

} // namespace ibd
