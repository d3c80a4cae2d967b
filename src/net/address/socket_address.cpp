// See socket_address.h.
#include "net/address/socket_address.h"

#include <cstring>

#include <netinet/in.h>
#include <sys/un.h>

namespace ibd {

std::optional<SocketAddress> ToSocketAddress(const Endpoint& endpoint)
{
    const ByteSpan raw = endpoint.address.Raw();
    SocketAddress out;
    if (endpoint.address.Is(AddressNetwork::kIpv4)) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        std::memcpy(&v4.sin_addr, raw.data(), sizeof v4.sin_addr);
        std::memcpy(&out.storage, &v4, sizeof v4);
        out.size = sizeof v4;
        return out;
    }
    if (!endpoint.address.Is(AddressNetwork::kIpv6) &&
        !endpoint.address.Is(AddressNetwork::kCjdns)) {
        return std::nullopt;
    }
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    v6.sin6_scope_id = endpoint.address.Scope();
    std::memcpy(&v6.sin6_addr, raw.data(), sizeof v6.sin6_addr);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size = sizeof v6;
    return out;
}

std::optional<SocketAddress> UnixSocketAddress(const std::string& path)
{
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) return std::nullopt;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    SocketAddress out;
    std::memcpy(&out.storage, &address, sizeof address);
    out.size = sizeof address;
    return out;
}

std::optional<Endpoint> FromSocketAddress(const sockaddr* address)
{
    if (address->sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, address, sizeof v4);
        std::array<uint8_t, 4> bytes{};
        std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
        return Endpoint{NetAddress::FromIpv4(bytes), ntohs(v4.sin_port)};
    }
    if (address->sa_family != AF_INET6) return std::nullopt;
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    std::array<uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return Endpoint{NetAddress::FromIpv6(bytes, v6.sin6_scope_id), ntohs(v6.sin6_port)};
}

Endpoint LocalEndpoint(int fd)
{
    SocketAddress address;
    address.size = sizeof address.storage;
    if (::getsockname(fd, address.Get(), &address.size) != 0) return {};
    return FromSocketAddress(address.Get()).value_or(Endpoint{});
}

} // namespace ibd
