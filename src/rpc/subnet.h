// A range of IP addresses as -rpcallowip gives it: an address, address/bits or address/mask.
#pragma once

#include "util/bytes.h"

#include <array>
#include <optional>

namespace ibd {

/** 16 bytes; IPv4 is mapped as ::ffff:a.b.c.d. */
using IpBytes = std::array<uint8_t, 16>;

/** An IPv4 or IPv6 literal, the latter with or without a %scope; either may stand in brackets. */
std::optional<IpBytes> ParseIp(std::string_view text);

class Subnet {
public:
    /** `has_cjdns`: addresses fc00::/8 are of that network (-cjdnsreachable), which has no ranges.
     */
    static std::optional<Subnet> Parse(std::string_view text, bool has_cjdns = false);
    bool Contains(const IpBytes& ip) const;

private:
    IpBytes m_base{};
    IpBytes m_mask{};
};

} // namespace ibd
