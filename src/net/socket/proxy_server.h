// ProxyServer: the address of a SOCKS5 server. A value.
#pragma once

#include "net/address/net_address.h"

namespace ibd {

/** A SOCKS5 server. */
struct ProxyServer {
    Endpoint address;
    std::string unix_path;  //!< path of a UNIX socket, used instead of the address if not empty
    bool randomize = false; //!< another login for each connection (-proxyrandomize)

    bool IsSet() const { return !unix_path.empty() || address.address.IsValid(); }
    /** "127.0.0.1:9050" or "unix:/path"; empty if not set. */
    std::string ToString() const;
};

} // namespace ibd
