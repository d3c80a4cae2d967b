// LocalAddresses: our own addresses with scores of certainty, from which those announced to peers
// are chosen. Owned by PeerNetwork, thread of the peers only. Bound: kMax.
#pragma once

#include "net/address/addr_man.h"

#include <map>

namespace ibd {

class LocalAddresses {
public:
    /** Source of an address; higher is more certain. Reports of peers add to it. */
    enum Score { kNone, kInterface, kBound, kMapped, kManual };
    struct Entry {
        uint16_t port = 0;
        int score = kNone;
    };
    static constexpr size_t kMax = 1000;

    /** `reachable` outlives this. `discover`: also use addresses that the user did not name. */
    LocalAddresses(Logger& log, const NetworkSet& reachable, bool discover, bool log_addresses)
        : m_log(log), m_reachable(reachable), m_discover(discover), m_log_addresses(log_addresses)
    {
    }

    /** Returns whether it was added: routable, and named by the user or on a reachable network. */
    bool Add(const Endpoint& endpoint, int score);
    void Remove(const NetAddress& address);
    /** Records that a peer reached us at this address. */
    void Seen(const NetAddress& address);
    bool Contains(const NetAddress& address) const { return m_entries.contains(address); }
    int ScoreOf(const NetAddress& address) const;
    const std::map<NetAddress, Entry>& All() const { return m_entries; }
    /** The address that the peer can reach best. `peer_network`: the network of its connection.
     *  An address of a privacy network is announced on that network alone, and no other there. */
    std::optional<Endpoint> BestFor(const NetAddress& peer, AddressNetwork peer_network) const;

private:
    Logger& m_log;
    const NetworkSet& m_reachable; //!< may grow
    const bool m_discover;
    const bool m_log_addresses;
    std::map<NetAddress, Entry> m_entries;
};

/** The addresses of this machine's active interfaces, without loopback. */
std::vector<NetAddress> InterfaceAddresses();

} // namespace ibd
