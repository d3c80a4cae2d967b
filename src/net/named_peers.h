// NamedPeers: connects and reconnects the peers that the user named by -connect, -addnode or the
// RPC call. Owned by PeerNetwork; net-msg. Memory: kMaxAddedNodes names.
#pragma once

#include "net/outbound_calls.h"

namespace ibd {

class NamedPeers {
public:
    static constexpr size_t kMaxAdded = 8; //!< simultaneous connections to -addnode peers
    /** Bounds the nodes added by RPC. */
    static constexpr size_t kMaxAddedNodes = 10'000;

    NamedPeers(NetworkState& state, OutboundCalls& calls) : m_state(state), m_calls(calls) {}

    /** False: it was added earlier. */
    bool Add(const std::string& name, bool v2);
    /** False: it was not added. */
    bool Remove(const std::string& name);
    std::vector<AddedNode> List() const;
    bool Contains(const Endpoint& endpoint) const;
    /** Does the work that is due; `now`: microseconds, monotonic. */
    void Tick(int64_t now);

private:
    struct Added {
        std::string name;
        bool v2;
    };
    void CallNextAdded(int64_t now);
    void CallNextOfConnect(int64_t now);

    NetworkState& m_state;
    const PeerNetworkOptions& m_options{m_state.options};
    OutboundCalls& m_calls;
    std::vector<Added> m_added;
    // Next connection to a named peer; microseconds, monotonic.
    std::deque<Added> m_added_round;
    int64_t m_next_added = 0;
    size_t m_connect_position = 0;
    int m_connect_round = 0;
    int64_t m_next_connect = 0;
};

} // namespace ibd
