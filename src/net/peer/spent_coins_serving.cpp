// See spent_coins_serving.h.
#include "net/peer/spent_coins_serving.h"

#include <algorithm>

namespace ibd {

void SpentCoinsServing::Handle(Peer& peer, ReceivedMessage& message)
{
    if (!m_feature.IsOurs(peer)) return m_peers.LogUnknown(peer, message.type);
    m_states[peer].request = m_peers.Read<GetSpentCoinsMessage>(message.payload);
    Serve(peer);
}

void SpentCoinsServing::Serve(Peer& peer)
{
    State& state = m_states[peer];
    if (!state.request || m_at.link.SendPaused(peer.Id())) return;
    const GetSpentCoinsMessage request = *state.request;
    state.request.reset();
    Answer(peer, request);
}

PeerTopic::Unserved SpentCoinsServing::UnservedOf(const Peer& peer) const
{
    return m_states[peer].request ? Unserved::kReady : Unserved::kNone;
}

/** A peer whose request cannot be answered is disconnected, because it would wait for the answer.
 */
void SpentCoinsServing::Answer(Peer& peer, const GetSpentCoinsMessage& request)
{
    const HeaderNode* const node = m_at.chain.Find(request.block);
    if (!node || !m_serving.MayServe(*node)) {
        return m_peers.Drop(peer, fmt::format("peer requested spent coins of an invalid block: {}",
                                              request.block.ToHex()));
    }
    if (m_serving.IsBeyondUploadTarget(peer, *node)) {
        return m_peers.Drop(peer, "historical block serving limit reached");
    }
    auto coins = m_at.blocks.SpentCoins(*node);
    // Records of Core before 0.15 lack heights.
    const auto lacks_height = [](const Coin& coin) { return coin.height == 0; };
    if (coins && *coins && std::ranges::any_of(**coins, lacks_height)) coins = std::nullopt;
    if (coins && *coins) return Send(peer, request, std::move(**coins));
    m_at.log.Debug(
        LogCategory::kNet, "no spent coins of block {}{}, disconnecting {}", request.block.ToHex(),
        coins ? ": there is no undo data" : ": " + coins.Message(), m_peers.NameOf(peer));
    m_peers.Close(peer);
}

void SpentCoinsServing::Send(Peer& peer, const GetSpentCoinsMessage& request,
                             std::vector<Coin> coins)
{
    SpentCoinsMessage out;
    out.block = request.block;
    for (size_t i = 0; i < coins.size(); ++i) {
        if (request.before > 0 && coins[i].height >= request.before) continue;
        out.coins.push_back({static_cast<uint32_t>(i), std::move(coins[i])});
    }
    Bytes payload = Encode(out);
    if (payload.size() > kMaxPayload) { // long scripts of coins: a block of 4 MB may spend 240 MB
        return m_peers.Drop(
            peer, fmt::format("spent coins of block {} exceed a message", request.block.ToHex()));
    }
    m_peers.SendRaw(peer, {std::string(SpentCoinsMessage::kType), std::move(payload)});
}

} // namespace ibd
