// NetworkState: the state shared by all parts of PeerNetwork: surroundings and options, the thread,
// whether connections are allowed, the networks that can be reached, and the connected peers. Owned
// by PeerNetwork. While net-msg runs, only net-msg uses it, except the thread and the atomics.
#pragma once

#include "crypto/random_stream.h"
#include "net/connected_peers.h"
#include "net/net_thread.h"
#include "net/network_surroundings.h"
#include "net/peer/outbound_plan.h"
#include "net/peer/peer_set.h"

namespace ibd {

struct NetworkState {
    NetworkState(PeerNetworkSurroundings surroundings, const PeerNetworkOptions& all_options);

    int64_t NowSeconds() const { return at.now() / kSecond; }
    SipKey RandomKey() { return {chance.U64(), chance.U64()}; }
    /** Whether connections may be made and accepted. */
    bool MayConnect() const { return active && !thread.IsInterrupted(); }

    const PeerNetworkSurroundings at;
    const PeerNetworkOptions& options;
    NetThread thread;
    std::atomic<bool> active; //!< setnetworkactive
    /** Whether the chain started from a snapshot and lacks old blocks; new peers are informed. */
    std::atomic<bool> lacks_history = false;
    bool started = false;
    RandomStream chance;
    NetworkWays ways; //!< those of the options, until Tor reports more
    const OutboundLimits limits;
    ConnectedPeers peers;
};

} // namespace ibd
