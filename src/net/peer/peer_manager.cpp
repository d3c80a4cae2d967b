// See peer_manager.h: a peer's life, its message queue, pings and punishment.
#include "net/peer/peer_manager.h"

#include "net/wire/message_table.h"
#include "util/strings.h"

namespace ibd {

const char* ConnectionKindName(ConnectionKind kind)
{
    switch (kind) {
    case ConnectionKind::kInbound: return "inbound";
    case ConnectionKind::kOutboundFullRelay: return "outbound-full-relay";
    case ConnectionKind::kManual: return "manual";
    case ConnectionKind::kFeeler: return "feeler";
    case ConnectionKind::kBlockRelay: return "block-relay-only";
    case ConnectionKind::kAddrFetch: return "addr-fetch";
    }
    return "";
}

bool IsAncestor(const HeaderNode& node, const HeaderNode& tip)
{
    return tip.Ancestor(node.height) == &node;
}

PeerManager::PeerManager(PeerSurroundings surroundings, PeerOptions options)
    : m_at(std::move(surroundings)),
      m_options(std::move(options)), m_relay_key{Random64(), Random64()}
{
}

void PeerManager::Connected(NewPeer connection)
{
    auto peer = std::make_unique<Peer>(std::move(connection));
    peer->connected = NowSeconds();
    peer->gossip.tokens_at = Now();
    peer->our_nonce = Random64();
    peer->our_services = m_options.services;
    if (peer->IsInbound() && peer->Permits(kPermitBloomFilter)) peer->our_services |= kNodeBloom;
    ShareSpoilt(*peer);
    const auto [position, inserted] = m_peers.emplace(peer->Id(), std::move(peer));
    CHECK(inserted);
    Peer& added = *position->second;
    if (!added.IsInbound()) SendVersion(added);
}

void PeerManager::Received(PeerId id, ReceivedMessage message)
{
    Peer* const peer = Find(id);
    if (!peer || peer->closing) {
        m_at.link.Consumed(id, message.payload.size());
        return;
    }
    peer->unread.push_back(std::move(message));
}

void PeerManager::Disconnected(PeerId id)
{
    if (m_downloader) m_downloader->Disconnected(id);
    if (m_hints) m_hints->Disconnected(id);
    if (Peer* const peer = Find(id)) {
        const bool was_called = peer->established && !peer->IsInbound();
        if (m_at.addresses && was_called && !peer->Is(ConnectionKind::kBlockRelay)) {
            m_at.addresses->Connected(peer->connection.address);
        }
        KeepSpoilt(*peer);
        m_at.log.Debug(LogCategory::kNet, "Cleared nodestate for peer={}", peer->Id());
        m_peers.erase(id);
    }
}

void PeerManager::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    if (m_downloader) {
        m_downloader->GoalChanged();
        ShortenStallTimeout(tip.height - fork.height);
    }
    m_last_tip_change = NowSeconds();
    if (m_at.chain.IsInitialBlockDownload()) return;
    // A long reorganisation is not announced in full: peers can request headers.
    std::vector<const HeaderNode*> fresh;
    for (const HeaderNode* node = &tip; node != &fork && fresh.size() < kMaxAnnouncements;
         node = node->prev) {
        fresh.push_back(node);
    }
    for (const auto& [id, peer] : m_peers) {
        peer->to_announce.insert(peer->to_announce.end(), fresh.rbegin(), fresh.rend());
        // One more than can be announced by headers, to detect that there are too many.
        while (peer->to_announce.size() > kMaxAnnouncements + 1) peer->to_announce.pop_front();
    }
}

bool PeerManager::Work()
{
    HandleVerdicts();
    MaintainExtra();
    MaintainHints();
    bool more = false;
    for (const auto& [id, peer] : m_peers) {
        // A verdict takes effect before later messages of the peer.
        if (!peer->closing) PunishIfMisbehaved(*peer);
        if (!peer->closing) more |= ReadOne(*peer);
        if (!peer->closing) Maintain(*peer);
    }
    return more;
}

