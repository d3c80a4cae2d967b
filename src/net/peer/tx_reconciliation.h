// TxReconciliation: negotiates with peers the announcement of transactions by sketches (BIP330), to
// the extent that Bitcoin Core does (-txreconciliation): versions are exchanged, sketches are not.
// Owned by PeerManager. Rules and log lines are Core's.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class TxReconciliation final : public PeerTopic {
public:
    static constexpr uint32_t kVersion = 1;

    explicit TxReconciliation(PeerSet& peers) : m_peers(peers) {}

    void Negotiate(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Established(Peer& peer) override;
    void Disconnected(Peer& peer) override { Forget(peer); }

    bool IsAgreed(const Peer& peer) const { return m_stages[peer] == Stage::kAgreed; }

private:
    enum class Stage { kNone, kOffered, kAgreed };
    void Agree(Peer& peer, uint32_t version);
    void Forget(Peer& peer);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<Stage> m_stages{m_peers};
};

} // namespace ibd
