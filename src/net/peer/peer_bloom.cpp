// See peer_manager.h: blocks for peers that want only some transactions (BIP37).
#include "net/peer/peer_manager.h"

#include "net/wire/stripped.h"

namespace ibd {

void PeerManager::HandleBloom(Peer& peer, const ReceivedMessage& message)
{
    const std::string& type = message.type;
    const bool loads = type == FilterLoadMessage::kType, adds = type == FilterAddMessage::kType;
    if (!loads && !adds && type != FilterClearMessage::kType) return;
    if (!(peer.our_services & kNodeBloom)) {
        return Drop(peer, fmt::format("{} received despite not offering bloom services", type));
    }
    if (loads) {
        LoadBloom(peer, message.payload);
    } else if (adds) {
        AddToBloom(peer, message.payload);
    } else {
        SetBloom(peer, std::nullopt);
    }
}

void PeerManager::LoadBloom(Peer& peer, ByteSpan payload)
{
    auto message = Read<FilterLoadMessage>(peer, payload);
    if (!message) return;
    if (!message->WithinLimits()) return Misbehaving(peer, "too-large bloom filter");
    SetBloom(peer, BloomFilter(std::move(*message)));
}

void PeerManager::AddToBloom(Peer& peer, ByteSpan payload)
{
    const auto message = Read<FilterAddMessage>(peer, payload);
    if (!message) return;
    const bool hears = !peer.Is(ConnectionKind::kBlockRelay) && !peer.Is(ConnectionKind::kFeeler);
    if (!message->WithinLimits() || (hears && !peer.bloom)) {
        return Misbehaving(peer, "bad filteradd message");
    }
    if (peer.bloom) peer.bloom->Insert(message->data);
}

/** A peer that sets or clears a filter wants transactions. */
void PeerManager::SetBloom(Peer& peer, std::optional<BloomFilter> filter)
{
    if (peer.Is(ConnectionKind::kBlockRelay) || peer.Is(ConnectionKind::kFeeler)) return;
    peer.bloom = std::move(filter);
    peer.wants_txs = true;
}

/** Sends the header with a proof of the matching transactions, then these. */
void PeerManager::SendFiltered(Peer& peer, const BlockView& block)
{
    std::vector<Uint256> txids;
    std::vector<bool> matches;
    for (const TxView& tx : block.Txs()) {
        txids.push_back(tx.txid);
        matches.push_back(peer.bloom->Match(tx));
    }
    Send(peer, MerkleBlockMessage{block.Header(), MakeMerkleProof(txids, matches)});
    for (size_t i = 0; i < txids.size(); ++i) {
        if (!matches[i]) continue;
        Bytes stripped;
        Writer writer(stripped);
        WriteStripped(writer, block.Txs()[i]);
        SendRaw(peer, {std::string(TxMessage::kType), std::move(stripped)});
    }
}

} // namespace ibd
