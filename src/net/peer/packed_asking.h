// PackedAsking: requests packed blocks from peers with the feature (packing_feature.h) while the
// line to them is slow, and unpacks the batches that arrive. Owned by BlockRelay. Memory:
// kMaxAwaited requests for each peer; the memory of UnpackBlocks() for one batch at a time.
#pragma once

#include "net/peer/line_speed.h"
#include "net/peer/packing_feature.h"
#include "net/wire/packed_blocks.h"

#include <set>

namespace ibd {

class PackedAsking {
public:
    static constexpr size_t kMaxAwaited = 1024;

    PackedAsking(PeerSet& peers, const PackingFeature& feature) : m_peers(peers), m_feature(feature)
    {
    }

    /** The time until now was no waiting for the line. */
    void Skip(Peer& peer) const { m_states[peer].speed.Skip(m_peers.Now()); }
    /** A message with blocks arrived. */
    void Arrived(Peer& peer, size_t bytes) const
    {
        m_states[peer].speed.Arrived(bytes, m_peers.Now());
    }
    /** Whether the next blocks are to be requested packed. */
    bool IsDue(const Peer& peer) const;
    /** Requests the blocks: at most kMaxPackedRequest. */
    void Ask(Peer& peer, const std::vector<const HeaderNode*>& nodes) const;
    /** The block came, packed or not. */
    void Came(Peer& peer, const HeaderNode& node) const { m_states[peer].awaited.erase(&node); }
    /** Blocks that were requested packed and have not come. */
    const std::set<const HeaderNode*>& Awaited(const Peer& peer) const
    {
        return m_states[peer].awaited;
    }
    /** The blocks of a batch from the peer. An error of the machine leaves the peer; otherwise
     *  nothing means that the batch was ignored, or that the peer was dropped for it. */
    Result<std::vector<Bytes>> Unpack(Peer& peer, ByteSpan batch) const;

private:
    struct State {
        LineSpeed speed;
        std::set<const HeaderNode*> awaited;
    };

    bool AreAwaited(const Peer& peer, const std::vector<Bytes>& blocks) const;

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PackingFeature& m_feature;
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
