// The options of bitcoin-cli, and the server and login derived from them.
#pragma once

#include "cli/http_client.h"
#include "util/config.h"
#include "util/env.h"
#include "util/option_row.h"

#include <iosfwd>
#include <optional>

namespace ibd {

/** Values of the options, except the options that ReadTarget() and ReadLogin() read. */
struct CliOptions {
    int timeout_seconds = HttpTarget().timeout_seconds;
    std::string color = "auto";
    bool generate = false;
    bool get_info = false;
    bool address_info = false;
    bool net_info = false;
    bool named = false; //!< arguments are name=value
    std::string id = "1";
    bool wait = false;        //!< wait until the node serves calls
    int64_t wait_seconds = 0; //!< at most; 0: no limit
    std::optional<std::string> wallet = {};
    bool read_words = false; //!< read from standard input, like the next two
    bool read_password = false;
    bool read_passphrase = false;
};

/** The options of bitcoin-cli, besides AddCommonOptions(). */
OptionTopic<CliOptions> CliTopic();
/** All options of bitcoin-cli. */
void AddCliOptions(ArgsManager& args);
Result<CliOptions> ReadCliOptions(const ArgsManager& args);

/** Refuses more than one of the options that replace a call (such as -getinfo), even if one is
 *  negated. */
Result<> CheckOneSpecial(const ArgsManager& args);
/** Refuses -ipcconnect, as there is no bitcoin-node socket. */
Result<> CheckIpc(const ArgsManager& args);
/** A password that was not given as an option. */
void SetPassword(ArgsManager& args, const std::string& password);

/** Host and port. The port is that of -rpcport, else of -rpcconnect, else the network's default.
 *  Does not set the login. */
Result<HttpTarget> ReadTarget(const ArgsManager& args, const DataPaths& paths,
                              std::ostream& warnings);

/** "user:password" from the options, else from the cookie; empty: neither exists. */
std::string ReadLogin(Env& env, const ArgsManager& args, const DataPaths& paths);

/** The probable reason, judged by the options, for a node's answer 401 to `login`. */
std::string LoginRefused(const ArgsManager& args, const DataPaths& paths, const std::string& login);

/** "/", or the path for a wallet's calls: its name, with all but letters, digits and "-._~" as %XX.
 */
std::string WalletPath(const std::optional<std::string>& wallet);

} // namespace ibd
