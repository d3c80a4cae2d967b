// banlist.json below the network's directory: the bans that a user set, as Bitcoin Core writes
// them. See doc/formats/peers.md. On the caller's thread.
#pragma once

#include "net/ban_list.h"
#include "util/env.h"
#include "util/log.h"

namespace ibd {

using Bans = std::map<Subnet, BanEntry>;

/** The bans of the file, those that ended included; nothing if there is no file or none that can be
 *  read, which is logged: then the list begins anew. `cjdns_reachable`: fc00::/8 is CJDNS. */
std::optional<Bans> ReadBans(Env& env, const Path& folder, bool cjdns_reachable, Logger& logger);
Result<> WriteBans(Env& env, const Path& folder, const Bans& bans);

} // namespace ibd
