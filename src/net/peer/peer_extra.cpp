// See peer_manager.h: an extra peer beyond the slots, when the tip is old or occasionally to
// compare headers, and the choice of the peer to evict afterwards.
#include "net/peer/peer_manager.h"

namespace ibd {

namespace {

constexpr int64_t kExtraCheck = 45;      //!< seconds between evictions of extra peers
constexpr int64_t kStaleCheck = 10 * 60; //!< seconds between checks of the tip's age
constexpr int64_t kMinimumTime = 30;     //!< seconds that a peer has to show its blocks
constexpr int64_t kStaleSpacings = 3;    //!< the tip is stale after this many block intervals
constexpr int64_t kRecentSpacings = 20;  //!< a synced node's tip is younger than this many
                                         //!< intervals

} // namespace

void PeerManager::MaintainExtra()
{
    const int64_t now = NowSeconds();
    if (now < m_next_extra_check) return;
    m_next_extra_check = now + kExtraCheck;
    EvictExtraBlockRelay();
    EvictExtraFullRelay();
    if (now > m_next_stale_check) {
        m_next_stale_check = now + kStaleCheck;
        CheckStaleTip();
    }
    const int64_t spacing = m_at.params.consensus.pow_target_spacing;
    if (!m_synced && int64_t{m_at.chain.Tip().time} > now - kRecentSpacings * spacing) {
        m_at.log.Debug(LogCategory::kNet, "enabling extra block-relay-only peers");
        m_synced = true;
    }
}

void PeerManager::CheckStaleTip()
{
    const int64_t now = NowSeconds();
    if (m_last_tip_change == 0) m_last_tip_change = now;
    const int64_t spacing = m_at.params.consensus.pow_target_spacing;
    const bool stale = m_last_tip_change < now - kStaleSpacings * spacing &&
                       (!m_downloader || m_downloader->Idle());
    const bool wanted = stale && !m_at.chain.IsImporting() && m_options.may_want_more;
    if (wanted) {
        m_at.log.Info("Potential stale tip detected, will try using extra outbound peer (last tip "
                      "update: {} seconds ago)",
                      now - m_last_tip_change);
    }
    if (wanted || m_wants_another) SetWantsAnother(wanted);
}

void PeerManager::SetWantsAnother(bool wanted)
{
    m_wants_another = wanted;
    m_at.log.Debug(LogCategory::kNet, "setting try another outbound peer={}", wanted);
}

size_t PeerManager::CountEstablished(ConnectionKind kind) const
{
    return static_cast<size_t>(
        std::count_if(m_peers.begin(), m_peers.end(), [&](const auto& entry) {
            const Peer& peer = *entry.second;
            return peer.established && !peer.closing && peer.Is(kind);
        }));
}

bool PeerManager::MayEvict(const Peer& peer) const
{
    return NowSeconds() - peer.connected > kMinimumTime &&
           (!m_downloader || m_downloader->InFlight(peer.Id()).empty());
}

/** Evicts the youngest peer, unless its last block is newer than that of the second youngest: then
 *  the latter. */
void PeerManager::EvictExtraBlockRelay()
{
    if (CountEstablished(ConnectionKind::kBlockRelay) <= m_options.max_block_relay) return;
    Peer* youngest = nullptr;
    Peer* second = nullptr;
    for (const auto& [id, peer] : m_peers) {
        if (!peer->Is(ConnectionKind::kBlockRelay) || peer->closing) continue;
        second = youngest;
        youngest = peer.get();
    }
    if (!youngest) return;
    Peer& worst = second && youngest->last_block > second->last_block ? *second : *youngest;
    if (MayEvict(worst)) {
        m_at.log.Debug(
            LogCategory::kNet,
            "disconnecting extra block-relay-only peer={} (last block received at time {})",
            worst.Id(), worst.last_block);
        return Close(worst);
    }
    m_at.log.Debug(LogCategory::kNet,
                   "keeping block-relay-only peer={} chosen for eviction (connect time: {})",
                   worst.Id(), worst.connected);
}

/** Evicts the peer without an announcement for longest, but not the only one of its network. */
void PeerManager::EvictExtraFullRelay()
{
    if (CountEstablished(ConnectionKind::kOutboundFullRelay) <= m_options.max_full_relay) return;
    std::map<AddressNetwork, int> by_network;
    for (const auto& [id, peer] : m_peers) {
        const bool counts =
            peer->Is(ConnectionKind::kOutboundFullRelay) || peer->Is(ConnectionKind::kManual);
        if (counts) ++by_network[peer->connection.address.address.Network()];
    }
    Peer* worst = nullptr;
    for (const auto& [id, peer] : m_peers) {
        if (!peer->Is(ConnectionKind::kOutboundFullRelay) || peer->closing) continue;
        if (peer->chain_check.is_protected) continue;
        if (by_network[peer->connection.address.address.Network()] < 2) continue;
        // Among equal ones the youngest.
        if (!worst || peer->last_announcement <= worst->last_announcement) worst = peer.get();
    }
    if (!worst) return;
    if (!MayEvict(*worst)) {
        m_at.log.Debug(LogCategory::kNet,
                       "keeping outbound peer={} chosen for eviction (connect time: {})",
                       worst->Id(), worst->connected);
        return;
    }
    m_at.log.Debug(LogCategory::kNet,
                   "disconnecting extra outbound peer={} (last block announcement received at time "
                   "{})",
                   worst->Id(), worst->last_announcement);
    Close(*worst);
    SetWantsAnother(false); // the remaining peers suffice
}

} // namespace ibd
