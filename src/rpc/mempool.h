// Calls about unconfirmed transactions. One .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "mempool/fee_estimator.h"
#include "mempool/pool_file.h"
#include "rpc/chain_context.h"

namespace ibd {

struct NetContext;

struct PoolContext {
    ChainContext& chain;
    TxPool& pool;
    const TxAcceptance& acceptance;
    const TxSubmission& submission;
    Logger& log;
    FeeEstimator* fees = nullptr; //!< null: no transactions come from peers
    PoolFile file = {};
    std::atomic<bool> loaded = false; //!< loaded from the file, or its loading was tried
    /** Announces a transaction of the pool to peers. May be empty. */
    std::function<void(const TransactionRef&)> announce = {};
};

// `context` must outlive the table.

/** getmempoolinfo, getrawmempool, getmempoolentry, getmempoolancestors, getmempooldescendants,
 *  syncwithvalidationinterfacequeue. */
void AddMempoolMethods(RpcTable& table, PoolContext& context);
/** getmempoolcluster, getmempoolfeeratediagram. */
void AddMempoolClusterMethods(RpcTable& table, PoolContext& context);
/** prioritisetransaction, getprioritisedtransactions. */
void AddPrioritiseMethods(RpcTable& table, PoolContext& context);
/** savemempool, importmempool. */
void AddMempoolFileMethods(RpcTable& table, PoolContext& context);
/** submitpackage. */
void AddSubmitPackageMethod(RpcTable& table, PoolContext& context);
/** sendrawtransaction. */
void AddSendMethod(RpcTable& table, PoolContext& context, NetContext& net);
/** testmempoolaccept. */
void AddTestAcceptMethod(RpcTable& table, PoolContext& context);
/** gettxspendingprevout. */
void AddSpenderMethod(RpcTable& table, PoolContext& context);
/** estimatesmartfee, estimaterawfee. */
void AddFeeMethods(RpcTable& table, PoolContext& context);

inline constexpr const char* kDefaultMaxFeeRate = "0.10";
/** A fee rate in bitcoin for 1,000 virtual bytes, below 1. */
Amount ParseFeeRate(const UniValue& value);

/** The pool's transaction of that id, which may have another witness; null: none. */
TransactionRef FindInPool(const TxPool& pool, const Txid& id);

/** Throws -25 if an unspendable output has more than `most`. */
void RefuseBurning(const TxView& tx, Amount most);
/** The transactions of a package; -8 if there are none or too many, -22 if one is malformed. */
void RequirePackageCount(const UniValue& array);
std::vector<TransactionRef> ParsePackage(const UniValue& array);

} // namespace ibd
