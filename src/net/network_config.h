// Reads and checks the options about peers, into PeerNetworkOptions. Errors and
// their order are Bitcoin Core's, since scripts compare them.
#pragma once

#include "consensus/params.h"
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

/** Reads ports and hosts, networks, proxies, the user agent: options that are checked once the log
 *  is open. Does not set the minimum work of a chain. */
Result<PeerNetworkOptions> ReadNetworkOptions(const NetworkConfigSource& source);
/** Reads listening addresses and permissions: options that are checked last, just before the node
 *  listens. */
Result<> ReadListenOptions(const NetworkConfigSource& source, PeerNetworkOptions& options);

/** The user agent for peers, in BIP 14 form: first the compatible version of Core, then our own
 *  name and version, with the comments of -uacomment. */
std::string UserAgent(const ArgsManager& args);

/** Reads -maxuploadtarget: bytes a day; 0: no limit. */
Result<uint64_t> ReadUploadTarget(const ArgsManager& args);

/** Reads -proxy and -onion, and the networks that can be reached through them. */
Result<> ReadProxies(const ArgsManager& args, PeerNetworkOptions& options);

/** Resolves an option's host; nothing: invalid. */
std::optional<Endpoint> ResolveHost(const std::string& text, uint16_t default_port, bool names);

} // namespace ibd
