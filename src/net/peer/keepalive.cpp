// See keepalive.h.
#include "net/peer/keepalive.h"

namespace ibd {

void Keepalive::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == PingMessage::kType) return AnswerPing(peer, message.payload);
    (void)TakePong(peer, message.payload);
}

void Keepalive::AnswerPing(Peer& peer, ByteSpan payload)
{
    if (peer.common_version <= kPingNonceVersion) return;
    if (const auto ping = m_peers.Read<PingMessage>(payload)) {
        m_peers.Send(peer, PongMessage{ping->nonce});
    }
}

bool Keepalive::TakePong(Peer& peer, ByteSpan payload)
{
    State& ping = m_pings[peer];
    const auto pong = Decode<PongMessage>(payload);
    const char* problem = nullptr;
    bool finished = false;
    if (!pong) {
        finished = true;
        problem = "Short payload";
    } else if (ping.nonce == 0) {
        problem = "Unsolicited pong without ping";
    } else if (pong->nonce == ping.nonce) {
        finished = true;
        const int64_t time = m_peers.Now() - ping.sent;
        if (time < 0) {
            problem = "Timing mishap";
        } else {
            ping.time = time;
            ping.shortest = ping.shortest < 0 ? time : std::min(ping.shortest, time);
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
                       problem, ping.nonce, pong ? pong->nonce : 0, payload.size());
    }
    if (finished) ping.nonce = 0;
    return !problem;
}

void Keepalive::Maintain(Peer& peer)
{
    State& ping = m_pings[peer];
    const int64_t now = m_peers.Now();
    const bool checked = now / kSecond > peer.connected + m_peers.Options().handshake_seconds;
    if (checked && ping.nonce != 0 && now > ping.sent + kPeerTimeout) {
        return m_peers.Drop(peer,
                            fmt::format("ping timeout: {:f}s", double(now - ping.sent) / kSecond));
    }
    const bool due = ping.nonce == 0 && now > ping.sent + kPingInterval;
    if (due || ping.wanted) Ping(peer);
}

void Keepalive::Ping(Peer& peer)
{
    State& ping = m_pings[peer];
    ping.wanted = false;
    ping.sent = m_peers.Now();
    if (peer.common_version <= kPingNonceVersion) {
        ping.nonce = 0;
        return m_peers.SendRaw(peer, {std::string(PingMessage::kType), {}});
    }
    do {
        ping.nonce = m_peers.Random64();
    } while (ping.nonce == 0);
    m_peers.Send(peer, PingMessage{ping.nonce});
}

void Keepalive::Describe(const Peer& peer, PeerInfo& info) const
{
    const State& ping = m_pings[peer];
    info.ping_time = ping.time;
    info.ping_shortest = ping.shortest;
    if (ping.nonce != 0) info.ping_wait = std::max<int64_t>(m_peers.Now() - ping.sent, 0);
}

void Keepalive::PingAll()
{
    for (const auto& [id, peer] : m_peers.All()) m_pings[*peer].wanted = true;
}

bool Keepalive::IsInactive(const Peer& peer) const
{
    const int64_t now = m_peers.NowSeconds();
    const int64_t handshake_seconds = m_peers.Options().handshake_seconds;
    if (now <= peer.connected + handshake_seconds) return false;
    const PeerTraffic traffic = m_at.link.Traffic(peer.Id());
    constexpr int64_t kTimeoutSeconds = kPeerTimeout / kSecond;
    const std::string whom = "disconnecting " + m_peers.NameOf(peer);
    if (traffic.last_receive == 0 || traffic.last_send == 0) {
        m_at.log.Debug(LogCategory::kNet, "socket no message in first {} seconds{}{}, {}",
                       handshake_seconds,
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

} // namespace ibd
