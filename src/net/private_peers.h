// PrivatePeers: makes the connections for private broadcast of users' transactions
// (-privatebroadcast): to random known addresses of Tor and I2P, and of IPv4 and IPv6 through Tor.
// They take no slot of other outbound peers. Owned by PeerNetwork; net-msg.
#pragma once

#include "net/outbound_calls.h"
#include "net/peer/private_relay.h"

namespace ibd {

class PrivatePeers {
public:
    static constexpr int kMaxTries = 100; //!< addresses considered at a time
    // Waits, in microseconds.
    static constexpr int64_t kAfterFailure = kSecond / 10;
    static constexpr int64_t kAfterBadAddresses = kSecond / 2;
    static constexpr int64_t kWithoutNetwork = 5 * kSecond;

    PrivatePeers(NetworkState& state, const NodeAddresses& addresses, OutboundCalls& calls,
                 PrivateRelay& relay)
        : m_state(state), m_addresses(addresses), m_calls(calls), m_relay(relay)
    {
    }

    /** Does the work that is due; `now`: microseconds, monotonic. */
    void Tick(int64_t now);

private:
    struct Way {
        AddressNetwork network;
        std::optional<ProxyServer> proxy; //!< used instead of the network's proxy
    };
    std::optional<Way> ChooseWay();
    std::optional<PeerAddress> ChooseAddress(AddressNetwork network) const;
    bool IsFull() const;
    void Call(const Way& way, const PeerAddress& address);
    void Failed(const std::string& target);

    NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const NodeAddresses& m_addresses;
    OutboundCalls& m_calls;
    PrivateRelay& m_relay;
    int64_t m_next = 0; //!< microseconds, monotonic
};

} // namespace ibd
