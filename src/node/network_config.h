// Reads and checks the options about peers, into PeerNetworkOptions. Errors and
// their order are Bitcoin Core's, since scripts compare them.
#pragma once

#include "net/network_options.h"
#include "util/args.h"

namespace ibd {

struct NetworkConfigSource {
    const ArgsManager& args;
    const ChainParams& params;
    Env& env;
    Logger& log;
    Path folder; //!< the network's
};

/** Ports and hosts, networks, proxies, the user agent: what is looked at once the log is open.
 *  Without the minimum work of a chain. */
Result<PeerNetworkOptions> ReadNetworkOptions(const NetworkConfigSource& source);
/** Where to listen and who is welcome: what is looked at last, when the node would begin to listen.
 */
Result<> ReadListenOptions(const NetworkConfigSource& source, PeerNetworkOptions& options);

/** The name that peers see: a stack of BIP 14. First the version of Core that this program stands
 *  in for, then its own name and version, with the comments of -uacomment. */
std::string UserAgent(const ArgsManager& args);

/** -proxy and -onion, and which networks can be reached with them. */
Result<> ReadProxies(const ArgsManager& args, PeerNetworkOptions& options);

/** What an option names, looked up; nothing if that is no host. */
std::optional<Endpoint> ResolveHost(const std::string& text, uint16_t default_port, bool names);

} // namespace ibd
