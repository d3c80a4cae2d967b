// SpentCoinsAsking: requests blocks together with the coins that they spend (BIP455), and keeps a
// block until its coins have come. A peer answers in the order of the requests, so it has one block
// here. Owned by BlockRelay. Memory: the held blocks, for which HasRoom() has a bound; of each peer
// kMaxAwaited requests and those of one Ask() more.
#pragma once

#include "net/peer/block_sink.h"
#include "net/peer/spent_coins_feature.h"

#include <deque>

namespace ibd {

class SpentCoinsAsking {
public:
    static constexpr size_t kMaxHeldBytes = 32 << 20; //!< blocks of all peers without coins
    static constexpr size_t kMaxAwaited = 1024;

    SpentCoinsAsking(PeerSet& peers, const SpentCoinsFeature& feature)
        : m_peers(peers), m_feature(feature)
    {
    }

    /** Whether blocks may be requested from the peer now; `with_coins`: by Ask(). */
    bool MayAsk(const Peer& peer, bool with_coins) const
    {
        const bool sends = m_feature.IsTheirs(peer) && m_states[peer].awaited.size() < kMaxAwaited;
        return sends || !with_coins;
    }
    /** Requests each of the blocks, and then its coins. */
    void Ask(Peer& peer, const std::vector<const HeaderNode*>& nodes);
    /** A block came from the peer. False: it was not requested with coins. Otherwise keeps it until
     *  its coins come, and drops a peer that sends a block before the coins of the last one. */
    bool Hold(Peer& peer, PeerBlock& block);
    /** A block came from the peer, and is not needed any more: its coins, if they were requested,
     *  will be ignored. */
    void Forget(Peer& peer, const HeaderNode& node);
    /** The block to which the message of spent coins belongs, with the message. Nothing: the coins
     *  are ignored, or the peer was dropped for them. */
    std::optional<PeerBlock> Complete(Peer& peer, Bytes coins);
    /** Drops the block of the peer that waits for its coins, which will be ignored, and returns it;
     *  null: none waits. */
    const HeaderNode* DropHeld(Peer& peer);
    /** Bytes of the peer's block that waits for its coins; 0: none waits. */
    size_t HeldBytes(const Peer& peer) const { return m_states[peer].held_bytes; }
    /** Whether a block of this size may be held besides the others; any may be if it is alone. */
    bool HasRoom(size_t bytes) const
    {
        return m_held_bytes == 0 || m_held_bytes + bytes <= kMaxHeldBytes;
    }

private:
    struct Awaited {
        const HeaderNode* node;
        std::optional<Bytes> raw; //!< nothing: the block has not come; empty: it is not needed
    };
    struct State {
        std::deque<Awaited> awaited; //!< in the order of the requests
        size_t held_bytes = 0;       //!< of the one block that waits for its coins
    };
    static Awaited* FindWithoutBlock(State& state, const HeaderNode& node);
    void EndHold(State& state);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const SpentCoinsFeature& m_feature;
    const PeerStates<State> m_states{m_peers};
    size_t m_held_bytes = 0;
};

} // namespace ibd
