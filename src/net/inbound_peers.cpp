// See inbound_peers.h.
#include "net/inbound_peers.h"

#include "net/peer/eviction.h"

#include <limits>

namespace ibd {

std::optional<ConnectedPeer> InboundPeers::Admit(const Caller& caller)
{
    ConnectedPeer out;
    // A connection through Tor does not reveal the peer's address.
    out.peer.permissions = m_access.WithWhitelist(
        caller.permissions, caller.onion ? nullptr : &caller.remote.address, true);
    out.prefer_evict = m_access.IsDiscouraged(caller.remote.address);
    if (!MayLetIn(caller, out)) return std::nullopt;
    out.peer.kind = ConnectionKind::kInbound;
    out.peer.address = caller.remote;
    out.peer.local = caller.local;
    out.peer.name = caller.remote.ToString();
    out.peer.inbound_onion = caller.onion;
    return out;
}

bool InboundPeers::MayLetIn(const Caller& caller, const ConnectedPeer& peer)
{
    const auto drop = [&](const char* why) {
        m_at.log.Debug(LogCategory::kNet, "connection from {} dropped{}", caller.remote.ToString(),
                       why);
        return false;
    };
    if (!m_state.MayConnect()) return drop(": not accepting new connections");
    const bool welcome = (peer.peer.permissions & kPermitNoBan) == kPermitNoBan;
    if (!welcome && m_access.IsBanned(caller.remote.address)) return drop(" (banned)");
    const int inbound = static_cast<int>(m_state.peers.CountOf(ConnectionKind::kInbound));
    const int most = m_state.limits.inbound;
    if (!welcome && peer.prefer_evict && inbound + 1 >= most) return drop(" (discouraged)");
    if (inbound < most || Evict()) return true;
    m_at.log.Debug(LogCategory::kNet,
                   "failed to find an eviction candidate - connection dropped (full)");
    return false;
}

/** Evicts an inbound peer; false: all are protected. */
bool InboundPeers::Evict()
{
    std::vector<EvictionCandidate> candidates;
    for (const PeerInfo& info : m_manager.Info()) {
        const ConnectedPeer& peer = m_state.peers.All().at(info.connection.id);
        if (peer.closing) continue;
        EvictionCandidate candidate;
        candidate.id = info.connection.id;
        candidate.connected = info.connected;
        candidate.ping_shortest =
            info.ping_shortest < 0 ? std::numeric_limits<int64_t>::max() : info.ping_shortest;
        candidate.last_block = info.last_block;
        candidate.last_tx = info.last_transaction;
        candidate.relevant_services = info.has_desirable_services;
        candidate.relays_txs = info.relays_txs;
        candidate.bloom_filter = info.bloom_filter;
        candidate.group = peer.group;
        candidate.prefer_evict = peer.prefer_evict;
        candidate.is_local = peer.peer.address.address.IsLocal();
        candidate.network = peer.peer.Network();
        candidate.noban = (peer.peer.permissions & kPermitNoBan) == kPermitNoBan;
        candidate.inbound = peer.peer.kind == ConnectionKind::kInbound;
        candidates.push_back(candidate);
    }
    const auto chosen = SelectToEvict(std::move(candidates));
    if (!chosen) return false;
    return m_manager.Disconnect(*chosen, "selected inbound connection for eviction");
}

} // namespace ibd
