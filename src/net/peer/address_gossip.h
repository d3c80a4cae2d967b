// AddressGossip: addresses of nodes from peers and for peers. Announced addresses are accepted at a
// bounded rate, stored, and relayed to one or two peers, the same ones for a day, so that repeated
// announcements have no effect. Owned by PeerManager. Memory: below 1 MB for each peer.
#pragma once

#include "net/address/rolling_set.h"
#include "net/peer/peer_set.h"

namespace ibd {

class AddressGossip final : public PeerTopic {
public:
    explicit AddressGossip(PeerSet& peers) : m_peers(peers) {}

    void Connected(Peer& peer) override;
    void Negotiate(Peer& peer) override;
    void Greeted(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Disconnected(Peer& peer) override;
    void Maintain(Peer& peer) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

private:
    /** Times in microseconds. */
    struct State {
        static constexpr size_t kKnown = 5'000; //!< addresses that are certainly not sent to it
                                                //!< again

        std::optional<RollingSet> known;  //!< addresses it sent or received; nothing: no gossip
        std::vector<PeerAddress> to_send; //!< at most kMaxAddresses
        bool wants_v2 = false;            //!< it takes addrv2 (BIP155)
        bool has_asked = false;           //!< it has sent a getaddr
        bool asked = false;               //!< a getaddr was sent, and its answer is incomplete
        double tokens = 1;                //!< number of addresses that it may send now
        int64_t tokens_at = 0;
        int64_t next_send = 0;
        int64_t next_self = 0; //!< next announcement of our address; 0: none was sent
        uint64_t processed = 0;
        uint64_t limited = 0;
    };
    static bool CanTell(const State& state, const NetAddress& address)
    {
        return state.wants_v2 || address.FitsV1();
    }
    int64_t RandomDelay(int64_t mean) const;
    bool Enable(Peer& peer);
    void HandleSendAddrV2(Peer& peer);
    void HandleGetAddr(Peer& peer);
    void HandleAddresses(Peer& peer, const ReceivedMessage& message);
    void Take(Peer& peer, std::vector<PeerAddress> list);
    void AddTokens(State& state) const;
    bool TakeOne(Peer& peer, PeerAddress& address, bool may_relay);
    void Relay(PeerId from, const PeerAddress& address, bool reachable);
    void Push(Peer& peer, const PeerAddress& address);
    void SendList(Peer& peer, const std::vector<PeerAddress>& list);
    void TellOfOurselves(Peer& peer);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<State> m_states{m_peers};
    /** Random: determines the peers to which an address is relayed. */
    const SipKey m_relay_key{m_peers.Random64(), m_peers.Random64()};
};

} // namespace ibd
