// See packed_asking.h.
#include "net/peer/packed_asking.h"

#include "util/found.h"

#include <algorithm>

namespace ibd {

bool PackedAsking::IsDue(const Peer& peer) const
{
    const State& state = m_states[peer];
    return m_feature.IsAgreed(peer) && state.speed.IsSlow() &&
           state.awaited.size() + kMaxPackedRequest <= kMaxAwaited;
}

void PackedAsking::Ask(Peer& peer, const std::vector<const HeaderNode*>& nodes) const
{
    GetPackedMessage message;
    for (const HeaderNode* node : nodes) {
        m_at.log.Debug(LogCategory::kNet, "Requesting packed block {} ({}) peer={}",
                       node->hash.ToHex(), node->height, peer.Id());
        message.blocks.items.push_back(node->hash);
        m_states[peer].awaited.insert(node);
        if (message.blocks.items.size() < kMaxPackedRequest) continue;
        m_peers.Send(peer, message);
        message.blocks.items.clear();
    }
    if (!message.blocks.items.empty()) m_peers.Send(peer, message);
}

/** A damaged batch costs the peer its place, and nothing else: any node of ours that carries it on
 *  a bad line would be banned for the line. */
Result<std::vector<Bytes>> PackedAsking::Unpack(Peer& peer, ByteSpan batch) const
{
    std::vector<Bytes> none;
    if (!m_feature.IsAgreed(peer)) {
        m_peers.LogUnknown(peer, PackedMessage::kType);
        return none;
    }
    if (m_states[peer].awaited.empty()) {
        m_peers.Drop(peer, "peer sent packed blocks that were not requested");
        return none;
    }
    auto blocks = UnpackBlocks(batch);
    if (IsBadData(blocks)) {
        m_peers.Drop(peer, blocks.Message(), true);
        return none;
    }
    if (!blocks || AreAwaited(peer, *blocks)) return blocks;
    m_peers.Drop(peer, "peer sent packed blocks that were not requested");
    return none;
}

/** A batch of few bytes can unpack to megabytes, so it must have requested blocks only. */
bool PackedAsking::AreAwaited(const Peer& peer, const std::vector<Bytes>& blocks) const
{
    const auto& awaited = m_states[peer].awaited;
    return std::ranges::all_of(blocks, [&](const Bytes& raw) {
        if (raw.size() < BlockHeader::kSize) return false;
        return awaited.contains(m_at.chain.Find(BlockHeader::FromBytes(raw.data()).Hash()));
    });
}

} // namespace ibd