/** Returns whether to call it again at once. Serves requests before reading further messages, so
 *  that answers keep their order and requests do not accumulate. */
bool PeerManager::ReadOne(Peer& peer)
{
    if (!peer.requests.empty()) ServeRequests(peer);
    if (!peer.hints.requests.empty()) ServeHints(peer);
    if (peer.closing || m_at.link.SendPaused(peer.Id())) return false;
    if (!peer.hints.requests.empty()) return true;
    if (!peer.requests.empty()) return !AwaitsChain(peer);
    if (peer.unread.empty() || MustWait(peer, peer.unread.front())) return false;
    ReceivedMessage message = std::move(peer.unread.front());
    peer.unread.pop_front();
    const size_t size = message.payload.size();
    Handle(peer, message);
    m_at.link.Consumed(peer.Id(), size);
    return !peer.closing &&
           (!peer.unread.empty() || !peer.requests.empty() || !peer.hints.requests.empty());
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
        m_at.capture->Keep(peer.connection.address, true, message.type, message.payload, Now());
    }
    if (message.type == VersionMessage::kType) return HandleVersion(peer, message.payload);
    if (!peer.version_received) {
        m_at.log.Debug(LogCategory::kNet,
                       "non-version message before version handshake. Message \"{}\" from peer={}",
                       type, peer.Id());
        return;
    }
    if (message.type == VerackMessage::kType) return HandleVerack(peer);
    if (HandleNegotiation(peer, message)) return;
    if (!peer.established) {
        m_at.log.Debug(LogCategory::kNet, "Unsupported message \"{}\" prior to verack from peer={}",
                       type, peer.Id());
        return;
    }
    HandleEstablished(peer, message);
}

void PeerManager::HandleEstablished(Peer& peer, ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == kBlockType) return HandleBlock(peer, std::move(message.payload));
    if (type == HeadersMessage::kType) return HandleHeaders(peer, message.payload);
    if (type == CompactBlockMessage::kType) return HandleCompactBlock(peer, message.payload);
    if (type == GetHeadersMessage::kType) return HandleGetHeaders(peer, message.payload);
    if (type == GetBlocksMessage::kType) return HandleGetBlocks(peer, message.payload);
    if (type == GetDataMessage::kType) return HandleGetData(peer, message.payload);
    if (type == GetBlockTxnMessage::kType) return HandleGetBlockTxn(peer, message.payload);
    if (type == BlockTxnMessage::kType) return HandleBlockTxn(peer, message.payload);
    if (type == InvMessage::kType) return HandleInv(peer, message.payload);
    if (HandleUpkeep(peer, message) || HandleHintsMessage(peer, message)) return;
    if (!IsCoreMessage(type)) {
        m_at.log.Debug(LogCategory::kNet, "Unknown message type \"{}\" from peer={}",
                       SafeCharacters(type), peer.Id());
    }
}

/** Handles short messages that change little; returns whether it was one. */
bool PeerManager::HandleUpkeep(Peer& peer, const ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == PingMessage::kType) {
        if (peer.common_version <= kPingNonceVersion) return true;
        if (const auto ping = Read<PingMessage>(peer, message.payload)) {
            Send(peer, PongMessage{ping->nonce});
        }
    } else if (type == PongMessage::kType) {
        HandlePong(peer, message.payload);
    } else if (type == FeeFilterMessage::kType) {
        const auto filter = Read<FeeFilterMessage>(peer, message.payload);
        if (filter && MoneyRange(filter->rate)) peer.fee_filter = filter->rate;
    } else if (type == GetAddrMessage::kType) {
        HandleGetAddr(peer);
    } else if (type == AddrMessage::kType || type == AddrV2Message::kType) {
        HandleAddresses(peer, message);
    } else {
        HandleTransactions(peer, message);
        HandleBloom(peer, message);
        HandleFilterRequest(peer, message);
        return false;
    }
    return true;
}

