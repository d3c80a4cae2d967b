// AddressBook: what the peers' logic needs to know of addresses - those of others, its own, who is
// not wanted - and what it has to tell about them. Owned by net; implemented by PeerNetwork over
// the address manager, and by tests. Called by the thread that owns the peers.
#pragma once

#include "net/peer_link.h"

#include <optional>
#include <vector>

namespace ibd {

class AddressBook {
public:
    virtual ~AddressBook() = default;

    // Of others.

    /** `source` says so; their times count `penalty` seconds less. */
    virtual void Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
                       int64_t penalty) = 0;
    /** We were called there, and it is alive. */
    virtual void Good(const Endpoint& endpoint) = 0;
    virtual void SetServices(const Endpoint& endpoint, uint64_t services) = 0;
    /** We were connected to it until now. */
    virtual void Connected(const Endpoint& endpoint) = 0;
    virtual bool IsUnwanted(const NetAddress& address) const = 0; //!< banned or discouraged
    virtual bool IsReachable(const NetAddress& address) const = 0;
    /** What to answer a getaddr: the same for a day for all who call in the same way, unless the
     *  asker is trusted, as else who asks often learns whom we know and when we met. */
    virtual std::vector<PeerAddress> Answer(const NewPeer& asker, bool trusted) = 0;

    // Our own.

    /** Whether anybody may call us. */
    virtual bool Listens() const = 0;
    /** A peer reached us there. */
    virtual void SeenAs(const Endpoint& endpoint) = 0;
    /** By which this peer might tell others of us; `seen_as`: as it sees us. */
    virtual std::optional<Endpoint> OwnAddressFor(const NewPeer& peer, const Endpoint& seen_as) = 0;
};

} // namespace ibd
