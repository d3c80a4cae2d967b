// See bloom_filters.h.
#include "net/peer/bloom_filters.h"

#include "net/wire/stripped.h"

namespace ibd {

void BloomFilters::Handle(Peer& peer, ReceivedMessage& message)
{
    const std::string& type = message.type;
    if (!(peer.our_services & kNodeBloom)) {
        return m_peers.Drop(peer,
                            fmt::format("{} received despite not offering bloom services", type));
    }
    if (type == FilterLoadMessage::kType) return Load(peer, message.payload);
    if (type == FilterAddMessage::kType) return Add(peer, message.payload);
    Set(peer, std::nullopt);
}

void BloomFilters::Describe(const Peer& peer, PeerInfo& info) const
{
    info.bloom_filter = Has(peer);
}

void BloomFilters::Load(Peer& peer, ByteSpan payload)
{
    auto message = m_peers.Read<FilterLoadMessage>(payload);
    if (!message) return;
    if (!message->WithinLimits()) return m_peers.Misbehaving(peer, "too-large bloom filter");
    Set(peer, BloomFilter(std::move(*message)));
}

void BloomFilters::Add(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<FilterAddMessage>(payload);
    if (!message) return;
    auto& filter = m_filters[peer];
    if (!message->WithinLimits() || (peer.may_get_txs && !filter)) {
        return m_peers.Misbehaving(peer, "bad filteradd message");
    }
    if (filter) filter->Insert(message->data);
}

/** A peer that sets or clears a filter wants transactions. */
void BloomFilters::Set(Peer& peer, std::optional<BloomFilter> filter)
{
    if (!peer.may_get_txs) return;
    m_filters[peer] = std::move(filter);
    peer.wants_txs = true;
}

void BloomFilters::SendFiltered(Peer& peer, const BlockView& block)
{
    std::vector<Uint256> txids;
    std::vector<bool> matches;
    for (const TxView& tx : block.Txs()) {
        txids.push_back(tx.txid);
        matches.push_back(m_filters[peer]->Match(tx));
    }
    m_peers.Send(peer, MerkleBlockMessage{block.Header(), MakeMerkleProof(txids, matches)});
    for (size_t i = 0; i < txids.size(); ++i) {
        if (!matches[i]) continue;
        Bytes stripped;
        Writer writer(stripped);
        WriteStripped(writer, block.Txs()[i]);
        m_peers.SendRaw(peer, {std::string(TxMessage::kType), std::move(stripped)});
    }
}

} // namespace ibd
