// Whether the system can make an address of what an option names. The checks at start
// need no more; connecting is the business of net.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ibd {

struct LookedUp {
    std::string address; //!< numeric, or the onion or I2P name; in brackets if IPv6
    uint16_t port = 0;
    bool valid = false; //!< not the "any" address, which one can listen at but not connect to

    std::string ToText() const { return address + ":" + std::to_string(port); }
};

/** `text` is "host" or "host:port". Names are looked up in DNS if `allow_names`. */
std::optional<LookedUp> LookUpHost(const std::string& text, uint16_t default_port,
                                   bool allow_names);

} // namespace ibd
