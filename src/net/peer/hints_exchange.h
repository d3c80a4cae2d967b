// HintsExchange: hints files from peers and for peers. Only peers with the feature in the handshake
// receive these messages. Owned by PeerManager. Memory: kMaxHintsRequests for each peer, and that
// of a HintsDownloader.
#pragma once

#include "net/peer/hints_downloader.h"
#include "net/peer/peer_set.h"

namespace ibd {

class HintsExchange final : public PeerTopic {
public:
    explicit HintsExchange(PeerSet& peers) : m_peers(peers) {}

    void Negotiate(Peer& peer) override;
    bool TakeFeature(Peer& peer, const FeatureMessage& feature) override;
    void Established(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Closed(Peer& peer) override { Leave(peer); }
    void Disconnected(Peer& peer) override { Leave(peer); }
    void StartRound() override;
    void Serve(Peer& peer) override;
    Unserved UnservedOf(const Peer& peer) const override;

    /** From now on the handshake tells outbound peers that hints are wanted, and offered files are
     *  fetched. The goal must live until Stop() or the end of this object. Do not call it again
     *  before Stop(). */
    void Fetch(HintsGoal& goal, int64_t offer_time) { m_downloader.emplace(goal, offer_time); }
    void Stop() { m_downloader.reset(); }
    /** Call it when the completed hints were refused: fetches the next best offer. */
    void Next(const std::string& why);
    /** Disconnects the peers that offered these wrong hints. */
    void Punish(const Uint256& id);
    /** Whether a part of a file is requested from the peer. */
    bool IsAsked(const Peer& peer) const;

private:
    struct State {
        bool asked = false;             //!< we announced that we want hints
        bool offered = false;           //!< it has sent its offers
        bool wanted = false;            //!< it wants hints
        uint64_t quota = 0;             //!< bytes that may still be sent to it
        std::deque<HintsPart> requests; //!< at most kMaxHintsRequests
    };
    void HandleOffers(Peer& peer, ByteSpan payload);
    Bytes GroupOf(const Peer& peer) const;
    void HandleRequest(Peer& peer, ByteSpan payload);
    void HandleData(Peer& peer, ByteSpan payload);
    void PunishPeer(Peer& peer, const std::string& why);
    void Leave(const Peer& peer);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<State> m_states{m_peers};
    std::optional<HintsDownloader> m_downloader; //!< exists while hints are wanted
};

} // namespace ibd