void PeerManager::HandlePong(Peer& peer, ByteSpan payload)
{
    const auto pong = Decode<PongMessage>(payload);
    const char* problem = nullptr;
    bool finished = false;
    if (!pong) {
        finished = true;
        problem = "Short payload";
    } else if (peer.ping_nonce == 0) {
        problem = "Unsolicited pong without ping";
    } else if (pong->nonce == peer.ping_nonce) {
        finished = true;
        const int64_t time = Now() - peer.ping_sent;
        if (time < 0) {
            problem = "Timing mishap";
        } else {
            peer.ping_time = time;
            peer.ping_shortest = peer.ping_shortest < 0 ? time : std::min(peer.ping_shortest, time);
        }
    } else if (pong->nonce == 0) {
        finished = true;
        problem = "Nonce zero";
    } else {
        problem = "Nonce mismatch"; // pings that overlap cause this
    }
    if (problem) {
        m_at.log.Debug(LogCategory::kNet,
                       "pong peer={}: {}, {:x} expected, {:x} received, {} bytes", peer.Id(),
                       problem, peer.ping_nonce, pong ? pong->nonce : 0, payload.size());
    }
    if (finished) peer.ping_nonce = 0;
}

/** Transactions are not exchanged: messages about them are ignored where they are permitted. */
void PeerManager::HandleTransactions(Peer& peer, const ReceivedMessage& message)
{
    if (message.type == TxMessage::kType) {
        const bool unwanted = peer.Is(ConnectionKind::kBlockRelay) ||
                              (m_options.blocks_only && !peer.Permits(kPermitRelay));
        if (unwanted) return Drop(peer, "transaction sent in violation of protocol");
        if (!m_at.chain.IsInitialBlockDownload()) IsReadable<TxMessage>(peer, message.payload);
    } else if (message.type == NotFoundMessage::kType) {
        IsReadable<NotFoundMessage>(peer, message.payload);
    } else if (message.type == MempoolMessage::kType && !peer.Permits(kPermitMempool) &&
               !peer.Permits(kPermitNoBan)) {
        if (!(peer.our_services & kNodeBloom)) {
            Drop(peer, "mempool request with bloom filters disabled");
        } else if (!m_at.link.MayUpload()) {
            Drop(peer, "mempool request with bandwidth limit reached");
        }
    }
}

/** Refuses requests for block filters (BIP157), which are not offered. */
void PeerManager::HandleFilterRequest(Peer& peer, const ReceivedMessage& message)
{
    const auto refuse = [&](const auto& request) {
        if (!request) return;
        Drop(peer,
             fmt::format("peer requested unsupported block filter type: {}", request->filter_type));
    };
    const std::string& type = message.type;
    if (type == GetCFiltersMessage::kType) refuse(Read<GetCFiltersMessage>(peer, message.payload));
    if (type == GetCFHeadersMessage::kType) {
        refuse(Read<GetCFHeadersMessage>(peer, message.payload));
    }
    if (type == GetCFCheckptMessage::kType) {
        refuse(Read<GetCFCheckptMessage>(peer, message.payload));
    }
}

/** Does the work that is due without a message. */
void PeerManager::Maintain(Peer& peer)
{
    if (PunishIfMisbehaved(peer)) return;
    if (IsInactive(peer)) return Close(peer);
    if (!peer.established) return;
    MaintainPing(peer);
    if (peer.closing) return;
    MaintainAddresses(peer);
    if (peer.closing) return;
    MaintainHeaders(peer);
    if (peer.closing) return;
    MaintainBlocks(peer);
    if (peer.closing) return;
    Announce(peer);
    SendInventory(peer);
}

