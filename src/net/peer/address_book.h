// AddressBook: the peer logic's view of addresses: known ones, our own, banned ones; and its
// reports about them. Owned by net; implemented by PeerNetwork over the address manager, and by
// tests. Called on the thread of the peers.
#pragma once

#include "net/peer/peer_link.h"

#include <optional>
#include <vector>

namespace ibd {

class AddressBook {
public:
    virtual ~AddressBook() = default;

    // Addresses of other nodes.

    /** Adds addresses announced by `source`; their times are reduced by `penalty` seconds. */
    virtual void Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
                       int64_t penalty) = 0;
    /** An outbound connection to this address succeeded. */
    virtual void Good(const Endpoint& endpoint) = 0;
    virtual void SetServices(const Endpoint& endpoint, uint64_t services) = 0;
    /** A connection to it has ended. */
    virtual void Connected(const Endpoint& endpoint) = 0;
    virtual bool IsUnwanted(const NetAddress& address) const = 0; //!< banned or discouraged
    virtual bool IsReachable(const NetAddress& address) const = 0;
    /** The answer to a getaddr: the same for a day for all inbound peers of the same kind, unless
     *  the peer is trusted. Otherwise frequent requests would reveal our known addresses and
     *  connection times. */
    virtual std::vector<PeerAddress> Answer(const NewPeer& asker, bool trusted) = 0;

    // Our own addresses.

    /** Whether the node accepts inbound connections. */
    virtual bool Listens() const = 0;
    /** A peer reported that it reached us at this address. */
    virtual void SeenAs(const Endpoint& endpoint) = 0;
    /** The address to announce to this peer; `seen_as`: our address as the peer sees it. */
    virtual std::optional<Endpoint> OwnAddressFor(const NewPeer& peer, const Endpoint& seen_as) = 0;
};

} // namespace ibd
