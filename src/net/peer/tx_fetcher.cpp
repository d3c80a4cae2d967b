// See tx_fetcher.h.
#include "net/peer/tx_fetcher.h"

#include <algorithm>

namespace ibd {

namespace {

using Kind = RuleViolation::Kind;

std::vector<Txid> ParentsOf(const Transaction& tx)
{
    std::vector<Txid> out;
    for (const InputView& input : tx->inputs) out.push_back(input.Prevout().txid);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

/** Identifies a package in a filter of ids. */
Bytes IdOf(const TxFetcher::Package& package)
{
    Bytes out;
    for (const TransactionRef& tx : package) {
        const ByteSpan id = tx->WitnessId().Span();
        out.insert(out.end(), id.begin(), id.end());
    }
    return out;
}

const char* NameOf(const TxKey& key) { return key.is_wtxid ? "wtx" : "tx"; }

} // namespace

TxFetcher::TxFetcher(PeerSet& peers)
    : m_peers(peers), m_requests(RandomKey()),
      m_orphans(m_log, [this](uint64_t below) { return m_peers.Random64() % below; }),
      m_rejects(kRememberedRejects, RandomKey()), m_reconsiderable(kRememberedRejects, RandomKey()),
      m_confirmed(kRememberedConfirmed, RandomKey())
{
}

void TxFetcher::Established(const Peer& peer) { m_wtxid_peers += peer.wtxid_relay; }

void TxFetcher::Disconnected(const Peer& peer)
{
    m_orphans.Disconnected(peer.Id());
    m_requests.Disconnected(peer.Id());
    if (peer.established) m_wtxid_peers -= peer.wtxid_relay;
}

/** A txid does not identify an orphan, because another transaction with that txid may have another
 *  witness, unless the wtxid is the same. Otherwise a peer that sent a changed witness could keep
 *  us from requesting the right one. */
bool TxFetcher::IsKnown(const TxKey& key, bool with_reconsiderable) const
{
    const ByteSpan id = key.hash.Span();
    return m_orphans.Has(key.hash) || (with_reconsiderable && m_reconsiderable.Contains(id)) ||
           m_confirmed.Contains(id) || m_rejects.Contains(id) || Pool().Has(key);
}

int64_t TxFetcher::DelayOf(const Peer& peer, bool by_txid) const
{
    int64_t delay = 0;
    if (!peer.IsPreferredSource()) delay += kNonPreferredDelay;
    if (by_txid && m_wtxid_peers > 0) delay += kTxidDelay;
    if (!peer.Permits(kPermitRelay) && m_requests.InFlight(peer.Id()) >= kMaxInFlight) {
        delay += kOverloadedDelay;
    }
    return delay;
}

bool TxFetcher::HasRoom(const Peer& peer, size_t announcements) const
{
    return peer.Permits(kPermitRelay) ||
           m_requests.CountOf(peer.Id()) + announcements <= kMaxAnnouncements;
}

bool TxFetcher::Announced(const Peer& peer, const TxKey& key)
{
    if (AnnouncedOrphan(peer, key)) return true;
    if (IsKnown(key, true)) return true;
    if (!HasRoom(peer, 1)) return false;
    m_requests.Announced(peer.Id(), key, peer.IsPreferredSource(),
                         m_peers.Now() + DelayOf(peer, !key.is_wtxid));
    return false;
}

/** A peer that announces an orphan can be asked for its parents. False: it is not an orphan. */
bool TxFetcher::AnnouncedOrphan(const Peer& peer, const TxKey& key)
{
    const TransactionRef orphan = key.is_wtxid ? m_orphans.Find(key.hash) : nullptr;
    if (!orphan) return false;
    // An inv may name it thousands of times, and it may have thousands of parents.
    if (m_orphans.IsOf(key.hash, peer.Id()) || !HasRoom(peer, 1)) return true;
    std::vector<Txid> parents = ParentsOf(*orphan);
    // A parent may be an orphan as well: it is not requested, and may take long.
    const bool waits = std::any_of(parents.begin(), parents.end(),
                                   [this](const Txid& id) { return m_orphans.Has(id); });
    RemoveKnown(parents);
    // Without missing parents it will be tried again soon.
    if ((waits || !parents.empty()) && AskForParents(peer, parents, key.hash)) {
        m_orphans.Add(orphan, peer.Id());
    }
    return true;
}

/** Parents that were refused for their fee are still requested: an orphan may pay for one. */
void TxFetcher::RemoveKnown(std::vector<Txid>& parents) const
{
    std::erase_if(parents, [&](const Txid& id) { return IsKnown({id, false}, false); });
}

/** Treats the peer as if it had announced the parents. False: it may not announce more. */
bool TxFetcher::AskForParents(const Peer& peer, const std::vector<Txid>& parents,
                              const Wtxid& orphan)
{
    if (m_orphans.IsOf(orphan, peer.Id()) || !HasRoom(peer, parents.size())) return false;
    const int64_t time = m_peers.Now() + DelayOf(peer, true);
    for (const Txid& parent : parents) {
        m_requests.Announced(peer.Id(), {parent, false}, peer.IsPreferredSource(), time);
    }
    m_log.Debug(LogCategory::kTxPackages, "added peer={} as a candidate for resolving orphan {}",
                peer.Id(), orphan.ToHex());
    return true;
}

std::vector<TxKey> TxFetcher::ToRequest(const Peer& peer,
                                        const std::function<bool(const Uint256&)>& busy)
{
    std::vector<TxRequests::Expired> expired;
    const std::vector<TxKey> keys = m_requests.Requestable(peer.Id(), m_peers.Now(), expired);
    for (const TxRequests::Expired& late : expired) {
        m_log.Debug(LogCategory::kNet, "timeout of inflight {} {} from peer={}", NameOf(late.key),
                    late.key.hash.ToHex(), late.peer);
    }
    std::vector<TxKey> out;
    for (const TxKey& key : keys) {
        if (busy(key.hash)) continue; // the verdict will decide whether it is still wanted
        if (IsKnown(key, false)) {
            m_requests.Forget(key.hash);
            continue;
        }
        m_log.Debug(LogCategory::kNet, "Requesting {} {} peer={}", NameOf(key), key.hash.ToHex(),
                    peer.Id());
        m_requests.Requested(peer.Id(), key.hash, m_peers.Now() + kRequestTime);
        out.push_back(key);
    }
    return out;
}

void TxFetcher::NotFound(const Peer& peer, const InventoryList& list)
{
    for (const InventoryItem& item : list.items) {
        if (item.IsTx()) m_requests.Answered(peer.Id(), item.hash);
    }
}

TxFetcher::Arrival TxFetcher::Arrived(PeerId peer, const TransactionRef& tx)
{
    m_requests.Answered(peer, tx->Id());
    m_requests.Answered(peer, tx->WitnessId());
    if (IsKnown({tx->WitnessId(), true}, false)) return {};
    if (!m_reconsiderable.Contains(tx->WitnessId().Span())) return {.check = true, .package = {}};
    m_log.Debug(LogCategory::kTxPackages,
                "found tx {} (wtxid={}) in reconsiderable rejects, looking for child in orphanage",
                tx->Id().ToHex(), tx->WitnessId().ToHex());
    return {.check = false, .package = PackageOf(peer, tx)};
}

/** The newest child from the same peer with which it was not refused yet. Children from other peers
 *  are not used: they could make this fail on purpose. */
TxFetcher::Package TxFetcher::PackageOf(PeerId peer, const TransactionRef& parent) const
{
    for (const TransactionRef& child : m_orphans.ChildrenFrom(parent->Id(), peer)) {
        Package package{parent, child};
        if (!m_reconsiderable.Contains(IdOf(package)) && !m_rejects.Contains(child->Id().Span())) {
            return package;
        }
    }
    return {};
}

void TxFetcher::Forget(const Transaction& tx)
{
    m_requests.Forget(tx.Id());
    m_requests.Forget(tx.WitnessId());
}

void TxFetcher::Accepted(const Transaction& tx)
{
    Forget(tx);
    m_orphans.ParentCame(tx.View());
    m_orphans.Erase(tx.WitnessId());
}

TxFetcher::Refusal TxFetcher::Refused(PeerId peer, const TransactionRef& tx,
                                      const RuleViolation& why, bool again)
{
    const Wtxid& wtxid = tx->WitnessId();
    // Another thread submitted it during the check, or a block confirmed it.
    if (Pool().Has({wtxid, true}) || m_confirmed.Contains(wtxid.Span())) {
        Accepted(*tx);
        return {};
    }
    Refusal out{.keep_extra = !again};
    if (why.kind == Kind::kMissingInputs) {
        if (!again && !m_rejects.Contains(wtxid.Span())) KeepOrphan(peer, tx, out);
        return out;
    }
    if (why.kind == Kind::kWitnessStripped) {
        out.keep_extra = false;
    } else if (why.kind == Kind::kReconsiderable) {
        m_reconsiderable.Insert(wtxid.Span());
        if (!again) FindPackage(peer, tx, out);
        m_requests.Forget(wtxid);
    } else {
        m_rejects.Insert(wtxid.Span());
        m_requests.Forget(wtxid);
        // The spent scripts are at fault, so no other witness helps.
        if (why.kind == Kind::kInputsNotStandard && (*tx)->has_witness) {
            m_rejects.Insert(tx->Id().Span());
            m_requests.Forget(tx->Id());
        }
    }
    if (m_orphans.Erase(wtxid)) {
        m_log.Debug(LogCategory::kTxPackages, "   removed orphan tx {} (wtxid={})",
                    tx->Id().ToHex(), wtxid.ToHex());
    }
    return out;
}

void TxFetcher::FindPackage(PeerId peer, const TransactionRef& parent, Refusal& out) const
{
    m_log.Debug(LogCategory::kTxPackages,
                "tx {} (wtxid={}) failed but reconsiderable, looking for child in orphanage",
                parent->Id().ToHex(), parent->WitnessId().ToHex());
    out.package = PackageOf(peer, parent);
}

/** Whether they cannot be accepted, even if the orphan pays for one of them. */
bool TxFetcher::HasRefusedParents(const std::vector<Txid>& parents) const
{
    size_t reconsiderable = 0;
    for (const Txid& parent : parents) {
        if (m_rejects.Contains(parent.Span())) return true;
        if (!m_reconsiderable.Contains(parent.Span()) || Pool().Has({parent, false})) continue;
        if (++reconsiderable > 1) return true;
    }
    return false;
}

/** All peers that have announced it are asked for the parents, and count as its announcers. A
 *  transaction announced by wtxid stays wanted if only the txid is the same: otherwise a peer that
 *  sent a wrong witness could keep us from requesting the transaction without a witness. */
void TxFetcher::KeepOrphan(PeerId peer, const TransactionRef& tx, Refusal& out)
{
    std::vector<Txid> parents = ParentsOf(*tx);
    if (HasRefusedParents(parents)) {
        m_log.Debug(LogCategory::kMempool, "not keeping orphan with rejected parents {} (wtxid={})",
                    tx->Id().ToHex(), tx->WitnessId().ToHex());
        // No witness can help, so the txid is enough to refuse it.
        m_rejects.Insert(tx->Id().Span());
        m_rejects.Insert(tx->WitnessId().Span());
        return Forget(*tx);
    }
    RemoveKnown(parents);
    out.keep_extra = !m_orphans.Has(tx->WitnessId());
    std::vector<PeerId> candidates{peer};
    m_requests.AddCandidates({tx->WitnessId(), true}, candidates);
    if ((*tx)->has_witness) m_requests.AddCandidates({tx->Id(), false}, candidates);
    for (const PeerId id : candidates) {
        const Peer* const candidate = m_peers.Find(id);
        if (!candidate || !AskForParents(*candidate, parents, tx->WitnessId())) continue;
        m_orphans.Add(tx, id);
    }
    m_requests.ForgetTxid(tx->Id());
    m_requests.Forget(tx->WitnessId());
    out.missing_parents = std::move(parents);
}

void TxFetcher::PackageRefused(const Package& package) { m_reconsiderable.Insert(IdOf(package)); }

void TxFetcher::TipChanged()
{
    m_rejects.Clear();
    m_reconsiderable.Clear();
}

void TxFetcher::BlockConnected(const BlockView& block, std::span<const Wtxid> witness_ids)
{
    std::vector<OutPoint> spent;
    const auto txs = block.Txs();
    for (size_t i = 0; i < txs.size(); ++i) {
        for (const InputView& input : txs[i].inputs) spent.push_back(input.Prevout());
        for (const Uint256* const id : {&txs[i].txid, &witness_ids[i]}) {
            m_requests.Forget(*id);
            if (id == &txs[i].txid || txs[i].has_witness) m_confirmed.Insert(id->Span());
        }
    }
    m_orphans.EraseSpenders(spent);
}

} // namespace ibd
