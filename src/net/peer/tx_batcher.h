// TxBatcher: sends a peer the transactions that it has requested: as batches if it has the feature
// (packing_feature.h), where that saves bytes and processor time is left, otherwise one by one.
// Owned by BlockServing. Memory: one batch.
#pragma once

#include "net/peer/pack_cache.h"
#include "net/peer/packing_feature.h"

namespace ibd {

class TxBatcher {
public:
    TxBatcher(PeerSet& peers, const PackingFeature& feature) : m_peers(peers), m_feature(feature) {}

    /** Sends a serialized transaction, at the latest at the next Flush(), which must come before a
     *  transaction for another peer. */
    void Add(Peer& peer, Bytes tx);
    void Flush(Peer& peer);

private:
    void SendPlain(Peer& peer, Bytes tx);
    Bytes Pack();

    PeerSet& m_peers;
    const PackingFeature& m_feature;
    std::vector<Bytes> m_batch;
    size_t m_bytes = 0; //!< of m_batch
    /** Separate: batches of transactions are not kept, so a peer could use up that for blocks. */
    PackBudget m_budget{(m_peers.Options().pack_percent + 4) / 5};
};

} // namespace ibd
