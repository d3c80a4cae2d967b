// SpentCoinsServing: serves the coins that a block spends to peers (BIP455), from the undo data.
// Owned by PeerManager. Memory: one request of each peer, as no further message of a peer is read
// before it is answered; for one peer at a time, the coins of a block.
#pragma once

#include "net/peer/block_serving.h"
#include "net/peer/spent_coins_feature.h"
#include "net/wire/spent_coins.h"

namespace ibd {

class SpentCoinsServing final : public PeerTopic {
public:
    SpentCoinsServing(PeerSet& peers, const SpentCoinsFeature& feature, const BlockServing& serving)
        : m_peers(peers), m_feature(feature), m_serving(serving)
    {
    }

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;

private:
    struct State {
        std::optional<GetSpentCoinsMessage> request; //!< not answered yet
    };

    void Answer(Peer& peer, const GetSpentCoinsMessage& request);
    void Send(Peer& peer, const GetSpentCoinsMessage& request, std::vector<Coin> coins);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const SpentCoinsFeature& m_feature;
    const BlockServing& m_serving;
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
