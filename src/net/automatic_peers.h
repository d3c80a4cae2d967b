// AutomaticPeers: makes the connections that the user did not name, by OutboundPlan (peers) and
// SeedPlan (first addresses). Owned by PeerNetwork; net-msg. Memory: kMaxFetches names.
#pragma once

#include "net/address/seed_plan.h"
#include "net/named_peers.h"
#include "net/peer/peer_manager.h"

namespace ibd {

class AutomaticPeers {
public:
    static constexpr int64_t kPlanInterval = kSecond / 2;
    static constexpr size_t kMaxFetches = 1'000; //!< nodes waiting to be asked for addresses
    static constexpr size_t kMaxOfSeed = 32;     //!< addresses used from one DNS seed

    AutomaticPeers(NetworkState& state, const NodeAddresses& addresses, const NamedPeers& named,
                   OutboundCalls& calls, Resolver& resolver, const PeerManager& peers)
        : m_state(state), m_addresses(addresses), m_named(named), m_calls(calls),
          m_resolver(resolver), m_peers(peers)
    {
    }

    void MakePlans();
    /** Whether the node chooses peers: -connect is not given. */
    bool HasPlan() const { return m_plan.has_value(); }
    /** Does the work that is due. `now`: microseconds, monotonic. */
    void Tick(int64_t now);
    void SetExtraBlockPeers(int count) { m_extra_block_peers = count; }

private:
    void TickSeeds(int64_t now);
    void CallForAddresses();
    void CallNextChoice();
    void AskSeed(const std::string& seed);
    void TakeSeeds(const std::string& seed, const std::string& host,
                   const std::vector<NetAddress>& found);
    void FetchFrom(const std::string& name);
    bool HasEmptyNetwork() const;
    void AddFixedSeeds();

    NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const PeerNetworkOptions& m_options{m_state.options};
    const NodeAddresses& m_addresses;
    const NamedPeers& m_named;
    OutboundCalls& m_calls;
    Resolver& m_resolver;
    const PeerManager& m_peers;
    std::optional<OutboundPlan> m_plan; //!< set by MakePlans(), unless -connect is given
    std::optional<SeedPlan> m_seeds;    //!< set by MakePlans()
    std::deque<std::string> m_fetches;  //!< names to connect to for addresses
    int64_t m_next_plan = 0;            //!< microseconds, monotonic
    int m_extra_block_peers = 0;
};

} // namespace ibd
