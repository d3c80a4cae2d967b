// Calls about the block chain. One .cpp file per group.
#pragma once

#include "booster/booster_progress.h"
#include "jsonrpc/table.h"
#include "rpc/chain_context.h"

namespace ibd {

class TxPool; // mempool/tx_pool.h

// `context` and `pool` must outlive the table.

/** getblockchaininfo, getblockcount, getbestblockhash, getdifficulty, getchaintips,
 *  getchainstates, getchaintxstats and the waiting calls. */
void AddChainInfoMethods(RpcTable& table, ChainContext& context);
/** getdeploymentinfo. */
void AddDeploymentMethods(RpcTable& table, ChainContext& context);
/** getblockhash, getblockheader, getblock, getblockstats. */
void AddBlockMethods(RpcTable& table, ChainContext& context);
/** gettxout, gettxoutsetinfo, dumptxoutset. */
void AddCoinsMethods(RpcTable& table, ChainContext& context, const TxPool& pool);
/** loadtxoutset. */
void AddSnapshotMethods(RpcTable& table, ChainContext& context);
/** scantxoutset. */
void AddScanMethods(RpcTable& table, ChainContext& context);
/** getdescriptoractivity. */
void AddDescriptorActivityMethod(RpcTable& table, ChainContext& context, const TxPool& pool);
/** getdescriptorinfo, deriveaddresses. */
void AddDescriptorMethods(RpcTable& table, ChainContext& context);
/** getrawtransaction, decoderawtransaction. */
void AddTransactionMethods(RpcTable& table, ChainContext& context, const TxPool& pool);
/** gettxoutproof, verifytxoutproof. */
void AddTxProofMethods(RpcTable& table, ChainContext& context);
/** verifychain, invalidateblock, reconsiderblock, preciousblock, submitblock, submitheader,
 *  pruneblockchain. */
void AddChainControlMethods(RpcTable& table, ChainContext& context);
/** getblockfilter, scanblocks. */
void AddBlockFilterMethods(RpcTable& table, ChainContext& context);
/** getindexinfo. */
void AddIndexMethods(RpcTable& table, ChainContext& context);

/** getboosterinfo. `progress`: nothing without a booster; called on any thread. `verifier`: of
 *  signatures in batches. */
void AddBoosterMethods(RpcTable& table, const ChainContext& context,
                       std::function<std::optional<BoosterProgress>()> progress,
                       const OverallProgress& overall, const std::string& verifier);
/** Adds step, steps, progress and timeleft. */
void PushOverall(UniValue& out, const OverallProgress::Figure& work);

} // namespace ibd
