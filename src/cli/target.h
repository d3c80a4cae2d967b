// The server that bitcoin-cli calls, and the login, from the options.
#pragma once

#include "cli/http_client.h"
#include "util/config.h"
#include "util/env.h"
#include "util/option_row.h"

#include <iosfwd>
#include <optional>

namespace ibd {

/** The options of bitcoin-cli, besides AddCommonOptions(). */
OptionTopic<HttpTarget> CliTopic();
/** All options of bitcoin-cli. */
void AddCliOptions(ArgsManager& args);

/** Host, port and timeout. -rpcport has precedence over a port in -rpcconnect, and that over the
 *  network's. Sets no login. */
Result<HttpTarget> ReadTarget(const ArgsManager& args, const DataPaths& paths,
                              std::ostream& warnings);

/** "user:password" from the options, else from the cookie; empty: neither exists. */
std::string ReadLogin(Env& env, const ArgsManager& args, const DataPaths& paths);

/** The probable reason, by the options, why a node answers 401 to `login`. */
std::string LoginRefused(const ArgsManager& args, const DataPaths& paths, const std::string& login);

/** "/", or the path for a wallet's calls: its name, with all but letters, digits and "-._~" as %XX.
 */
std::string WalletPath(const std::optional<std::string>& wallet);

} // namespace ibd
