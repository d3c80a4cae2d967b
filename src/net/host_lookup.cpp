// See host_lookup.h.
#include "net/host_lookup.h"
#include "util/host_port.h"

#include <memory>

#include <netdb.h>
#include <sys/socket.h>

namespace ibd {

std::optional<LookedUp> LookUpHost(const std::string& text, uint16_t default_port, bool allow_names)
{
    if (text.empty() || text.find('\0') != std::string::npos) return std::nullopt;
    const auto split = SplitHostPort(text);
    LookedUp found;
    found.port = split ? split->port.value_or(default_port) : default_port;
    const std::string host = split ? split->host : text;
    if (host.ends_with(".onion") || host.ends_with(".i2p")) {
        found.address = host;
        found.valid = true;
        return found;
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = allow_names ? AI_ADDRCONFIG : AI_NUMERICHOST;
    addrinfo* list = nullptr;
    // Numeric first, independent of this machine's addresses: AI_ADDRCONFIG is only for names.
    if (allow_names) {
        if (auto numeric = LookUpHost(text, default_port, false)) return numeric;
    }
    if (::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return std::nullopt;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
    char name[NI_MAXHOST];
    if (::getnameinfo(list->ai_addr, list->ai_addrlen, name, sizeof name, nullptr, 0,
                      NI_NUMERICHOST) != 0) {
        return std::nullopt;
    }
    found.address = list->ai_family == AF_INET6 ? "[" + std::string(name) + "]" : name;
    found.valid =
        found.address != "0.0.0.0" && found.address != "255.255.255.255" && found.address != "[::]";
    return found;
}

} // namespace ibd
