// See peer_manager.h.
#include "net/peer/peer_manager.h"

#include "util/strings.h"

namespace ibd {

namespace {

/** All requests of the message are served. */
void EndServing(PeerLink& link, Peer& peer)
{
    if (peer.serving) link.Consumed(peer.Id(), *std::exchange(peer.serving, {}));
}

} // namespace

PeerManager::PeerManager(PeerSurroundings surroundings, PeerOptions options)
    : m_peers(std::move(surroundings), std::move(options))
{
    // The order of due work, of answers to a verack, and of rounds.
    m_peers.SetTopics({&m_keepalive,  &m_gossip,        &m_reconciliation, &m_headers,
                       &m_packing,    &m_coins_feature, &m_blocks,         &m_compact,
                       &m_announcing, &m_serving,       &m_filters,        &m_spent_coins,
                       &m_packed,     &m_rotation,      &m_hints,          &m_tx_announcer,
                       &m_txs,        &m_bloom,         &m_handshake,      &m_private},
                      {&m_handshake, &m_private});
}

PeerTopic* PeerManager::TopicOf(MessageTopic topic)
{
    switch (topic) {
    case MessageTopic::kNone: return nullptr;
    case MessageTopic::kHandshake: return &m_handshake;
    case MessageTopic::kKeepalive: return &m_keepalive;
    case MessageTopic::kAddresses: return &m_gossip;
    case MessageTopic::kHeaders: return &m_headers;
    case MessageTopic::kBlocks: return &m_blocks;
    case MessageTopic::kCompact: return &m_compact;
    case MessageTopic::kAnnouncing: return &m_announcing;
    case MessageTopic::kServing: return &m_serving;
    case MessageTopic::kFilters: return &m_filters;
    case MessageTopic::kTransactions: return &m_txs;
    case MessageTopic::kReconciliation: return &m_reconciliation;
    case MessageTopic::kBloom: return &m_bloom;
    case MessageTopic::kHints: return &m_hints;
    case MessageTopic::kSpentCoins: return &m_spent_coins;
    case MessageTopic::kPacked: return &m_packed;
    }
    return nullptr;
}

void PeerManager::Connected(NewPeer connection)
{
    Peer& peer = m_peers.Add(std::move(connection));
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Connected(peer);
}

void PeerManager::Received(PeerId id, ReceivedMessage message)
{
    Peer* const peer = m_peers.Find(id);
    if (!peer || peer->closing) {
        m_at.link.Consumed(id, message.payload.size());
        return;
    }
    peer->unread.push_back(std::move(message));
}

void PeerManager::Disconnected(PeerId id)
{
    Peer* const peer = m_peers.Find(id);
    if (!peer) return;
    for (PeerTopic* const topic : m_peers.TopicsOf(*peer)) topic->Disconnected(*peer);
    m_at.log.Debug(LogCategory::kNet, "Cleared nodestate for peer={}", id);
    m_peers.Remove(*peer);
}

void PeerManager::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    for (PeerTopic* const topic : m_peers.Topics()) topic->TipChanged(tip, fork);
}

bool PeerManager::Work()
{
    bool more = false;
    for (PeerTopic* const topic : m_peers.Topics()) {
        topic->StartRound();
        more |= topic->HasMore();
    }
    const int64_t end = m_at.env.MonotonicMicros() + kWorkTime;
    const uint64_t steps = m_steps;
    const auto& all = m_peers.All();
    // If there is more work than fits, blocks do not wait for their peer's turn.
    const bool is_full = m_next || more;
    for (auto it = all.begin(); is_full && it != all.end(); ++it) {
        if (BringsBlock(*it->second)) more |= WorkOn(*it->second);
    }
    auto it = m_next ? all.lower_bound(*m_next) : all.begin();
    m_next.reset();
    for (size_t left = all.size(); left > 0; --left) {
        if (it == all.end()) it = all.begin();
        const uint64_t before = m_steps;
        more |= WorkOn(*it->second);
        ++it;
        m_idle = m_steps == before ? m_idle + 1 : 0;
        // If no peer has had a step, all are visited in one call, so that messages received
        // meanwhile are not missed.
        const bool may_stop = m_steps != steps || m_idle < all.size();
        if (left == 1 || !may_stop || m_at.env.MonotonicMicros() < end) continue;
        m_next = it == all.end() ? all.begin()->first : it->first;
        return true;
    }
    m_idle = 0;
    return more;
}

