// Converts endpoints to and from the system's socket addresses. For IPv4 and IPv6 (and CJDNS, which
// is IPv6 to the system); other networks have no sockets.
#pragma once

#include "net/address/net_address.h"

#include <sys/socket.h>

namespace ibd {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    sockaddr* Get() { return reinterpret_cast<sockaddr*>(&storage); }
    int Family() const { return storage.ss_family; }
};

/** Nothing for networks without sockets. */
std::optional<SocketAddress> ToSocketAddress(const Endpoint& endpoint);
/** A UNIX socket; nothing if the path is too long. */
std::optional<SocketAddress> UnixSocketAddress(const std::string& path);
/** Nothing for families other than IPv4 and IPv6. */
std::optional<Endpoint> FromSocketAddress(const sockaddr* address);
/** Our end of a socket; invalid if unknown. */
Endpoint LocalEndpoint(int fd);

} // namespace ibd
