// -netinfo: the node's peers as a table, from getpeerinfo and getnetworkinfo. Pure functions.
#pragma once

#include "util/result.h"

#include <string>
#include <vector>

#include <univalue.h>

namespace ibd {

struct NetInfoOptions {
    int level = 0; //!< 1: a line for each peer, 2: with address, 3: with version, 4: with both
    bool outbound_only = false;
    bool help = false;
};
/** The words after -netinfo; the error is Core's sentence. */
Result<NetInfoOptions> ReadNetInfoWords(const std::vector<std::string>& words);

struct NetInfoAnswers {
    UniValue peers, network; //!< results of getpeerinfo and getnetworkinfo
    UniValue error;          //!< error of one of them; null if there is none
};
UniValue NetInfoBatch();
Result<NetInfoAnswers> ReadNetInfo(const UniValue& answers);

/** `title`: the client's, with its network. `now`: seconds since 1970. Without the last newline. */
std::string NetInfoText(const NetInfoAnswers& answers, const NetInfoOptions& options,
                        const std::string& title, int64_t now);
std::string NetInfoHelp();

/** The output of -addrinfo: known addresses by network, from getaddrmaninfo. */
UniValue AddrInfo(const UniValue& counts);

} // namespace ibd
