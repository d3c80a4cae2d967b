// See peer_manager.h: from the connection to verack.
#include "net/peer/peer_manager.h"

#include "util/strings.h"

namespace ibd {

void PeerManager::SendVersion(Peer& peer)
{
    const NewPeer& connection = peer.connection;
    VersionMessage out;
    out.services = peer.our_services;
    out.time = NowSeconds();
    out.receiver_services = connection.services;
    const NetAddress& address = connection.address.address;
    if (address.IsRoutable() && !connection.through_proxy && address.FitsV1()) {
        out.receiver = connection.address;
    }
    out.sender_services = peer.our_services;
    out.nonce = peer.our_nonce;
    out.user_agent = m_options.user_agent;
    out.start_height = m_at.chain.Tip().height;
    out.relay = false; // transactions from peers are not accepted yet
    Send(peer, out);
    m_at.log.Debug(LogCategory::kNet,
                   "send version message: version={}, blocks={}{}, txrelay={}, "
                   "peer={}",
                   out.version, out.start_height,
                   m_options.log_addresses ? ", them=" + out.receiver.ToString() : "",
                   int{out.relay}, peer.Id());
}

void PeerManager::HandleVersion(Peer& peer, ByteSpan payload)
{
    if (peer.version_received) {
        m_at.log.Debug(LogCategory::kNet, "redundant version message from peer={}", peer.Id());
        return;
    }
    const auto message = Read<VersionMessage>(peer, payload);
    if (!message) return;
    if (m_at.addresses && !peer.IsInbound()) {
        m_at.addresses->SetServices(peer.connection.address, message->services);
    }
    if (!AcceptVersion(peer, *message)) return;
    if (peer.IsInbound()) {
        if (m_at.addresses) m_at.addresses->SeenAs(message->receiver);
        SendVersion(peer);
    }

    peer.version_received = true;
    peer.version = message->version;
    peer.common_version = std::min(message->version, kProtocolVersion);
    peer.services = message->services;
    peer.seen_as = message->receiver;
    peer.user_agent = SafeCharacters(message->user_agent);
    peer.start_height = message->start_height;
    peer.wants_txs = message->relay && !peer.Is(ConnectionKind::kBlockRelay) &&
                     !peer.Is(ConnectionKind::kFeeler);
    NoteTimeOffset(peer, std::max<int64_t>(message->time, 0) - NowSeconds());
    m_at.log.Debug(LogCategory::kNet,
                   "receive version message: {}: version {}, blocks={}, us={}, txrelay={}, {}",
                   peer.user_agent.empty() ? "<no user agent>" : peer.user_agent, peer.version,
                   peer.start_height, peer.seen_as.ToString(), int{message->relay}, NameOf(peer));
    AnswerVersion(peer);
}

/** Inbound peers are not asked for the time: many of them may be one attacker. */
void PeerManager::NoteTimeOffset(Peer& peer, int64_t seconds)
{
    peer.time_offset = seconds;
    if (peer.IsInbound()) return;
    if (m_time_offsets.size() >= kMaxTimeOffsets) m_time_offsets.pop_front();
    m_time_offsets.push_back(seconds);
    m_at.log.Debug(LogCategory::kNet, "Added time offset {:+}s, total samples {}", seconds,
                   m_time_offsets.size());
    CheckClock();
}

/** Headers two hours ahead of our clock are refused: a wrong clock can isolate the node. */
void PeerManager::CheckClock()
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
bool PeerManager::AcceptVersion(Peer& peer, const VersionMessage& message)
{
    const bool expects_services = peer.IsReplaceable() || peer.Is(ConnectionKind::kAddrFetch);
    const uint64_t wanted = DesirableServices(message.services);
    if (expects_services && (wanted & ~message.services) != 0) {
        Drop(peer,
             fmt::format(
                 "peer does not offer the expected services ({:08x} offered, {:08x} expected)",
                 message.services, wanted));
        return false;
    }
    if (message.version < kMinPeerVersion) {
        Drop(peer, fmt::format("peer using obsolete version {}", message.version));
        return false;
    }
    if (peer.IsInbound() && IsOwnNonce(message.nonce)) {
        m_at.log.Info("connected to self at {}, disconnecting", peer.connection.address.ToString());
        Close(peer);
        return false;
    }
    return true;
}

void PeerManager::AnswerVersion(Peer& peer)
{
    if (peer.common_version >= kWtxidRelayVersion) {
        Send(peer, WtxidRelayMessage{});
        // BIP155 permits it earlier, but some old nodes disconnect then.
        Send(peer, SendAddrV2Message{});
    }
    AskForHints(peer);
    Send(peer, VerackMessage{});
    peer.preferred_download = (!peer.IsInbound() || peer.Permits(kPermitNoBan)) &&
                              !peer.Is(ConnectionKind::kAddrFetch) && peer.OffersBlocks();
    StartGossip(peer);
    if (peer.Is(ConnectionKind::kFeeler)) Drop(peer, "feeler connection completed");
}

void PeerManager::HandleVerack(Peer& peer)
{
    if (peer.established) {
        m_at.log.Debug(LogCategory::kNet, "ignoring redundant verack message from peer={}",
                       peer.Id());
        return;
    }
    const std::string text = fmt::format("New {} peer connected: transport: {}, version: {}, {}",
                                         ConnectionKindName(peer.connection.kind),
                                         m_at.link.Traffic(peer.Id()).transport.ProtocolName(),
                                         peer.version, NameOf(peer));
    // Inbound peers can reconnect at will, so only outbound ones get a line that is always logged.
    if (peer.IsInbound()) {
        m_at.log.Debug(LogCategory::kNet, "{}", text);
    } else {
        m_at.log.Info("{}", text);
    }
    if (peer.common_version >= kCompactBlocksVersion) Send(peer, SendCompactMessage{});
    peer.established = true;
    OfferHints(peer);
}

/** Handles messages before verack, and preferences of the peer; returns whether it was one. */
bool PeerManager::HandleNegotiation(Peer& peer, const ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (type == SendHeadersMessage::kType) {
        peer.prefers_headers = true;
    } else if (type == SendCompactMessage::kType) {
        HandleSendCompact(peer, message.payload);
    } else if (type == WtxidRelayMessage::kType) {
        if (peer.established) {
            Drop(peer, "wtxidrelay received after verack");
        } else if (peer.common_version < kWtxidRelayVersion) {
            m_at.log.Debug(LogCategory::kNet,
                           "ignoring wtxidrelay due to old common version={} from peer={}",
                           peer.common_version, peer.Id());
        } else if (std::exchange(peer.wtxid_relay, true)) {
            m_at.log.Debug(LogCategory::kNet, "ignoring duplicate wtxidrelay from peer={}",
                           peer.Id());
        }
    } else if (type == SendAddrV2Message::kType) {
        if (peer.established) {
            Drop(peer, "sendaddrv2 received after verack");
        } else {
            peer.wants_addrv2 = true;
        }
    } else if (type == FeatureMessage::kType) {
        HandleFeature(peer, message.payload);
    } else if (type == SendTxReconciliationMessage::kType) {
        m_at.log.Debug(LogCategory::kNet,
                       "sendtxrcncl from peer={} ignored, as our node does not have "
                       "txreconciliation enabled",
                       peer.Id());
    } else {
        return false;
    }
    return true;
}

void PeerManager::HandleFeature(Peer& peer, ByteSpan payload)
{
    if (peer.established) return Drop(peer, "feature received after verack");
    if (peer.common_version < kFeatureVersion) {
        return Drop(peer, fmt::format("feature received with incompatible version {}",
                                      peer.common_version));
    }
    const auto feature = Decode<FeatureMessage>(payload);
    if (!feature) return Drop(peer, "invalid feature payload");
    if (TakeHintsFeature(peer, *feature)) return;
    m_at.log.Debug(LogCategory::kNet, "unknown feature advertised: {}",
                   SafeCharacters(feature->id));
}

void PeerManager::HandleSendCompact(Peer& peer, ByteSpan payload)
{
    const auto message = Read<SendCompactMessage>(peer, payload);
    if (!message) return;
    if (payload[0] > 1) return Misbehaving(peer, "invalid sendcmpct announce field");
    if (message->version != kCompactBlocksEncoding) return;
    peer.provides_compact = true;
    peer.wants_compact_announcements = message->high_bandwidth;
}

/** Whether the nonce is of our own connection to ourselves. */
bool PeerManager::IsOwnNonce(uint64_t nonce) const
{
    return std::any_of(m_peers.begin(), m_peers.end(), [&](const auto& entry) {
        const Peer& peer = *entry.second;
        return !peer.established && !peer.IsInbound() && peer.our_nonce == nonce;
    });
}

/** For a peer with `services`: when our chain is nearly complete, the last blocks suffice. */
uint64_t PeerManager::DesirableServices(uint64_t services) const
{
    const int64_t spacing = m_at.params.consensus.pow_target_spacing;
    const int64_t behind = (NowSeconds() - int64_t{m_at.chain.Tip().time}) / spacing;
    if ((services & kNodeNetworkLimited) && behind < kLimitedConnectDepth) {
        return kNodeNetworkLimited | kNodeWitness;
    }
    return kNodeNetwork | kNodeWitness;
}

} // namespace ibd
