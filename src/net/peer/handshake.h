// Handshake: from the connection to verack: versions, clocks and features. Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

#include <deque>

namespace ibd {

class Handshake final : public PeerTopic {
public:
    static constexpr size_t kMaxTimeOffsets = 50;      //!< stored samples
    static constexpr size_t kMinTimeOffsets = 5;       //!< least samples for a median
    static constexpr int64_t kMaxClockError = 10 * 60; //!< seconds; above it the user is warned

    explicit Handshake(PeerSet& peers) : m_peers(peers) {}

    void Connected(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Seconds that the clocks of outbound peers are ahead of ours: the median, once there are some
     *  samples. */
    int64_t TimeOffset() const;

private:
    struct State {
        uint64_t nonce = 0;      //!< in our version
        int64_t time_offset = 0; //!< seconds that its clock is ahead of ours
    };
    void SendVersion(Peer& peer);
    static VersionMessage PrivateVersion();
    VersionMessage OwnVersion(const Peer& peer) const;
    void HandleVersion(Peer& peer, ByteSpan payload);
    bool AcceptVersion(Peer& peer, const VersionMessage& message);
    void NoteVersion(Peer& peer, const VersionMessage& message);
    void NoteTimeOffset(Peer& peer, int64_t seconds);
    void CheckClock();
    void AnswerVersion(Peer& peer);
    void AnswerPrivately(Peer& peer, bool takes_txs);
    void HandleVerack(Peer& peer);
    void HandleWtxidRelay(Peer& peer);
    void HandleFeature(Peer& peer, ByteSpan payload);
    bool IsOwnNonce(uint64_t nonce) const;

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    const PeerStates<State> m_states{m_peers};
    std::deque<int64_t> m_time_offsets; //!< seconds, the newest last
};

} // namespace ibd
