// See handshake.h.
#include "net/peer/handshake.h"

#include "util/strings.h"

namespace ibd {

void Handshake::Connected(Peer& peer)
{
    m_states[peer].nonce = m_peers.Random64();
    if (!peer.IsInbound()) SendVersion(peer);
}

void Handshake::Handle(Peer& peer, ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == VersionMessage::kType) return HandleVersion(peer, message.payload);
    if (type == VerackMessage::kType) return HandleVerack(peer);
    if (type == WtxidRelayMessage::kType) return HandleWtxidRelay(peer);
    HandleFeature(peer, message.payload);
}

void Handshake::Describe(const Peer& peer, PeerInfo& info) const
{
    info.time_offset = m_states[peer].time_offset;
}

void Handshake::SendVersion(Peer& peer)
{
    VersionMessage out = peer.IsPrivate() ? PrivateVersion() : OwnVersion(peer);
    out.nonce = m_states[peer].nonce;
    m_peers.Send(peer, out);
    m_at.log.Debug(LogCategory::kNet,
                   "send version message: version={}, blocks={}{}, txrelay={}, "
                   "peer={}",
                   out.version, out.start_height,
                   m_options.log_addresses ? ", them=" + out.receiver.ToString() : "",
                   int{out.relay}, peer.Id());
}

/** A version message that is the same for all nodes. */
VersionMessage Handshake::PrivateVersion()
{
    VersionMessage out;
    out.version = kWtxidRelayVersion; // without features of later versions
    out.services = kNodeNone;
    out.user_agent = "/pynode:0.0.1/"; // a constant that no node uses, as in Core
    out.start_height = 0;
    out.relay = false;
    return out;
}

VersionMessage Handshake::OwnVersion(const Peer& peer) const
{
    const NewPeer& connection = peer.connection;
    VersionMessage out;
    out.services = peer.our_services;
    out.time = m_peers.NowSeconds();
    out.receiver_services = connection.services;
    const NetAddress& address = connection.address.address;
    if (address.IsRoutable() && !connection.through_proxy && address.FitsV1()) {
        out.receiver = connection.address;
    }
    out.sender_services = peer.our_services;
    out.user_agent = m_options.user_agent;
    out.start_height = m_at.chain.Tip().height;
    out.relay = m_peers.MaySendTxs(peer);
    return out;
}

void Handshake::HandleVersion(Peer& peer, ByteSpan payload)
{
    if (peer.version_received) {
        m_at.log.Debug(LogCategory::kNet, "redundant version message from peer={}", peer.Id());
        return;
    }
    const auto message = m_peers.Read<VersionMessage>(payload);
    if (!message) return;
    if (m_at.addresses && !peer.IsInbound()) {
        m_at.addresses->SetServices(peer.connection.address, message->services);
    }
    if (!AcceptVersion(peer, *message)) return;
    if (peer.IsInbound()) {
        if (m_at.addresses) m_at.addresses->SeenAs(message->receiver);
        SendVersion(peer);
    }
    NoteVersion(peer, *message);
    if (peer.IsPrivate()) return AnswerPrivately(peer, message->relay);
    NoteTimeOffset(peer, std::max<int64_t>(message->time, 0) - m_peers.NowSeconds());
    AnswerVersion(peer);
}

void Handshake::NoteVersion(Peer& peer, const VersionMessage& message)
{
    peer.version_received = true;
    peer.version = message.version;
    peer.common_version = std::min(message.version, kProtocolVersion);
    peer.services = message.services;
    peer.seen_as = message.receiver;
    peer.user_agent = SafeCharacters(message.user_agent);
    peer.start_height = message.start_height;
    // With a Bloom filter (BIP37) it may request transactions later.
    peer.may_get_txs = !peer.Is(ConnectionKind::kBlockRelay) && !peer.Is(ConnectionKind::kFeeler) &&
                       !peer.IsPrivate() && (message.relay || (peer.our_services & kNodeBloom));
    peer.wants_txs = peer.may_get_txs && message.relay;
    m_at.log.Debug(LogCategory::kNet,
                   "receive version message: {}: version {}, blocks={}, us={}, txrelay={}, {}",
                   peer.user_agent.empty() ? "<no user agent>" : peer.user_agent, peer.version,
                   peer.start_height, peer.seen_as.ToString(), int{message.relay},
                   m_peers.NameOf(peer));
}

/** Inbound peers are not asked for the time: many of them may be one attacker. */
void Handshake::NoteTimeOffset(Peer& peer, int64_t seconds)
{
    m_states[peer].time_offset = seconds;
    if (peer.IsInbound()) return;
    if (m_time_offsets.size() >= kMaxTimeOffsets) m_time_offsets.pop_front();
    m_time_offsets.push_back(seconds);
    m_at.log.Debug(LogCategory::kNet, "Added time offset {:+}s, total samples {}", seconds,
                   m_time_offsets.size());
    CheckClock();
}

