// Keepalive: sends pings and detects dead connections. Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class Keepalive final : public PeerTopic {
public:
    static constexpr int64_t kPingInterval = 120 * kSecond;
    /** A peer silent for this long is considered gone. */
    static constexpr int64_t kPeerTimeout = 20 * 60 * kSecond;

    explicit Keepalive(PeerSet& peers) : m_peers(peers) {}

    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Maintain(Peer& peer) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    void PingAll();
    void Ping(Peer& peer);
    /** Returns whether it answers our ping. */
    bool TakePong(Peer& peer, ByteSpan payload);
    /** Whether the connection is dead; logs it. */
    bool IsInactive(const Peer& peer) const;

private:
    /** Times in microseconds. */
    struct State {
        uint64_t nonce = 0; //!< of the pending ping; 0: none
        int64_t sent = 0;
        int64_t time = -1;     //!< -1: unknown
        int64_t shortest = -1; //!< -1: unknown
        bool wanted = false;   //!< requested by the user
    };
    void AnswerPing(Peer& peer, ByteSpan payload);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<State> m_pings{m_peers};
};

} // namespace ibd
