// See private_relay.h.
#include "net/peer/private_relay.h"

#include "util/strings.h"

namespace ibd {

namespace {

constexpr LogCategory kLog = LogCategory::kPrivateBroadcast;

std::string NameOf(const Transaction& tx, const char* comma)
{
    return fmt::format("txid={}{} wtxid={}", tx.Id().ToHex(), comma, tx.WitnessId().ToHex());
}

} // namespace

// Users.

PrivateAddition PrivateRelay::Send(const TransactionRef& tx)
{
    const PrivateAddition out = m_queue.Add(tx, m_peers.NowSeconds());
    const std::string name = NameOf(*tx, ",");
    switch (out) {
    case PrivateAddition::kAdded:
        m_at.log.Debug(kLog, "Requesting {} new connections due to {}", kSends, name);
        m_missing += kSends;
        break;
    case PrivateAddition::kThere:
        m_at.log.Debug(
            kLog, "Ignoring unnecessary request to schedule an already scheduled transaction: {}",
            name);
        break;
    case PrivateAddition::kFull:
        m_at.log.Debug(kLog, "Rejecting private broadcast, queue full (cap={}): {}",
                       PrivateQueue::kMaxTxs, name);
        break;
    }
    return out;
}

std::vector<TransactionRef> PrivateRelay::Abort(const Uint256& id)
{
    std::vector<TransactionRef> out;
    for (const PrivateTx& entry : m_queue.All()) {
        const Transaction& tx = *entry.tx;
        if (tx.Id() != id && tx.WitnessId() != id) continue;
        NeedFewer(*m_queue.Remove(tx.WitnessId()));
        out.push_back(entry.tx);
    }
    return out;
}

/** Logs that a transaction was removed after this many peers confirmed it. */
void PrivateRelay::NeedFewer(size_t confirmed)
{
    if (confirmed < kSends) m_missing -= std::min(m_missing, kSends - confirmed);
}

// Connections.

void PrivateRelay::Connected(Peer& peer)
{
    if (!peer.IsPrivate()) return;
    m_missing -= std::min<size_t>(m_missing, 1);
    m_at.log.Debug(kLog, "Socket connected to {}; remaining connections to open: {}",
                   peer.connection.name, m_missing);
}

void PrivateRelay::Established(Peer& peer)
{
    if (peer.IsPrivate()) return SendInv(peer);
    const NetAddress& address = peer.connection.address.address;
    if (!peer.IsInbound() && address.Is(AddressNetwork::kOnion)) m_tor_works = true;
}

/** A send without confirmation is repeated to another peer. */
void PrivateRelay::Disconnected(Peer& peer)
{
    if (!peer.IsPrivate()) return;
    if (!m_queue.Forget(peer.Id()) && !m_queue.IsEmpty()) ++m_missing;
}

void PrivateRelay::Drop(Peer& peer, const std::string& why)
{
    m_at.log.Debug(kLog, "Disconnecting: {}, {}", why, m_peers.NameOf(peer));
    m_peers.Close(peer);
}

/** The peer may have a fee filter, and drop the transaction: others get it too. */
void PrivateRelay::SendInv(Peer& peer)
{
    const TransactionRef tx =
        m_queue.Pick(peer.Id(), peer.connection.address, m_peers.NowSeconds());
    if (!tx) return Drop(peer, "no more transactions for private broadcast (connected in vain)");
    const bool witness = tx->Id() != tx->WitnessId();
    m_at.log.Debug(kLog, "P2P handshake completed, sending INV for txid={}{}, {}", tx->Id().ToHex(),
                   witness ? ", wtxid=" + tx->WitnessId().ToHex() : "", m_peers.NameOf(peer));
    InvMessage message;
    message.list.items = {{kInvTx, tx->Id()}};
    m_peers.Send(peer, message);
}

void PrivateRelay::HandlePrivate(Peer& peer, ReceivedMessage& message)
{
    if (message.type == GetDataMessage::kType) return HandleGetData(peer, message.payload);
    if (message.type != PongMessage::kType) {
        m_at.log.Debug(kLog, "Ignoring incoming message '{}', {}", SafeCharacters(message.type),
                       m_peers.NameOf(peer));
        return;
    }
    if (!m_keepalive.TakePong(peer, message.payload)) return;
    m_queue.Confirm(peer.Id(), m_peers.NowSeconds());
    m_at.log.Debug(kLog,
                   "Got a PONG (the transaction will probably reach the network), marking for "
                   "disconnect, {}",
                   m_peers.NameOf(peer));
    m_peers.Close(peer);
}

void PrivateRelay::HandleGetData(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<GetDataMessage>(payload);
    if (!message) return;
    const TransactionRef tx = m_queue.TxOf(peer.Id());
    if (!tx) return Drop(peer, "got GETDATA without sending an INV");
    const auto& items = message->list.items;
    if (items.size() != 1 || items[0].type != kInvTx || items[0].hash != tx->Id()) {
        return Drop(peer, "got an unexpected GETDATA message");
    }
    m_peers.SendRaw(
        peer, {std::string(TxMessage::kType), Bytes(tx->View().raw.begin(), tx->View().raw.end())});
    m_keepalive.Ping(peer);
}

void PrivateRelay::DropSlow()
{
    for (const auto& [id, peer] : m_peers.All()) {
        if (!peer->IsPrivate() || peer->closing) continue;
        if (peer->connected * kSecond + kMaxLifetime >= m_peers.Now()) continue;
        Drop(*peer, fmt::format("did not complete the transaction send within {} seconds",
                                kMaxLifetime / kSecond));
    }
}

// The network and the pool.

void PrivateRelay::TakeBack(const Peer& peer, const Transaction& tx)
{
    const auto confirmed = m_queue.Remove(tx.WitnessId());
    if (!confirmed) return;
    m_at.log.Debug(kLog,
                   "Received our privately broadcast transaction (txid={}) from the network from "
                   "{}; stopping private broadcast attempts",
                   tx.Id().ToHex(), m_peers.NameOf(peer));
    NeedFewer(*confirmed);
}

void PrivateRelay::StartRound()
{
    DropSlow();
    if (!m_at.pool) return;
    OfferNext();
}

void PrivateRelay::FindStale()
{
    if (!m_stale.empty()) return; // the pool is still busy with the last ones
    const std::vector<TransactionRef> stale = m_queue.Stale(m_peers.NowSeconds());
    m_stale.assign(stale.begin(), stale.end());
}

/** One at a time: transactions of peers wait behind it. */
void PrivateRelay::OfferNext()
{
    if (m_is_judged || m_stale.empty()) return;
    TxOffer offer;
    offer.txs = {m_stale.front()};
    offer.is_test = true;
    if (!m_at.pool->HasRoom(offer.Bytes())) return;
    m_is_judged = true;
    m_at.pool->Offer(std::move(offer));
}

/** A transaction that the pool would refuse has been mined, or never will be. */
void PrivateRelay::TakeVerdict(const TxAnswer& answer)
{
    CHECK(m_is_judged);
    m_is_judged = false;
    m_stale.pop_front();
    const Transaction& tx = *answer.offer.txs[0];
    if (!answer.txs[0]) return; // the node is about to stop
    const RuleResult& violation = answer.txs[0]->violation;
    if (violation) {
        m_at.log.Debug(kLog, "Giving up broadcast attempts for {}: {}", NameOf(tx, ""),
                       violation->ToString());
        (void)m_queue.Remove(tx.WitnessId());
        return;
    }
    if (!m_queue.Has(tx.WitnessId())) return; // it was received back meanwhile
    m_at.log.Debug(kLog, "Reattempting broadcast of stale {}", NameOf(tx, ""));
    ++m_missing;
}

} // namespace ibd