/** Returns whether more can be done at once. */
bool PeerManager::WorkOn(Peer& peer)
{
    bool more = false;
    // A verdict takes effect before later messages of the peer.
    if (!peer.closing) PunishIfMisbehaved(peer);
    if (!peer.closing) more = ReadOne(peer);
    if (!peer.closing) Maintain(peer);
    return more;
}

/** Whether its next message is a block, or a part of one, for which we asked. Only few peers are
 *  asked at a time, so these messages cannot delay the other peers for long. */
bool PeerManager::BringsBlock(const Peer& peer) const
{
    if (peer.closing || peer.unread.empty()) return false;
    const std::string& type = peer.unread.front().type;
    if (type != CompactBlockMessage::kType && type != BlockTxnMessage::kType &&
        type != BlockMessage::kType && type != PackedMessage::kType &&
        type != SpentCoinsMessage::kType) {
        return false;
    }
    return m_announcing.IsAnnouncer(peer) || m_blocks.IsAsked(peer);
}

/** Returns whether to call it again at once. Serves requests before reading further messages, so
 *  that answers keep their order and requests do not accumulate. */
bool PeerManager::ReadOne(Peer& peer)
{
    using Unserved = PeerTopic::Unserved;
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Serve(peer);
    if (peer.closing) return false;
    const bool ready = HasUnserved(peer, Unserved::kReady);
    const bool waiting = HasUnserved(peer, Unserved::kWaiting);
    if (!ready && !waiting) EndServing(m_at.link, peer);
    if (m_at.link.SendPaused(peer.Id())) return false;
    if (ready) {
        ++m_steps;
        return true;
    }
    if (waiting) return false;
    if (peer.unread.empty() || m_blocks.MustWait(peer, peer.unread.front())) return false;
    ReceivedMessage message = std::move(peer.unread.front());
    peer.unread.pop_front();
    ++m_steps;
    const size_t size = message.payload.size();
    Handle(peer, message);
    peer.serving = size;
    const bool unserved =
        HasUnserved(peer, Unserved::kReady) || HasUnserved(peer, Unserved::kWaiting);
    if (!unserved) EndServing(m_at.link, peer);
    return !peer.closing && (!peer.unread.empty() || unserved);
}

bool PeerManager::HasUnserved(const Peer& peer, PeerTopic::Unserved kind) const
{
    const auto& topics = m_peers.TopicsOf(peer);
    return std::any_of(topics.begin(), topics.end(),
                       [&](const PeerTopic* topic) { return topic->UnservedOf(peer) == kind; });
}

void PeerManager::Handle(Peer& peer, ReceivedMessage& message)
{
    const std::string type = SafeCharacters(message.type);
    m_at.log.Debug(LogCategory::kNet, "received: {} ({} bytes) peer={}", type,
                   message.payload.size(), peer.Id());
    if (!message.problem.empty()) {
        m_at.log.Debug(LogCategory::kNet, "{}, peer={}", message.problem, peer.Id());
        return;
    }
    if (m_at.capture) {
        m_at.capture->Keep(peer.connection.address, true, message.type, message.payload,
                           m_peers.Now());
    }
    const MessageRow* const row = FindMessage(message.type);
    if (!IsAtStage(peer, row, type)) return;
    if (peer.IsPrivate() && peer.established) return m_private.HandlePrivate(peer, message);
    if (!row) return m_peers.LogUnknown(peer, type);
    if (PeerTopic* const topic = TopicOf(row->topic)) topic->Handle(peer, message);
}

