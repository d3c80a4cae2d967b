// LocalAddresses: by which addresses others may reach this node, and how sure that is: what it
// tells peers of itself. Owned by PeerNetwork, thread of the peers only. Bound: kMax.
#pragma once

#include "net/addr_man.h"

#include <map>

namespace ibd {

class LocalAddresses {
public:
    /** How an address became known; more is surer. Votes of peers add to it. */
    enum Score { kNone, kInterface, kBound, kMapped, kManual };
    struct Entry {
        uint16_t port = 0;
        int score = kNone;
    };
    static constexpr size_t kMax = 1000;

    /** `reachable` outlives this. `discover`: addresses that the user did not name count, too. */
    LocalAddresses(Logger& log, const NetworkSet& reachable, bool discover, bool log_addresses)
        : m_log(log), m_reachable(reachable), m_discover(discover), m_log_addresses(log_addresses)
    {
    }

    /** Whether it was taken: routable, and named by the user or of a network that is reachable. */
    bool Add(const Endpoint& endpoint, int score);
    void Remove(const NetAddress& address);
    /** A peer says it reached us there. */
    void Seen(const NetAddress& address);
    bool Contains(const NetAddress& address) const { return m_entries.contains(address); }
    int ScoreOf(const NetAddress& address) const;
    const std::map<NetAddress, Entry>& All() const { return m_entries; }
    /** The one that a peer can reach best. `peer_network`: by which it is connected; addresses of
     *  privacy networks are told on these only, and no others are told there. */
    std::optional<Endpoint> BestFor(const NetAddress& peer, AddressNetwork peer_network) const;

private:
    Logger& m_log;
    const NetworkSet& m_reachable; //!< may grow
    const bool m_discover;
    const bool m_log_addresses;
    std::map<NetAddress, Entry> m_entries;
};

/** The addresses of this machine's interfaces that are up, but for loopback. */
std::vector<NetAddress> InterfaceAddresses();

} // namespace ibd
