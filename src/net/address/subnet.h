// Subnet: a range of addresses: IP addresses by mask, or a single address of another network. Used
// in -rpcallowip, -whitelist, setban and banlist.json. A value.
#pragma once

#include "net/address/net_address.h"

namespace ibd {

class Subnet {
public:
    /** One address, of any network but kInternal. */
    explicit Subnet(const NetAddress& address);
    /** "address", "ip/bits" or "ip/mask". With `cjdns_reachable`, fc00::/8 is CJDNS, which has only
     *  single addresses. */
    static std::optional<Subnet> Parse(std::string_view text, bool cjdns_reachable = false);

    /** Whether the address is in the range; false for invalid addresses. */
    bool Contains(const NetAddress& address) const;
    /** "1.2.0.0/16", "x.onion". */
    std::string ToString() const;

    auto operator<=>(const Subnet&) const = default;
    bool operator==(const Subnet&) const = default;

private:
    Subnet(const NetAddress& base, size_t bits);

    NetAddress m_base; //!< zeros after the mask
    uint16_t m_bits;   //!< significant bits; all for networks other than IP
};

} // namespace ibd
