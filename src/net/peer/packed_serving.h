// PackedServing: batches of blocks for peers that have the feature (packing_feature.h). A batch has
// the blocks of 2^n consecutive heights, the first a multiple of 2^n, as far as the peer asks for
// them and they fit: so the batches are the same for all peers and are packed once. A block that
// must not cost processor time now goes out as it is. Owned by PeerManager. Memory: a request of
// each peer, a PackCache, and for one peer at a time kMostBytes of blocks and their batch.
#pragma once

#include "net/peer/block_serving.h"
#include "net/peer/pack_cache.h"
#include "net/peer/packing_feature.h"
#include "net/wire/packed_blocks.h"

namespace ibd {

class PackedServing final : public PeerTopic {
public:
    /** Bound on the unpacked bytes of a batch, unless one block alone is larger. Larger batches
     * save no more bytes (bench/README.md). */
    static constexpr size_t kMostBytes = 1'000'000;

    PackedServing(PeerSet& peers, const PackingFeature& feature, BlockServing& serving)
        : m_peers(peers), m_feature(feature), m_serving(serving)
    {
    }

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;

private:
    struct State {
        std::deque<BlockHash> requests; //!< at most kMaxPackedRequest, not served yet
    };
    std::vector<const HeaderNode*> NextBlocks(Peer& peer);
    bool SendKept(Peer& peer, const std::vector<const HeaderNode*>& nodes);
    void SendNew(Peer& peer, const std::vector<const HeaderNode*>& nodes);
    void SendBatch(Peer& peer, size_t blocks, Bytes batch);
    void SendPlain(Peer& peer, Bytes block);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    const PackingFeature& m_feature;
    BlockServing& m_serving;
    const PeerStates<State> m_states{m_peers};
    PackCache m_cache;
    PackBudget m_budget{m_options.pack_percent};
};

} // namespace ibd
