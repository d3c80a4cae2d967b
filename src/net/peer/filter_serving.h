// FilterServing: compact block filters for peers (BIP157, -peerblockfilters). Filters are read and
// sent a few at a time, so that other peers are served in turn, and none while the peer's send
// queue is full. Owned by PeerManager. Memory: the range that each peer has asked for, or its
// request.
#pragma once

#include "net/peer/block_serving.h"
#include "net/peer/filter_provider.h"

namespace ibd {

class FilterServing final : public PeerTopic {
public:
    static constexpr int kFiltersAtOnce = 10; //!< in one turn of a peer
    /** A request up to a block within this distance of the tip waits for the index, which lags the
     *  chain by a moment: peers request the filter of a new block at once. */
    static constexpr int32_t kAwaitedDepth = 10;
    static constexpr int64_t kAwaitTime = 10 * kSecond;

    FilterServing(PeerSet& peers, const BlockServing& serving) : m_peers(peers), m_serving(serving)
    {
    }

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;

private:
    struct State {
        // The filters that are still to be sent to the peer.
        const HeaderNode* stop = nullptr; //!< null: none
        int32_t next = 0;                 //!< height
        // A request of the peer that waits for the index.
        std::optional<ReceivedMessage> awaiting;
        int64_t until = 0;
    };

    void Answer(Peer& peer, const ReceivedMessage& message);
    bool MustWait(const BlockHash& stop) const;
    void HandleGetFilters(Peer& peer, ByteSpan payload);
    void HandleGetHeaders(Peer& peer, ByteSpan payload);
    void HandleGetCheckpoints(Peer& peer, ByteSpan payload);
    const HeaderNode* Check(Peer& peer, uint8_t type, uint32_t start, const BlockHash& stop,
                            uint32_t most);
    std::optional<FilterProvider::Entry> Find(const HeaderNode& block) const;
    bool SendFilter(Peer& peer, const HeaderNode& block);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const BlockServing& m_serving;
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
