// A range of IP addresses as -rpcallowip gives it: an address, address/bits or address/mask.
#pragma once

#include "util/bytes.h"

#include <array>
#include <optional>

namespace ibd {

/** 16 bytes; IPv4 is mapped as ::ffff:a.b.c.d. */
using IpBytes = std::array<uint8_t, 16>;

/** An IPv4 or IPv6 literal, the latter with or without a %scope. */
std::optional<IpBytes> ParseIp(std::string_view text);

class Subnet {
public:
    static std::optional<Subnet> Parse(std::string_view text);
    bool Contains(const IpBytes& ip) const;

private:
    IpBytes m_base{};
    IpBytes m_mask{};
};

} // namespace ibd
