// See spent_coins_asking.h.
#include "net/peer/spent_coins_asking.h"

#include "net/wire/spent_coins.h"

#include <algorithm>

namespace ibd {

void SpentCoinsAsking::Ask(Peer& peer, const std::vector<const HeaderNode*>& nodes)
{
    for (const HeaderNode* node : nodes) {
        m_at.log.Debug(LogCategory::kNet, "Requesting block {} ({}) with spent coins peer={}",
                       node->hash.ToHex(), node->height, peer.Id());
        m_states[peer].awaited.push_back({node, std::nullopt});
        GetDataMessage block;
        block.list.items.push_back({kInvWitnessBlock, node->hash});
        m_peers.Send(peer, block);
        m_peers.Send(peer, GetSpentCoinsMessage{.block = node->hash});
    }
}

SpentCoinsAsking::Awaited* SpentCoinsAsking::FindWithoutBlock(State& state, const HeaderNode& node)
{
    const auto found = std::ranges::find_if(
        state.awaited, [&](const Awaited& entry) { return entry.node == &node && !entry.raw; });
    return found == state.awaited.end() ? nullptr : &*found;
}

void SpentCoinsAsking::EndHold(State& state) { m_held_bytes -= std::exchange(state.held_bytes, 0); }

bool SpentCoinsAsking::Hold(Peer& peer, PeerBlock& block)
{
    State& state = m_states[peer];
    Awaited* const awaited = FindWithoutBlock(state, *block.node);
    // A second copy of a block that waits for its coins is dropped.
    if (!awaited) return std::ranges::count(state.awaited, block.node, &Awaited::node) > 0;
    if (state.held_bytes > 0) {
        m_peers.Drop(peer, "peer sent a block before the spent coins of the last one");
        return true;
    }
    state.held_bytes = block.raw.size();
    m_held_bytes += state.held_bytes;
    awaited->raw = std::move(block.raw);
    return true;
}

void SpentCoinsAsking::Forget(Peer& peer, const HeaderNode& node)
{
    if (Awaited* const awaited = FindWithoutBlock(m_states[peer], node)) awaited->raw.emplace();
}

std::optional<PeerBlock> SpentCoinsAsking::Complete(Peer& peer, Bytes coins)
{
    if (!m_feature.IsTheirs(peer) && !m_feature.IsOurs(peer)) {
        m_peers.LogUnknown(peer, SpentCoinsMessage::kType);
        return std::nullopt;
    }
    State& state = m_states[peer];
    const HeaderNode* const node =
        coins.size() < 32 ? nullptr : m_at.chain.Find(BlockHash::FromBytes(coins.data()));
    const auto found = std::ranges::find(state.awaited, node, &Awaited::node);
    if (found == state.awaited.end()) {
        m_peers.Drop(peer, "peer sent spent coins that were not requested");
        return std::nullopt;
    }
    std::optional<Bytes> raw = std::move(found->raw);
    state.awaited.erase(found);
    if (!raw) {
        m_peers.Drop(peer, "peer sent spent coins before their block");
        return std::nullopt;
    }
    if (raw->empty()) return std::nullopt;
    EndHold(state);
    return PeerBlock{
        .node = node, .peer = peer.Id(), .raw = std::move(*raw), .spent_coins = std::move(coins)};
}

const HeaderNode* SpentCoinsAsking::DropHeld(Peer& peer)
{
    State& state = m_states[peer];
    if (state.held_bytes == 0) return nullptr;
    const auto held = std::ranges::find_if(
        state.awaited, [](const Awaited& entry) { return entry.raw && !entry.raw->empty(); });
    held->raw.emplace();
    EndHold(state);
    return held->node;
}

} // namespace ibd
