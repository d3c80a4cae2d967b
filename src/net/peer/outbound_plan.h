// OutboundPlan: chooses the next automatic connection: the missing kind of connection, and a
// suitable address from the address manager. It has no socket and no thread; connected peers are
// passed as values. Rules and numbers are Bitcoin Core's. Owned by PeerNetwork, thread of the
// peers. Bound: at most kMaxTries addresses are examined in a call.
#pragma once

#include "net/address/addr_man.h"
#include "net/peer/peer_link.h"

#include <functional>

namespace ibd {

/** Wanted number of each kind. */
struct OutboundLimits {
    static constexpr int kFullRelay = 8;
    static constexpr int kBlockRelay = 2;
    static constexpr int kFeelers = 1;

    /** `connections`: -maxconnections. */
    explicit OutboundLimits(int connections);

    int full_relay;
    int block_relay;
    int all; //!< all automatic outbound ones
    int inbound;
};

/** A connected peer, or one being connected to. */
struct OutboundPeer {
    ConnectionKind kind = ConnectionKind::kInbound;
    NetAddress address;
};

struct OutboundView {
    std::vector<OutboundPeer> peers; //!< including inbound ones
    bool try_another = false;        //!< the tip is stale: another peer may know a better one
    bool synced = false;             //!< if so, another peer is sometimes asked for headers
    int extra_block_relay = 0;       //!< slots beyond OutboundLimits
    int64_t now = 0;                 //!< microseconds since 1970
};

struct OutboundChoice {
    ConnectionKind kind = ConnectionKind::kOutboundFullRelay;
    PeerAddress address;
    bool count_failure = false; //!< our own network connection works, so a failure counts against
                                //!< the address
};

/** The objects that it uses; they outlive it. */
struct OutboundSurroundings {
    AddrMan& addresses;
    const NetGroups& groups;
    Logger& log;
    const NetworkSet& reachable; //!< may grow
    bool log_addresses = false;
    std::function<bool(const NetAddress&)> is_local;
    std::function<bool(const Endpoint&)> is_added; //!< -addnode connects to it anyway
    /** Whether a peer with these services is useful. */
    std::function<bool(uint64_t services)> is_desirable;
};

class OutboundPlan {
public:
    static constexpr int64_t kFeelerInterval = 120'000'000;     //!< microseconds, mean
    static constexpr int64_t kExtraBlockInterval = 300'000'000; //!< microseconds, mean
    static constexpr int64_t kExtraNetworkInterval = 300'000'000;
    static constexpr int kMaxTries = 100;
    static constexpr int kTriesForOld = 30;   //!< before recently tried addresses are accepted
    static constexpr int kTriesForPorts = 50; //!< before ports of other services are accepted
    static constexpr int64_t kLately = 600;   //!< seconds

    OutboundPlan(OutboundSurroundings surroundings, OutboundLimits limits,
                 std::vector<PeerAddress> anchors, const Hash32& seed, int64_t now);

    /** Nothing: no connection is missing, or no address is suitable. */
    std::optional<OutboundChoice> Next(const OutboundView& view);

private:
    struct Counts {
        int full_relay = 0;
        int block_relay = 0;
        int private_networks = 0; //!< peers on networks without meaningful groups
        std::set<Bytes> groups;   //!< of the other peers
        std::map<AddressNetwork, int> by_network;
    };
    struct Aim {
        ConnectionKind kind = ConnectionKind::kOutboundFullRelay;
        bool anchor = false;
        std::optional<AddressNetwork> network; //!< restricts the choice to this one
    };
    Counts Count(const OutboundView& view) const;
    std::optional<Aim> ChooseAim(const OutboundView& view, const Counts& counts);
    std::optional<AddressNetwork> MissingNetwork(const Counts& counts);
    std::optional<PeerAddress> TakeAnchor(const Counts& counts);
    std::optional<PeerAddress> ChooseAddress(const OutboundView& view, const Aim& aim,
                                             const Counts& counts);
    std::optional<AddrMan::Choice> Draw(const OutboundView& view, const Aim& aim);
    bool Fits(const AddrMan::Choice& choice, const Aim& aim, int tries, int64_t now) const;
    int64_t Delay(int64_t mean);

    const OutboundSurroundings m_at;
    const OutboundLimits m_limits;
    std::vector<PeerAddress> m_anchors; //!< the last one is used first
    RandomStream m_chance;
    // Microseconds since 1970.
    int64_t m_next_feeler;
    int64_t m_next_extra_block;
    int64_t m_next_extra_network;
};

/** Whether the port is usually used by another service, which connections of nodes could attack. */
bool IsBadPort(uint16_t port);

} // namespace ibd
