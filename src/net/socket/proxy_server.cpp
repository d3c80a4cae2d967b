// See proxy_server.h.
#include "net/socket/proxy_server.h"

namespace ibd {

std::string ProxyServer::ToString() const
{
    if (!unix_path.empty()) return "unix:" + unix_path;
    return address.address.IsValid() ? address.ToString() : "";
}

} // namespace ibd
