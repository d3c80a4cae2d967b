// The few calls about the network that tools ask of any node; there are no peers yet.
#pragma once

#include "rpc/table.h"

namespace ibd {

/** getnetworkinfo, getconnectioncount, getpeerinfo. */
void AddNetworkMethods(RpcTable& table);

} // namespace ibd