void PeerManager::MaintainPing(Peer& peer)
{
    const int64_t now = Now();
    const bool checked = now / kSecond > peer.connected + m_options.handshake_seconds;
    if (checked && peer.ping_nonce != 0 && now > peer.ping_sent + kPeerTimeout) {
        return Drop(peer,
                    fmt::format("ping timeout: {:f}s", double(now - peer.ping_sent) / kSecond));
    }
    const bool due = peer.ping_nonce == 0 && now > peer.ping_sent + kPingInterval;
    if (!due && !peer.ping_wanted) return;
    peer.ping_wanted = false;
    peer.ping_sent = now;
    if (peer.common_version <= kPingNonceVersion) {
        peer.ping_nonce = 0;
        return SendRaw(peer, {std::string(PingMessage::kType), {}});
    }
    do {
        peer.ping_nonce = Random64();
    } while (peer.ping_nonce == 0);
    Send(peer, PingMessage{peer.ping_nonce});
}

/** Whether the connection is dead; logs it. */
bool PeerManager::IsInactive(const Peer& peer) const
{
    const int64_t now = NowSeconds();
    if (now <= peer.connected + m_options.handshake_seconds) return false;
    const PeerTraffic traffic = m_at.link.Traffic(peer.Id());
    constexpr int64_t kTimeoutSeconds = kPeerTimeout / kSecond;
    const std::string whom = "disconnecting " + NameOf(peer);
    if (traffic.last_receive == 0 || traffic.last_send == 0) {
        m_at.log.Debug(LogCategory::kNet, "socket no message in first {} seconds{}{}, {}",
                       m_options.handshake_seconds,
                       traffic.last_receive == 0 ? ", never received from peer" : "",
                       traffic.last_send == 0 ? ", never sent to peer" : "", whom);
    } else if (now > traffic.last_send + kTimeoutSeconds) {
        m_at.log.Debug(LogCategory::kNet, "socket sending timeout: {}s, {}",
                       now - traffic.last_send, whom);
    } else if (now > traffic.last_receive + kTimeoutSeconds) {
        m_at.log.Debug(LogCategory::kNet, "socket receive timeout: {}s, {}",
                       now - traffic.last_receive, whom);
    } else if (!peer.established) {
        const bool v2 = traffic.transport.protocol == TransportInfo::Protocol::kDetecting;
        m_at.log.Debug(LogCategory::kNet, "{} handshake timeout, {}", v2 ? "V2" : "version", whom);
    } else {
        return false;
    }
    return true;
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
        Close(peer);
        return true;
    }
    m_at.log.Debug(LogCategory::kNet, "Disconnecting and discouraging peer {}!", peer.Id());
    m_at.link.Discourage(address);
    for (const auto& [id, other] : m_peers) {
        if (other->connection.address.address == address) Close(*other);
    }
    return true;
}

void PeerManager::PingAll()
{
    for (const auto& [id, peer] : m_peers) peer->ping_wanted = true;
}

bool PeerManager::Disconnect(PeerId id, const std::string& why)
{
    Peer* const peer = Find(id);
    if (!peer) return false;
    if (!peer->closing) Drop(*peer, why);
    return true;
}

bool PeerManager::SendTo(PeerId id, OutgoingMessage message)
{
    Peer* const peer = Find(id);
    if (!peer || !peer->established || peer->closing) return false;
    SendRaw(*peer, std::move(message));
    return true;
}

