// The few calls about the network that tools ask of any node; there are no peers yet.
#pragma once

#include "rpc/chain_context.h"
#include "rpc/table.h"

namespace ibd {

/** getnetworkinfo, getconnectioncount, getpeerinfo. `context` must outlive the table. */
void AddNetworkMethods(RpcTable& table, ChainContext& context);

} // namespace ibd
