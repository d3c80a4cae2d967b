// See block_announcing.h.
#include "net/peer/block_announcing.h"

#include "consensus/script_flags.h"

namespace ibd {

void BlockAnnouncing::Established(Peer& peer)
{
    if (peer.common_version >= kCompactBlocksVersion) m_peers.Send(peer, SendCompactMessage{});
}

void BlockAnnouncing::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == SendCompactMessage::kType) return HandleSendCompact(peer, message.payload);
    m_states[peer].prefers_headers = true; // a sendheaders
}

void BlockAnnouncing::HandleSendCompact(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<SendCompactMessage>(payload);
    if (!message) return;
    if (payload[0] > 1) return m_peers.Misbehaving(peer, "invalid sendcmpct announce field");
    if (message->version != kCompactBlocksEncoding) return;
    m_states[peer].provides_compact = true;
    m_states[peer].wants_compact = message->high_bandwidth;
}

void BlockAnnouncing::Maintain(Peer& peer)
{
    Announce(peer);
    SendInventory(peer);
}

void BlockAnnouncing::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    if (m_at.chain.IsInitialBlockDownload()) return;
    // A long reorganisation is not announced in full: peers can request headers.
    std::vector<const HeaderNode*> fresh;
    for (const HeaderNode* node = &tip; node != &fork && fresh.size() < kMaxAnnouncements;
         node = node->prev) {
        fresh.push_back(node);
    }
    for (const auto& [id, peer] : m_peers.All()) {
        auto& list = m_states[*peer].to_announce;
        list.insert(list.end(), fresh.rbegin(), fresh.rend());
        // One more than can be announced by headers, to detect that there are too many.
        while (list.size() > kMaxAnnouncements + 1) list.pop_front();
    }
}

void BlockAnnouncing::Describe(const Peer& peer, PeerInfo& info) const
{
    info.compact_from = m_states[peer].wants_compact;
    info.compact_to = m_states[peer].is_announcer;
}

/** Announces new blocks: by compact block or headers if the peer requested that and has their
 *  parent, else by inv. */
void BlockAnnouncing::Announce(Peer& peer)
{
    State& state = m_states[peer];
    if (state.to_announce.empty()) return;
    m_chains.ResolveUnknown(peer);
    const HeaderNode& last = *state.to_announce.back();
    HeadersMessage message;
    const std::vector<BlockHeader>& fresh = message.list.items;
    if (!Collect(peer, message.list.items)) {
        if (!m_chains.HasHeader(peer, last)) state.to_inv.push_back(last.hash);
    } else if (fresh.size() == 1 && state.wants_compact && m_forms.Send(peer, last)) {
        m_at.log.Debug(LogCategory::kNet, "SendMessages sending header-and-ids {} to peer={}",
                       last.hash.ToHex(), peer.Id());
        m_chains.SetSent(peer, last);
    } else if (!fresh.empty()) {
        m_at.log.Debug(LogCategory::kNet, "sending {} headers up to {} to peer={}", fresh.size(),
                       last.hash.ToHex(), peer.Id());
        m_peers.Send(peer, message);
        m_chains.SetSent(peer, last);
    }
    state.to_announce.clear();
}

/** The headers to announce, empty if the peer has them all; false: use inv. */
bool BlockAnnouncing::Collect(const Peer& peer, std::vector<BlockHeader>& out) const
{
    const State& state = m_states[peer];
    const size_t count = state.to_announce.size();
    const bool compact = state.wants_compact && count == 1;
    if ((!state.prefers_headers && !compact) || count > kMaxAnnouncements) return false;
    const HeaderNode* before = nullptr;
    for (const HeaderNode* node : state.to_announce) {
        // After a reorganisation the queued blocks may not form a chain, or not be in the active
        // one.
        if (!m_peers.IsActive(*node) || (before && node->prev != before)) return false;
        before = node;
        if (out.empty() && m_chains.HasHeader(peer, *node)) continue;
        if (out.empty() && node->prev && !m_chains.HasHeader(peer, *node->prev)) return false;
        out.push_back(node->Header());
    }
    return true;
}

void BlockAnnouncing::SendInventory(Peer& peer)
{
    std::vector<BlockHash>& hashes = m_states[peer].to_inv;
    if (hashes.empty()) return;
    InvMessage message;
    for (const BlockHash& hash : hashes) message.list.items.push_back({kInvBlock, hash});
    m_peers.Send(peer, message);
    hashes.clear();
}

void BlockAnnouncing::AnnounceEarly(const HeaderNode& node)
{
    const HeaderNode& tip = m_at.chain.Tip();
    const bool on_tip = &node == &tip || node.prev == &tip;
    if (!on_tip || m_at.chain.IsInitialBlockDownload() || node.height <= m_announced_early) return;
    m_announced_early = node.height;
    if (!BuriedActive(node.height, m_at.params.consensus, BuriedDeployment::kSegwit)) return;
    for (const auto& [id, peer] : m_peers.All()) {
        if (peer->common_version < kInvalidCompactBlockVersion || peer->closing) continue;
        if (!peer->established || !m_states[*peer].wants_compact) continue;
        m_chains.ResolveUnknown(*peer);
        if (m_chains.HasHeader(*peer, node)) continue;
        if (!node.prev || !m_chains.HasHeader(*peer, *node.prev)) continue;
        if (!m_forms.Send(*peer, node)) return;
        m_at.log.Debug(LogCategory::kNet,
                       "PeerManager::NewPoWValidBlock sending header-and-ids {} to peer={}",
                       node.hash.ToHex(), id);
        m_chains.SetSent(*peer, node);
    }
}

bool BlockAnnouncing::MaySendCompact(const Peer& peer) const
{
    return !m_peers.Options().blocks_only && ProvidesCompact(peer);
}

void BlockAnnouncing::ChooseAnnouncer(Peer& peer)
{
    const auto change =
        m_announcers.BroughtBlock(peer.Id(), [this](PeerId other) { return IsOutbound(other); });
    if (change.start) {
        m_peers.Send(peer, SendCompactMessage{true});
        m_states[peer].is_announcer = true;
    }
    Peer* const stopped = change.stop ? m_peers.Find(*change.stop) : nullptr;
    if (!stopped) return;
    m_peers.Send(*stopped, SendCompactMessage{false});
    m_states[*stopped].is_announcer = false;
}

bool BlockAnnouncing::IsOutbound(PeerId id) const
{
    const Peer* const peer = m_peers.Find(id);
    return peer && !peer->IsInbound();
}

} // namespace ibd
