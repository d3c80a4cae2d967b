// Calls about the mining order of the pool, and about prioritisation by the user; see mempool.h.
#include "consensus/limits.h"
#include "jsonrpc/json.h"
#include "mempool/upkeep.h"
#include "rpc/amount_json.h"
#include "rpc/mempool.h"

namespace ibd {

namespace {

UniValue ChunkJson(const PoolChunk& chunk)
{
    UniValue txs(UniValue::VARR);
    for (const PoolTx* tx : chunk.Txs()) txs.push_back(tx->Id().ToHex());
    UniValue out(UniValue::VOBJ);
    out.pushKV("chunkfee", AmountJson(chunk.sum.fee));
    out.pushKV("chunkweight", Num(chunk.sum.size));
    out.pushKV("txs", txs);
    return out;
}

UniValue ClusterOf(const TxPool& pool, const Txid& id)
{
    const Lock lock(pool.mutex);
    const PoolTx* const tx = pool.Find(id);
    if (!tx) throw RpcError{RpcCode::kInvalidAddressOrKey, "Transaction not in mempool"};
    int64_t weight = 0;
    UniValue chunks(UniValue::VARR);
    for (const PoolChunk& chunk : tx->cluster->chunks) {
        weight += chunk.sum.size;
        chunks.push_back(ChunkJson(chunk));
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("clusterweight", Num(weight));
    out.pushKV("txcount", Num(tx->cluster->txs.size()));
    out.pushKV("chunks", chunks);
    return out;
}

UniValue PointJson(const FeeSize& point)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("weight", Num(point.size));
    out.pushKV("fee", AmountJson(point.fee));
    return out;
}

UniValue Diagram(const TxPool& pool)
{
    FeeSize point;
    UniValue out(UniValue::VARR);
    out.push_back(PointJson(point));
    const Lock lock(pool.mutex);
    for (const PoolChunk* chunk : pool.Chunks()) {
        point += chunk->sum;
        out.push_back(PointJson(point));
    }
    return out;
}

/** Dust must be mined together with its child, so a prioritisation must not bring it into a block
 *  alone. */
void RefuseDust(const PoolContext& context, const Txid& id) IBD_REQUIRES(context.pool.mutex)
{
    const PolicyOptions& policy = context.acceptance.Policy();
    const PoolTx* const tx = context.pool.Find(id);
    if (!tx || !policy.require_standard) return;
    if (DustOutputs(tx->tx->View(), policy.dust_fee).empty()) return;
    throw RpcError{RpcCode::kInvalidParameter,
                   "Priority is not supported for transactions with dust outputs."};
}

UniValue PrioritiseTransaction(const PoolContext& context, const RpcCall& call)
{
    const Txid id = call.Hash(0, "txid");
    if (call.Has(1) && call.At(1).get_real() != 0) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Priority is no longer supported, dummy argument to prioritisetransaction "
                       "must be 0."};
    }
    const auto delta = ParseInt<int64_t>(call.At(2));
    const PoolGate::Pass pass(context.pool.gate);
    const Lock lock(context.pool.mutex);
    RefuseDust(context, id);
    const Amount sum = Prioritise(context.pool, id, delta);
    const char* const where = context.pool.Find(id) ? "" : "not ";
    if (sum == 0) {
        context.log.Info("PrioritiseTransaction: {} ({}in mempool) delta cleared", id.ToHex(),
                         where);
    } else {
        context.log.Info("PrioritiseTransaction: {} ({}in mempool) fee += {}, new delta={}",
                         id.ToHex(), where, FormatAmount(delta), FormatAmount(sum));
    }
    return Bool(true);
}

UniValue Prioritised(const TxPool& pool)
{
    UniValue out(UniValue::VOBJ);
    const Lock lock(pool.mutex);
    for (const auto& [id, delta] : pool.Deltas()) {
        const PoolTx* const tx = pool.Find(id);
        UniValue one(UniValue::VOBJ);
        one.pushKV("fee_delta", Num(delta));
        one.pushKV("in_mempool", Bool(tx != nullptr));
        if (tx) one.pushKV("modified_fee", Num(tx->ModifiedFee()));
        out.__pushKV(id.ToHex(), one);
    }
    return out;
}

} // namespace

void AddMempoolClusterMethods(RpcTable& table, PoolContext& context)
{
    table.Add({"blockchain",
               "getmempoolcluster",
               "Shows the cluster of a pool transaction, in mining order.",
               {{"txid", RpcType::kHex, true, "", "The transaction, which must be in the pool"}},
               "{\n"
               "  \"clusterweight\": n,      (numeric) Weight of the cluster by policy "
               "(-bytespersigop)\n"
               "  \"txcount\": n,            (numeric) Transactions in it\n"
               "  \"chunks\": [              (json array) Its chunks, the best first\n"
               "    {\n"
               "      \"chunkfee\": n,       (numeric) Fees of the chunk, bitcoin\n"
               "      \"chunkweight\": n,    (numeric) Weight of the chunk\n"
               "      \"txs\": [ \"txid\" ]    (json array) Its transactions, which are mined "
               "together\n"
               "    }, ...\n"
               "  ]\n"
               "}",
               "\"mytxid\"",
               [&context](const RpcCall& call) {
                   return ClusterOf(context.pool, Txid(call.Hash(0, "txid")));
               }});
    table.Add({"hidden",
               "getmempoolfeeratediagram",
               "The total fee of the pool over its total weight, in mining order.",
               {},
               "[ { \"weight\": n, \"fee\": n }, ... ]    (json array) After each chunk, from 0",
               "",
               [&context](const RpcCall&) { return Diagram(context.pool); }});
    table.AnswerEarly({"getmempoolcluster", "getmempoolfeeratediagram"});
}

void AddPrioritiseMethods(RpcTable& table, PoolContext& context)
{
    table.Add({"mining",
               "prioritisetransaction",
               "Adds an amount to the fee with which the pool ranks a transaction.",
               {{"txid", RpcType::kHex, true, "", "The transaction; it may be unknown"},
                {"dummy", RpcType::kNumber, false, "", "0 or null"},
                {"fee_delta", RpcType::kNumber, true, "",
                 "Satoshi to add to its fee; may be "
                 "negative"}},
               "true",
               "\"txid\" 0.0 10000",
               [&context](const RpcCall& call) { return PrioritiseTransaction(context, call); }});
    table.Add({"mining",
               "getprioritisedtransactions",
               "Shows the fee deltas that were set by prioritisetransaction.",
               {},
               "{\n  \"txid\": {\n    \"fee_delta\": n,       (numeric) Satoshi\n"
               "    \"in_mempool\": bool,\n"
               "    \"modified_fee\": n     (numeric) Satoshi; only in the pool\n  }, ...\n}",
               "",
               [&context](const RpcCall&) { return Prioritised(context.pool); }});
    table.AnswerEarly({"getprioritisedtransactions"});
}

} // namespace ibd
