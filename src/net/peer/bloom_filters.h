// BloomFilters: the filters of peers that want only some transactions of blocks (BIP37), and
// filtered blocks for them. Owned by PeerManager. Memory: a filter for each peer.
#pragma once

#include "net/peer/peer_set.h"
#include "net/wire/bloom_filter.h"

namespace ibd {

class BloomFilters final : public PeerTopic {
public:
    explicit BloomFilters(PeerSet& peers) : m_peers(peers) {}

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Whether the peer wants the transaction; without a filter it wants all. */
    bool Match(Peer& peer, const TxView& tx)
    {
        auto& filter = m_filters[peer];
        return !filter || filter->Match(tx);
    }
    bool Has(const Peer& peer) const { return m_filters[peer].has_value(); }
    /** Sends the header with a proof of the matching transactions, then these. The peer must have a
     *  filter. */
    void SendFiltered(Peer& peer, const BlockView& block);

private:
    void Load(Peer& peer, ByteSpan payload);
    void Add(Peer& peer, ByteSpan payload);
    void Set(Peer& peer, std::optional<BloomFilter> filter);

    PeerSet& m_peers;
    const PeerStates<std::optional<BloomFilter>> m_filters{m_peers};
};

} // namespace ibd
