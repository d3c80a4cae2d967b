// Calls about transactions on their way into a block. One .cpp file per group.
#pragma once

#include "mempool/tx_acceptance.h"
#include "rpc/chain_context.h"
#include "rpc/table.h"

namespace ibd {

struct PoolContext {
    ChainContext& chain;
    TxPool& pool;
    const TxAcceptance& acceptance;
};

// `context` must outlive the table.

/** testmempoolaccept. */
void AddTestAcceptMethod(RpcTable& table, PoolContext& context);

/** A fee rate in bitcoin for 1,000 virtual bytes, below 1. */
Amount ParseFeeRate(const UniValue& value);

} // namespace ibd