/** Headers two hours ahead of our clock are refused: a wrong clock can isolate the node. */
void Handshake::CheckClock()
{
    if (!m_at.warnings) return;
    const int64_t offset = TimeOffset();
    if (offset >= -kMaxClockError && offset <= kMaxClockError) {
        m_at.warnings->Clear(NodeWarning::kClockOutOfSync);
        return;
    }
    const std::string text = fmt::format(
        "Your computer's date and time appear to be more than {} minutes out of sync with the "
        "network, this may lead to consensus failure. After you've confirmed your computer's "
        "clock, this message should no longer appear when you restart your node. Without a "
        "restart, it should stop showing automatically after you've connected to a sufficient "
        "number of new outbound peers, which may take some time. You can inspect the `timeoffset` "
        "field of the `getpeerinfo` and `getnetworkinfo` RPC methods to get more info.",
        kMaxClockError / 60);
    m_at.log.Warning("{}", text);
    (void)m_at.warnings->Set(NodeWarning::kClockOutOfSync, text);
}

/** False: the peer was disconnected. */
bool Handshake::AcceptVersion(Peer& peer, const VersionMessage& message)
{
    const bool expects_services =
        peer.IsReplaceable() || peer.Is(ConnectionKind::kAddrFetch) || peer.IsPrivate();
    const uint64_t wanted = m_peers.DesirableServices(message.services);
    if (expects_services && (wanted & ~message.services) != 0) {
        m_peers.Drop(
            peer, fmt::format(
                      "peer does not offer the expected services ({:08x} offered, {:08x} expected)",
                      message.services, wanted));
        return false;
    }
    if (message.version < kMinPeerVersion) {
        m_peers.Drop(peer, fmt::format("peer using obsolete version {}", message.version));
        return false;
    }
    if (peer.IsInbound() && IsOwnNonce(message.nonce)) {
        m_at.log.Info("connected to self at {}, disconnecting", peer.connection.address.ToString());
        m_peers.Close(peer);
        return false;
    }
    return true;
}

void Handshake::AnswerVersion(Peer& peer)
{
    if (peer.common_version >= kWtxidRelayVersion) m_peers.Send(peer, WtxidRelayMessage{});
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Negotiate(peer);
    m_peers.Send(peer, VerackMessage{});
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Greeted(peer);
    if (peer.Is(ConnectionKind::kFeeler)) m_peers.Drop(peer, "feeler connection completed");
}

/** Announces no features. */
void Handshake::AnswerPrivately(Peer& peer, bool takes_txs)
{
    if (takes_txs) return m_peers.Send(peer, VerackMessage{});
    m_at.log.Debug(LogCategory::kPrivateBroadcast,
                   "Disconnecting: does not support transaction relay (connected in vain), {}",
                   m_peers.NameOf(peer));
    m_peers.Close(peer);
}

void Handshake::HandleVerack(Peer& peer)
{
    if (peer.established) {
        m_at.log.Debug(LogCategory::kNet, "ignoring redundant verack message from peer={}",
                       peer.Id());
        return;
    }
    const std::string text = fmt::format("New {} peer connected: transport: {}, version: {}, {}",
                                         ConnectionKindName(peer.connection.kind),
                                         m_at.link.Traffic(peer.Id()).transport.ProtocolName(),
                                         peer.version, m_peers.NameOf(peer));
    // Inbound peers can reconnect at will, so only outbound ones get a line that is always logged.
    if (peer.IsInbound()) {
        m_at.log.Debug(LogCategory::kNet, "{}", text);
    } else {
        m_at.log.Info("{}", text);
    }
    peer.established = true;
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) topic->Established(peer);
}

void Handshake::HandleWtxidRelay(Peer& peer)
{
    if (peer.established) return m_peers.Drop(peer, "wtxidrelay received after verack");
    if (peer.common_version < kWtxidRelayVersion) {
        m_at.log.Debug(LogCategory::kNet,
                       "ignoring wtxidrelay due to old common version={} from peer={}",
                       peer.common_version, peer.Id());
    } else if (std::exchange(peer.wtxid_relay, true)) {
        m_at.log.Debug(LogCategory::kNet, "ignoring duplicate wtxidrelay from peer={}", peer.Id());
    }
}

void Handshake::HandleFeature(Peer& peer, ByteSpan payload)
{
    if (peer.established) return m_peers.Drop(peer, "feature received after verack");
    if (peer.common_version < kFeatureVersion) {
        return m_peers.Drop(peer, fmt::format("feature received with incompatible version {}",
                                              peer.common_version));
    }
    const auto feature = Decode<FeatureMessage>(payload);
    if (!feature) return m_peers.Drop(peer, "invalid feature payload");
    for (PeerTopic* const topic : m_peers.TopicsOf(peer)) {
        if (topic->TakeFeature(peer, *feature)) return;
    }
    m_at.log.Debug(LogCategory::kNet, "unknown feature advertised: {}",
                   SafeCharacters(feature->id));
}

/** Whether the nonce is of our own connection to ourselves. */
bool Handshake::IsOwnNonce(uint64_t nonce) const
{
    return std::any_of(m_peers.All().begin(), m_peers.All().end(), [&](const auto& entry) {
        const Peer& peer = *entry.second;
        return !peer.established && !peer.IsInbound() && m_states[peer].nonce == nonce;
    });
}

int64_t Handshake::TimeOffset() const
{
    if (m_time_offsets.size() < kMinTimeOffsets) return 0;
    std::vector<int64_t> sorted(m_time_offsets.begin(), m_time_offsets.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

} // namespace ibd
