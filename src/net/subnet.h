// Subnet: a range of addresses - of IP by a mask, of other networks one address alone. What
// -rpcallowip, -whitelist, setban and banlist.json name. A value.
#pragma once

#include "net/net_address.h"

namespace ibd {

class Subnet {
public:
    /** One address, of any network but kInternal. */
    explicit Subnet(const NetAddress& address);
    /** "address", "ip/bits" or "ip/mask". With `cjdns_reachable`, fc00::/8 is CJDNS, of which there
     *  are single addresses only. */
    static std::optional<Subnet> Parse(std::string_view text, bool cjdns_reachable = false);

    /** Whether a valid address lies in it; one that is not valid lies in none. */
    bool Contains(const NetAddress& address) const;
    /** "1.2.0.0/16", "x.onion". */
    std::string ToString() const;

    auto operator<=>(const Subnet&) const = default;
    bool operator==(const Subnet&) const = default;

private:
    Subnet(const NetAddress& base, size_t bits);

    NetAddress m_base; //!< zeros behind the mask
    uint16_t m_bits;   //!< that count, of networks other than IP all
};

} // namespace ibd
