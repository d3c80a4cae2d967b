// The options of the JSON-RPC server.
#pragma once

#include "jsonrpc/server.h"
#include "util/option_row.h"

namespace ibd {

/** The options of the "RPC server" group of -help. */
OptionTopic<RpcServerOptions> RpcServerTopic();
inline void AddRpcOptions(ArgsManager& args) { AddRows(args, RpcServerTopic()); }

/** Reads the options. `network_dir` is where the cookie goes unless -rpccookiefile is absolute. */
Result<RpcServerOptions> ReadRpcOptions(const ArgsManager& args, uint16_t default_port,
                                        const Path& network_dir, Logger& logger);

} // namespace ibd
