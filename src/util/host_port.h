// "host", "host:port", "[v6]", "[v6]:port": the form of addresses in options and commands.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ibd {

struct HostPort {
    std::string host;             //!< without brackets
    std::optional<uint16_t> port; //!< 1 and above
};

/** Nothing: the port is invalid. An IPv6 address without brackets has no port. */
std::optional<HostPort> SplitHostPort(std::string_view text);

/** The error of an option with such a value. */
Error InvalidPort(const std::string& option, const std::string& value);

} // namespace ibd
