// Whether the system can resolve an option's host. The checks at start need no more; net makes
// connections.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ibd {

struct LookedUp {
    std::string address; //!< numeric, or an onion or I2P name; in brackets if IPv6
    uint16_t port = 0;
    bool valid = false; //!< not the "any" address, to which no connection is possible

    std::string ToText() const { return address + ":" + std::to_string(port); }
};

/** `text`: "host" or "host:port". Names are resolved by DNS if `allow_names`. */
std::optional<LookedUp> LookUpHost(const std::string& text, uint16_t default_port,
                                   bool allow_names);

} // namespace ibd
