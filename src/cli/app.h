// bitcoin-cli: turns a command line into an RPC call, and the answer into text and an exit code.
// One thread. Streams and files are passed in; only the network is accessed directly.
#pragma once

#include "util/env.h"

#include <iosfwd>

namespace ibd {

struct CliStreams {
    std::istream& in;
    std::ostream& out;
    std::ostream& error;
    bool out_is_terminal = false;
};

/** Runs the program. Exit codes: 0: success; 1: a failure of the client (options, connection,
 *  login); otherwise the absolute value of the RPC error code. */
int RunCli(Env& env, int argc, const char* const argv[], const CliStreams& streams);

} // namespace ibd