int64_t PeerManager::TimeOffset() const
{
    if (m_time_offsets.size() < kMinTimeOffsets) return 0;
    std::vector<int64_t> sorted(m_time_offsets.begin(), m_time_offsets.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

std::vector<PeerInfo> PeerManager::Info() const
{
    std::vector<PeerInfo> out;
    for (const auto& [id, peer] : m_peers) out.push_back(InfoOf(*peer));
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
    out.bloom_filter = peer.bloom.has_value();
    out.established = peer.established;
    out.seen_as = peer.seen_as;
    out.time_offset = peer.time_offset;
    out.ping_time = peer.ping_time;
    out.ping_shortest = peer.ping_shortest;
    if (peer.ping_nonce != 0) out.ping_wait = std::max<int64_t>(Now() - peer.ping_sent, 0);
    out.fee_filter = peer.fee_filter;
    out.compact_from = peer.wants_compact_announcements;
    out.compact_to = peer.announces_compact;
    if (peer.header_sync && peer.header_sync->CurrentPhase() == HeaderSync::Phase::kPresync) {
        out.presynced_headers = peer.header_sync->PresyncHeight();
    }
    if (peer.best_known) {
        out.synced_headers = peer.best_known->height;
        const HeaderNode& tip = m_at.chain.Tip();
        const HeaderNode* const common = LastCommonAncestor(peer.best_known, &tip);
        if (peer.was_compared) out.synced_blocks = common->height;
    }
    if (m_downloader) out.in_flight = m_downloader->InFlight(peer.Id());
    out.last_block = peer.last_block;
    out.relays_addresses = peer.gossip.known.has_value();
    out.addresses_processed = peer.gossip.processed;
    out.addresses_limited = peer.gossip.limited;
    out.has_desirable_services = IsDesirable(peer.services);
    return out;
}

void PeerManager::SendRaw(Peer& peer, OutgoingMessage message)
{
    if (peer.closing) return;
    m_at.log.Debug(LogCategory::kNet, "sending {} ({} bytes) peer={}", message.type,
                   message.payload.size(), peer.Id());
    if (m_at.capture) {
        m_at.capture->Keep(peer.connection.address, false, message.type, message.payload, Now());
    }
    m_at.link.Send(peer.Id(), std::move(message));
}

/** As in Core, without the peer and with the exception's type mangled. */
void PeerManager::LogRefused(std::string_view type, size_t size, const std::string& why)
{
    m_at.log.Debug(LogCategory::kNet,
                   "ProcessMessages({}, {} bytes): Exception '{}: iostream error' "
                   "(NSt8ios_base7failureB5cxx11E) caught",
                   type, size, why);
}

void PeerManager::Drop(Peer& peer, const std::string& why, bool always_log)
{
    if (always_log) {
        m_at.log.Info("{}, disconnecting {}", why, NameOf(peer));
    } else {
        m_at.log.Debug(LogCategory::kNet, "{}, disconnecting {}", why, NameOf(peer));
    }
    Close(peer);
}

void PeerManager::Close(Peer& peer)
{
    if (std::exchange(peer.closing, true)) return;
    for (const ReceivedMessage& message : peer.unread) {
        m_at.link.Consumed(peer.Id(), message.payload.size());
    }
    peer.unread.clear();
    if (m_downloader) m_downloader->Disconnected(peer.Id());
    if (m_hints) m_hints->Disconnected(peer.Id());
    m_at.link.Disconnect(peer.Id());
}

void PeerManager::Misbehaving(Peer& peer, const std::string& why)
{
    peer.misbehaved = true;
    m_at.log.Debug(LogCategory::kNet, "Misbehaving: peer={}: {}", peer.Id(), why);
}

Peer* PeerManager::Find(PeerId id)
{
    const auto found = m_peers.find(id);
    return found == m_peers.end() ? nullptr : found->second.get();
}

std::string PeerManager::NameOf(const Peer& peer) const
{
    if (!m_options.log_addresses) return fmt::format("peer={}", peer.Id());
    return fmt::format("peer={}, peeraddr={}", peer.Id(), peer.connection.address.ToString());
}

bool PeerManager::IsActive(const HeaderNode& node) const
{
    return IsAncestor(node, m_at.chain.Tip());
}

uint64_t PeerManager::Random64()
{
    uint8_t bytes[8];
    m_at.env.RandomBytes(bytes);
    return ReadLE<uint64_t>(bytes);
}

} // namespace ibd
