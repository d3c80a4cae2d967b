// RestContext: the objects that REST uses; they are those of the calls.
#pragma once

#include "jsonrpc/table.h"
#include "rpc/mempool.h"

namespace ibd {

/** All must outlive the handler. */
struct RestContext {
    ChainContext& chain;
    const TxPool& pool;
    const RpcTable& table; //!< answers of calls, and whether the node is still starting
};

} // namespace ibd
