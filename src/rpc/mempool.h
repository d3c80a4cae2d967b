// Calls about unconfirmed transactions. One .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "mempool/tx_submission.h"
#include "rpc/chain_context.h"

namespace ibd {

struct PoolContext {
    ChainContext& chain;
    TxPool& pool;
    const TxAcceptance& acceptance;
    const TxSubmission& submission;
    Logger& log;
    std::atomic<bool> warned = false; //!< the user was warned that transactions are not announced
};

// `context` must outlive the table.

/** getmempoolinfo, getrawmempool, getmempoolentry, getmempoolancestors, getmempooldescendants,
 *  syncwithvalidationinterfacequeue. */
void AddMempoolMethods(RpcTable& table, PoolContext& context);
/** getmempoolcluster, getmempoolfeeratediagram. */
void AddMempoolClusterMethods(RpcTable& table, PoolContext& context);
/** prioritisetransaction, getprioritisedtransactions. */
void AddPrioritiseMethods(RpcTable& table, PoolContext& context);
/** sendrawtransaction. */
void AddSendMethod(RpcTable& table, PoolContext& context);
/** testmempoolaccept. */
void AddTestAcceptMethod(RpcTable& table, PoolContext& context);
/** estimatesmartfee, estimaterawfee. `enabled`: false if no transactions come from peers. */
void AddFeeMethods(RpcTable& table, bool enabled);

inline constexpr const char* kDefaultMaxFeeRate = "0.10";
/** A fee rate in bitcoin for 1,000 virtual bytes, below 1. */
Amount ParseFeeRate(const UniValue& value);

} // namespace ibd
