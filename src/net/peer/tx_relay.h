// TxRelay: messages about transactions. Transactions are not exchanged: these messages are ignored
// where they are permitted. Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class TxRelay final : public PeerTopic {
public:
    explicit TxRelay(PeerSet& peers) : m_peers(peers) {}

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

private:
    void HandleTx(Peer& peer, ByteSpan payload);
    void HandleMempool(Peer& peer);
    void HandleFeeFilter(Peer& peer, ByteSpan payload);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<int64_t> m_fee_filters{m_peers}; //!< satoshi per 1,000 virtual bytes
};

} // namespace ibd
