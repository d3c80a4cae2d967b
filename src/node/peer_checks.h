// What bitcoind refuses at start of the options that hold addresses. Texts and order are Bitcoin
// Core's.
#pragma once

#include "consensus/params.h"
#include "util/args.h"

namespace ibd {

/** The name that peers see (BIP14), with the comments of -uacomment. */
std::string UserAgent(const ArgsManager& args);

/** Options of peers that are looked at once the log is open: ports and hosts, networks, proxies,
 *  the user agent. */
Result<> CheckPeerOptions(const ArgsManager& args, const ChainParams& params);
/** Those that are looked at last, when the node would begin to listen. */
Result<> CheckListenOptions(const ArgsManager& args, const ChainParams& params);

} // namespace ibd
