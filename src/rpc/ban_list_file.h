// banlist.json in the network's directory: the bans set by a user, in Bitcoin Core's format. See
// doc/formats/peers.md. On the caller's thread.
#pragma once

#include "net/address/ban_list.h"
#include "util/env.h"
#include "util/found.h"
#include "util/log.h"

namespace ibd {

using Bans = std::map<Subnet, BanEntry>;

/** The bans in the file, including expired bans. Nothing: there is no file, or it is malformed,
 *  which is logged; the list then starts empty. Error: the system cannot read the file, so an empty
 *  list must not replace it. `cjdns_reachable`: fc00::/8 is CJDNS. */
Found<Bans> ReadBans(Env& env, const Path& folder, bool cjdns_reachable, Logger& logger);
Result<> WriteBans(Env& env, const Path& folder, const Bans& bans);

} // namespace ibd
