// Whom bitcoin-cli calls and with which login, from the options.
#pragma once

#include "cli/http_client.h"
#include "util/config.h"
#include "util/env.h"

#include <iosfwd>
#include <optional>

namespace ibd {

/** Host, port and time-out; -rpcport goes before a port in -rpcconnect, which goes before that of
 *  the network. The login is left out. */
Result<HttpTarget> ReadTarget(const ArgsManager& args, const DataPaths& paths,
                              std::ostream& warnings);

/** "user:password" of the options or else of the cookie; empty if there is neither. */
std::string ReadLogin(Env& env, const ArgsManager& args, const DataPaths& paths);

/** Why a node answers 401 to `login`, as far as the options tell. */
std::string LoginRefused(const ArgsManager& args, const DataPaths& paths, const std::string& login);

/** "/", or where a wallet's calls go: its name with all but letters, digits and "-._~" as %XX. */
std::string WalletPath(const std::optional<std::string>& wallet);

} // namespace ibd
