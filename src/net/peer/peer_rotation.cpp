// See peer_rotation.h.
#include "net/peer/peer_rotation.h"

namespace ibd {

namespace {

constexpr int64_t kExtraCheck = 45;      //!< seconds between evictions of extra peers
constexpr int64_t kStaleCheck = 10 * 60; //!< seconds between checks of the tip's age
constexpr int64_t kMinimumTime = 30;     //!< seconds that a peer has to show its blocks
constexpr int64_t kStaleSpacings = 3;    //!< the tip is stale after this many block intervals
constexpr int64_t kRecentSpacings = 20;  //!< a synced node's tip is younger than this many
                                         //!< intervals

} // namespace

void PeerRotation::TipChanged(const HeaderNode&, const HeaderNode&)
{
    m_last_tip_change = m_peers.NowSeconds();
}

void PeerRotation::StartRound()
{
    const int64_t now = m_peers.NowSeconds();
    if (now < m_next_check) return;
    m_next_check = now + kExtraCheck;
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

void PeerRotation::CheckStaleTip()
{
    const int64_t now = m_peers.NowSeconds();
    if (m_last_tip_change == 0) m_last_tip_change = now;
    const int64_t spacing = m_at.params.consensus.pow_target_spacing;
    const bool stale = m_last_tip_change < now - kStaleSpacings * spacing && m_blocks.IsIdle();
    const bool wanted = stale && !m_at.chain.IsImporting() && m_options.may_want_more;
    if (wanted) {
        m_at.log.Info("Potential stale tip detected, will try using extra outbound peer (last tip "
                      "update: {} seconds ago)",
                      now - m_last_tip_change);
    }
    if (wanted || m_wants_another) SetWantsAnother(wanted);
}

void PeerRotation::SetWantsAnother(bool wanted)
{
    m_wants_another = wanted;
    m_at.log.Debug(LogCategory::kNet, "setting try another outbound peer={}", wanted);
}

bool PeerRotation::MayEvict(const Peer& peer) const
{
    return m_peers.NowSeconds() - peer.connected > kMinimumTime && m_blocks.InFlight(peer).empty();
}

/** Evicts the youngest peer, unless its last block is newer than that of the second youngest: then
 *  the latter. */
void PeerRotation::EvictExtraBlockRelay()
{
    if (m_peers.CountEstablished(ConnectionKind::kBlockRelay) <= m_options.max_block_relay) return;
    Peer* youngest = nullptr;
    Peer* second = nullptr;
    for (const auto& [id, peer] : m_peers.All()) {
        if (!peer->Is(ConnectionKind::kBlockRelay) || peer->closing) continue;
        second = youngest;
        youngest = peer.get();
    }
    if (!youngest) return;
    const bool second_is_worse =
        second && m_blocks.LastBlockOf(*youngest) > m_blocks.LastBlockOf(*second);
    Peer& worst = second_is_worse ? *second : *youngest;
    if (MayEvict(worst)) {
        m_at.log.Debug(
            LogCategory::kNet,
            "disconnecting extra block-relay-only peer={} (last block received at time {})",
            worst.Id(), m_blocks.LastBlockOf(worst));
        return m_peers.Close(worst);
    }
    m_at.log.Debug(LogCategory::kNet,
                   "keeping block-relay-only peer={} chosen for eviction (connect time: {})",
                   worst.Id(), worst.connected);
}

/** Evicts the peer without an announcement for longest, but not the only one of its network. */
void PeerRotation::EvictExtraFullRelay()
{
    if (m_peers.CountEstablished(ConnectionKind::kOutboundFullRelay) <= m_options.max_full_relay)
        return;
    std::map<AddressNetwork, int> by_network;
    for (const auto& [id, peer] : m_peers.All()) {
        const bool counts =
            peer->Is(ConnectionKind::kOutboundFullRelay) || peer->Is(ConnectionKind::kManual);
        if (counts) ++by_network[peer->connection.address.address.Network()];
    }
    Peer* worst = nullptr;
    for (const auto& [id, peer] : m_peers.All()) {
        if (!peer->Is(ConnectionKind::kOutboundFullRelay) || peer->closing) continue;
        if (m_headers.IsProtected(*peer)) continue;
        if (by_network[peer->connection.address.address.Network()] < 2) continue;
        // Among equal ones the youngest.
        if (!worst || m_headers.LastAnnouncementOf(*peer) <= m_headers.LastAnnouncementOf(*worst)) {
            worst = peer.get();
        }
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
                   worst->Id(), m_headers.LastAnnouncementOf(*worst));
    m_peers.Close(*worst);
    SetWantsAnother(false); // the remaining peers suffice
}

} // namespace ibd