/** Whether the peer may send the message now; if not, logs why it is ignored. */
bool PeerManager::IsAtStage(const Peer& peer, const MessageRow* row, const std::string& type) const
{
    const MessageStage stage = row ? row->stage : MessageStage::kEstablished;
    if (stage == MessageStage::kFirst || peer.established) return true;
    if (!peer.version_received) {
        m_at.log.Debug(LogCategory::kNet,
                       "non-version message before version handshake. Message \"{}\" from peer={}",
                       type, peer.Id());
        return false;
    }
    if (stage == MessageStage::kNegotiation) return true;
    m_at.log.Debug(LogCategory::kNet, "Unsupported message \"{}\" prior to verack from peer={}",
                   type, peer.Id());
    return false;
}

/** Does the work that is due without a message. */
void PeerManager::Maintain(Peer& peer)
{
    if (PunishIfMisbehaved(peer)) return;
    if (m_keepalive.IsInactive(peer)) return m_peers.Close(peer);
    if (!peer.established) return;
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) {
        topic->Maintain(peer);
        if (peer.closing) return;
    }
}

/** Returns whether the peer was disconnected. */
bool PeerManager::PunishIfMisbehaved(Peer& peer)
{
    if (!std::exchange(peer.misbehaved, false)) return false;
    const NetAddress& address = peer.connection.address.address;
    if (peer.Permits(kPermitNoBan)) {
        m_at.log.Warning("Not punishing noban peer {}!", peer.Id());
        return false;
    }
    if (peer.Is(ConnectionKind::kManual)) {
        m_at.log.Warning("Not punishing manually connected peer {}!", peer.Id());
        return false;
    }
    if (address.IsLocal()) {
        // All peers on this machine, or of the hidden service, have the same address.
        m_at.log.Debug(LogCategory::kNet, "Warning: disconnecting but not discouraging {} peer {}!",
                       peer.connection.inbound_onion ? "inbound onion" : "local", peer.Id());
        m_peers.Close(peer);
        return true;
    }
    m_at.log.Debug(LogCategory::kNet, "Disconnecting and discouraging peer {}!", peer.Id());
    m_at.link.Discourage(address);
    for (const auto& [id, other] : m_peers.All()) {
        if (other->connection.address.address == address) m_peers.Close(*other);
    }
    return true;
}

bool PeerManager::Disconnect(PeerId id, const std::string& why)
{
    Peer* const peer = m_peers.Find(id);
    if (!peer) return false;
    if (!peer->closing) m_peers.Drop(*peer, why);
    return true;
}

bool PeerManager::SendTo(PeerId id, OutgoingMessage message)
{
    Peer* const peer = m_peers.Find(id);
    if (!peer || !peer->established || peer->closing) return false;
    m_peers.SendRaw(*peer, std::move(message));
    return true;
}

std::vector<PeerInfo> PeerManager::Info() const
{
    std::vector<PeerInfo> out;
    for (const auto& [id, peer] : m_peers.All()) out.push_back(InfoOf(*peer));
    return out;
}

PeerInfo PeerManager::InfoOf(const Peer& peer) const
{
    PeerInfo out;
    out.connection = peer.connection;
    out.traffic = m_at.link.Traffic(peer.Id());
    out.connected = peer.connected;
    out.services = peer.services;
    out.our_services = peer.our_services;
    out.version = peer.version;
    out.user_agent = peer.user_agent;
    out.start_height = peer.start_height;
    out.relays_txs = peer.wants_txs;
    out.established = peer.established;
    out.seen_as = peer.seen_as;
    out.has_desirable_services = m_peers.IsDesirable(peer.services);
    for (const PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Describe(peer, out);
    return out;
}

} // namespace ibd
