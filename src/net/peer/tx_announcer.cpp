// See tx_announcer.h.
#include "net/peer/tx_announcer.h"

#include "net/wire/stripped.h"

#include <cmath>

namespace ibd {

namespace {

__extension__ typedef __int128 Int128;

/** Whether it pays at least this rate; a peer may set a rate up to MAX_MONEY. */
bool Pays(const PeerPool::Entry& entry, Amount rate)
{
    return Int128{entry.fee} * 1'000 >= Int128{rate} * entry.vsize;
}

} // namespace

TxAnnouncer::TxAnnouncer(PeerSet& peers, BloomFilters& bloom, RecentBlock& recent)
    : m_peers(peers), m_bloom(bloom), m_recent(recent),
      m_rounder(m_at.pool ? m_at.pool->IncrementalRate() : 0)
{
}

int64_t TxAnnouncer::RandomDelay(int64_t mean) const
{
    const double chance = static_cast<double>(m_peers.Random64() >> 11) * 0x1p-53;
    return static_cast<int64_t>(-std::log1p(-chance) * static_cast<double>(mean));
}

void TxAnnouncer::Negotiate(Peer& peer)
{
    if (!peer.may_get_txs) return;
    m_states[peer].known.emplace(kKnown, SipKey{m_peers.Random64(), m_peers.Random64()});
}

void TxAnnouncer::Describe(const Peer& peer, PeerInfo& info) const
{
    const State& state = m_states[peer];
    info.fee_filter = state.fee_filter;
    if (!peer.may_get_txs) return;
    info.last_inventory = state.last_sequence;
    info.to_announce = state.waiting.Count();
}

TxKey TxAnnouncer::KeyOf(const Peer& peer, const Transaction& tx) const
{
    if (peer.wtxid_relay) return {tx.WitnessId(), true};
    return {tx.Id(), false};
}

/** Before the end of the handshake no transaction is queued: the first announcements would reveal
 *  which transactions arrived at that moment. */
void TxAnnouncer::Announce(const Transaction& tx)
{
    const auto entry = Pool()->Find({tx.WitnessId(), true});
    if (!entry) return; // it has left the pool already
    for (const auto& [id, peer] : m_peers.All()) {
        State& state = m_states[*peer];
        if (state.next_send == 0 || peer->closing) continue;
        if (!state.known->Contains(KeyOf(*peer, tx).hash.Span())) {
            state.waiting.Come(tx.WitnessId(), entry->mining_rate);
        }
    }
}

void TxAnnouncer::NoteKnown(Peer& peer, const Uint256& id)
{
    if (peer.may_get_txs) m_states[peer].known->Insert(id.Span());
}

void TxAnnouncer::SetFeeFilter(Peer& peer, Amount rate)
{
    if (peer.may_get_txs) m_states[peer].fee_filter = rate;
}

void TxAnnouncer::RequestPool(Peer& peer) { m_states[peer].wants_pool = peer.may_get_txs; }

void TxAnnouncer::StartRound()
{
    if (!Pool()) return;
    m_full_rate = Pool()->FullRate();
}

void TxAnnouncer::AnnounceAgain()
{
    if (!Pool()) return;
    for (const PeerPool::Entry& entry : Pool()->Unbroadcast()) Announce(*entry.tx);
}

void TxAnnouncer::Maintain(Peer& peer)
{
    if (!Pool()) return;
    if (peer.may_get_txs) {
        State& state = m_states[peer];
        state.waiting.GiveTurns(*Pool());
        const bool due = state.next_send < m_peers.Now();
        if (due) state.next_send = NextSend(peer);
        if (due || peer.Permits(kPermitNoBan)) SendTrickle(peer);
    }
    MaintainFeeFilter(peer);
}

int64_t TxAnnouncer::NextSend(const Peer& peer)
{
    const int64_t now = m_peers.Now();
    if (!peer.IsInbound()) return now + RandomDelay(kOutboundInterval);
    int64_t& next = m_next_to_inbound[{peer.connection.Network(), peer.connection.local}];
    if (next < now) next = now + RandomDelay(kInboundInterval);
    return next;
}

/** Whether the peer's filters let the transaction pass. */
bool TxAnnouncer::Wants(Peer& peer, const PeerPool::Entry& entry)
{
    return Pays(entry, m_states[peer].fee_filter) && m_bloom.Match(peer, entry.tx->View());
}

void TxAnnouncer::SendTrickle(Peer& peer)
{
    State& state = m_states[peer];
    if (!peer.wants_txs) state.waiting.Clear();
    InvMessage message;
    if (std::exchange(state.wants_pool, false)) AppendPool(peer, message);
    if (state.waiting.Count() > 0) AppendWaiting(peer, message);
    if (!message.list.items.empty()) m_peers.Send(peer, message);
    // The peer may request all transactions that were in the pool at the time of its announcements.
    state.last_sequence = Pool()->Sequence();
}

void TxAnnouncer::Push(Peer& peer, InvMessage& message, const Transaction& tx)
{
    const TxKey key = KeyOf(peer, tx);
    m_states[peer].known->Insert(key.hash.Span());
    auto& items = message.list.items;
    items.push_back({key.is_wtxid ? kInvWtx : kInvTx, key.hash});
    if (items.size() < kMaxInventory) return;
    m_peers.Send(peer, message);
    items.clear();
}

void TxAnnouncer::AppendPool(Peer& peer, InvMessage& message)
{
    for (const PeerPool::Entry& entry : Pool()->All()) {
        m_states[peer].waiting.Erase(entry.tx->WitnessId());
        if (Wants(peer, entry)) Push(peer, message, *entry.tx);
    }
}

void TxAnnouncer::AppendWaiting(Peer& peer, InvMessage& message)
{
    State& state = m_states[peer];
    const size_t most = std::min(kMostAtOnce, kAtOnce + state.waiting.Count() / 1'000 * 5);
    state.waiting.Announce(*Pool(), most, [&](const PeerPool::Entry& entry) {
        if (state.known->Contains(KeyOf(peer, *entry.tx).hash.Span()) || !Wants(peer, entry)) {
            return false;
        }
        Push(peer, message, *entry.tx);
        return true;
    });
}

std::optional<Bytes> TxAnnouncer::Serialized(const Peer& peer, const InventoryItem& item) const
{
    if (!Pool()) return std::nullopt;
    const auto entry = Pool()->Find({item.hash, item.type == kInvWtx});
    const TxView* tx = nullptr;
    if (entry && entry->sequence < m_states[peer].last_sequence) {
        tx = &entry->tx->View();
    } else {
        tx = m_recent.Find(item.hash);
    }
    if (!tx) return std::nullopt;
    Bytes payload;
    Writer writer(payload);
    if (item.type == kInvTx) {
        WriteStripped(writer, *tx);
    } else {
        writer.Raw(tx->raw);
    }
    Pool()->SetBroadcast(tx->txid);
    return payload;
}

/** Sends the peer the minimum fee rate of our pool. */
void TxAnnouncer::MaintainFeeFilter(Peer& peer)
{
    if (m_peers.Options().blocks_only || peer.common_version < kFeeFilterVersion) return;
    if (peer.Permits(kPermitForceRelay) || peer.Is(ConnectionKind::kBlockRelay)) return;
    State& state = m_states[peer];
    Amount rate = m_full_rate;
    if (m_at.chain.IsInitialBlockDownload()) {
        rate = kMaxMoney; // announcements are not used
    } else if (state.sent_fee_filter == m_rounder.Highest()) {
        state.next_fee_filter = 0;
    }
    const int64_t now = m_peers.Now();
    if (now > state.next_fee_filter) return SendFeeFilter(peer, rate);
    const bool differs =
        rate < 3 * state.sent_fee_filter / 4 || rate > 4 * state.sent_fee_filter / 3;
    if (differs && now + kFeeFilterSoon < state.next_fee_filter) {
        state.next_fee_filter = now + static_cast<int64_t>(m_peers.Random64() % kFeeFilterSoon);
    }
}

void TxAnnouncer::SendFeeFilter(Peer& peer, Amount rate)
{
    State& state = m_states[peer];
    const Amount rounded =
        std::max(m_rounder.Round(rate, m_peers.Random64()), Pool()->MinRelayRate());
    if (rounded != state.sent_fee_filter) m_peers.Send(peer, FeeFilterMessage{rounded});
    state.sent_fee_filter = rounded;
    state.next_fee_filter = m_peers.Now() + RandomDelay(kFeeFilterInterval);
}

} // namespace ibd
