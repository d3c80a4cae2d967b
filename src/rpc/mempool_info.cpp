// Calls that query the pool of unconfirmed transactions; see mempool.h.
#include "jsonrpc/json.h"
#include "mempool/policy.h"
#include "rpc/amount_json.h"
#include "rpc/mempool.h"

#include <algorithm>

namespace ibd {

namespace {

UniValue MempoolInfo(const PoolContext& context)
{
    TxPool& pool = context.pool;
    const PolicyOptions& policy = context.acceptance.Policy();
    const int64_t now = context.chain.env.UnixTime();
    const Lock lock(pool.mutex);
    const Amount least = std::max(pool.MinFeeRate(now), policy.min_relay_fee);
    UniValue out(UniValue::VOBJ);
    out.pushKV("loaded", Bool(context.loaded));
    out.pushKV("size", Num(pool.Size()));
    out.pushKV("bytes", Num(pool.VirtualBytes()));
    out.pushKV("usage", Num(pool.MemoryUsage()));
    out.pushKV("total_fee", AmountJson(pool.Fees()));
    out.pushKV("maxmempool", Num(pool.Limits().max_bytes));
    out.pushKV("mempoolminfee", AmountJson(least));
    out.pushKV("minrelaytxfee", AmountJson(policy.min_relay_fee));
    out.pushKV("incrementalrelayfee", AmountJson(policy.incremental_fee));
    out.pushKV("unbroadcastcount", Num(pool.Unbroadcast().size()));
    out.pushKV("fullrbf", Bool(true));
    out.pushKV("permitbaremultisig", Bool(policy.permit_bare_multisig));
    out.pushKV("maxdatacarriersize", Num(policy.max_datacarrier));
    out.pushKV("limitclustercount", Num(pool.Limits().cluster_count));
    out.pushKV("limitclustersize", Num(pool.Limits().cluster_vsize));
    out.pushKV("optimal", Bool(pool.Clusters().IsOptimal()));
    return out;
}

/** Totals of several transactions. */
struct Sums {
    explicit Sums(const PoolTx& tx, const PoolTxSet& others)
        : count(others.size() + 1), vsize(tx.vsize), fees(tx.ModifiedFee())
    {
        for (const PoolTx* other : others) {
            vsize += other->vsize;
            fees += other->ModifiedFee();
        }
    }
    size_t count;
    int64_t vsize;
    Amount fees;
};

UniValue IdsJson(const PoolTxSet& txs)
{
    UniValue ids(UniValue::VARR);
    for (const PoolTx* tx : txs) ids.push_back(tx->Id().ToHex());
    return ids;
}

/** Sorted by hex. */
UniValue SortedIdsJson(const PoolTxSet& txs)
{
    std::set<std::string> sorted;
    for (const PoolTx* tx : txs) sorted.insert(tx->Id().ToHex());
    UniValue ids(UniValue::VARR);
    for (const std::string& id : sorted) ids.push_back(id);
    return ids;
}

/** Whether it or an ancestor signals by BIP125. */
bool AnySignals(const PoolTx& tx, const PoolTxSet& ancestors)
{
    const auto signals = [](const PoolTx* one) { return SignalsReplacement(one->tx->View()); };
    return signals(&tx) || std::any_of(ancestors.begin(), ancestors.end(), signals);
}

UniValue EntryJson(const PoolTx& tx)
{
    const PoolTxSet ancestors = TxPool::Ancestors(tx);
    const Sums up(tx, ancestors);
    const Sums down(tx, TxPool::Descendants(tx));
    const PoolChunk& chunk = tx.cluster->chunks[tx.chunk];
    UniValue fees(UniValue::VOBJ);
    fees.pushKV("base", AmountJson(tx.fee));
    fees.pushKV("modified", AmountJson(tx.ModifiedFee()));
    fees.pushKV("ancestor", AmountJson(up.fees));
    fees.pushKV("descendant", AmountJson(down.fees));
    fees.pushKV("chunk", AmountJson(chunk.sum.fee));
    UniValue out(UniValue::VOBJ);
    out.pushKV("vsize", Num(tx.vsize));
    out.pushKV("weight", Num((*tx.tx)->Weight()));
    out.pushKV("time", Num(tx.time));
    out.pushKV("height", Num(tx.height));
    out.pushKV("descendantcount", Num(down.count));
    out.pushKV("descendantsize", Num(down.vsize));
    out.pushKV("ancestorcount", Num(up.count));
    out.pushKV("ancestorsize", Num(up.vsize));
    out.pushKV("wtxid", tx.tx->WitnessId().ToHex());
    out.pushKV("chunkweight", Num(chunk.sum.size));
    out.pushKV("fees", fees);
    out.pushKV("depends", SortedIdsJson(tx.parents));
    out.pushKV("spentby", IdsJson(tx.children));
    out.pushKV("bip125-replaceable", Bool(AnySignals(tx, ancestors)));
    out.pushKV("unbroadcast", Bool(tx.own));
    return out;
}

UniValue EntriesJson(const PoolTxSet& txs)
{
    UniValue out(UniValue::VOBJ);
    // Ids differ: pushKV() would look for each of them among all before it.
    for (const PoolTx* tx : txs) out.__pushKV(tx->Id().ToHex(), EntryJson(*tx));
    return out;
}

UniValue RawMempool(const PoolContext& context, const RpcCall& call)
{
    const TxPool& pool = context.pool;
    const bool with_sequence = call.Bool(1, false);
    const bool verbose = call.Bool(0, false);
    if (verbose && with_sequence) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Verbose results cannot contain mempool sequence values."};
    }
    const Lock lock(pool.mutex);
    if (verbose) {
        PoolTxSet all;
        for (const PoolStore::Place& place : pool.Places()) {
            if (place.tx) all.insert(place.tx.get());
        }
        return EntriesJson(all);
    }
    UniValue ids(UniValue::VARR);
    for (const PoolTx* tx : pool.InOrder()) ids.push_back(tx->Id().ToHex());
    if (!with_sequence) return ids;
    UniValue out(UniValue::VOBJ);
    out.pushKV("txids", ids);
    out.pushKV("mempool_sequence", Num(pool.Sequence()));
    return out;
}

const PoolTx& FindIn(const TxPool& pool, const RpcCall& call) IBD_REQUIRES(pool.mutex)
{
    if (const PoolTx* const tx = pool.Find(Txid(call.Hash(0, "txid")))) return *tx;
    throw RpcError{RpcCode::kInvalidAddressOrKey, "Transaction not in mempool"};
}

RpcMethod Relatives(const PoolContext& context, const char* name, const char* description,
                    PoolTxSet (*relatives)(const PoolTx&))
{
    return {"blockchain",
            name,
            description,
            {{"txid", RpcType::kHex, true, "", "The transaction, which must be in the pool"},
             {"verbose", RpcType::kBool, false, "false", "true: an object, false: ids"}},
            "[ \"txid\", ... ]    (json array) Ids\n"
            "{ \"txid\": { ... }, ... }    (json object) With verbose; see getmempoolentry",
            "\"mytxid\"",
            [&context, relatives](const RpcCall& call) {
                const Lock lock(context.pool.mutex);
                const PoolTxSet txs = relatives(FindIn(context.pool, call));
                return call.Bool(1, false) ? EntriesJson(txs) : IdsJson(txs);
            }};
}

RpcMethod MempoolEntry(const PoolContext& context)
{
    return {"blockchain",
            "getmempoolentry",
            "Shows size, fees and relatives of a transaction in the pool.",
            {{"txid", RpcType::kHex, true, "", "The transaction, which must be in the pool"}},
            "{\n"
            "  \"vsize\": n,                   (numeric) Virtual bytes by policy "
            "(-bytespersigop)\n"
            "  \"weight\": n,                  (numeric) Weight units\n"
            "  \"time\": n,                    (numeric) When it entered the pool, seconds since "
            "1970\n"
            "  \"height\": n,                  (numeric) Height of the tip then\n"
            "  \"descendantcount\": n,         (numeric) Descendants in the pool, with this "
            "transaction\n"
            "  \"descendantsize\": n,          (numeric) Their virtual bytes\n"
            "  \"ancestorcount\": n,           (numeric) Ancestors in the pool, with this "
            "transaction\n"
            "  \"ancestorsize\": n,            (numeric) Their virtual bytes\n"
            "  \"chunkweight\": n,             (numeric) Weight of its chunk: transactions that "
            "are mined together\n"
            "  \"wtxid\": \"hex\",               (string) Hash with witness\n"
            "  \"fees\": {                     (json object) Bitcoin, changed by "
            "prioritisetransaction except base\n"
            "    \"base\": n,                  (numeric) Fee that it pays\n"
            "    \"modified\": n,              (numeric) Fee that counts\n"
            "    \"ancestor\": n,              (numeric) Fees of its ancestors, with its own\n"
            "    \"descendant\": n,            (numeric) Fees of its descendants, with its own\n"
            "    \"chunk\": n                  (numeric) Fees of its chunk\n"
            "  },\n"
            "  \"depends\": [ \"txid\" ],        (json array) Parents in the pool\n"
            "  \"spentby\": [ \"txid\" ],        (json array) Children in the pool\n"
            "  \"bip125-replaceable\": bool,   (boolean) Whether it or an ancestor signals by "
            "BIP125; the pool\n"
            "                                replaces others too\n"
            "  \"unbroadcast\": bool           (boolean) Whether it came from a user and no peer "
            "has asked for it\n"
            "}",
            "\"mytxid\"",
            [&context](const RpcCall& call) {
                const Lock lock(context.pool.mutex);
                return EntryJson(FindIn(context.pool, call));
            }};
}

} // namespace

TransactionRef FindInPool(const TxPool& pool, const Txid& id)
{
    const Lock lock(pool.mutex);
    const PoolTx* const found = pool.Find(id);
    return found ? found->tx : nullptr;
}

void AddMempoolMethods(RpcTable& table, PoolContext& context)
{
    table.Add({"blockchain",
               "getmempoolinfo",
               "State of the pool of unconfirmed transactions.",
               {},
               "{\n"
               "  \"loaded\": bool,              (boolean) Whether mempool.dat has been loaded\n"
               "  \"size\": n,                   (numeric) Transactions\n"
               "  \"bytes\": n,                  (numeric) Their virtual bytes\n"
               "  \"usage\": n,                  (numeric) Memory that the pool takes, bytes\n"
               "  \"total_fee\": n,              (numeric) Their fees, bitcoin\n"
               "  \"maxmempool\": n,             (numeric) Most memory, bytes (-maxmempool)\n"
               "  \"mempoolminfee\": n,          (numeric) Least fee rate to enter now, BTC/kvB\n"
               "  \"minrelaytxfee\": n,          (numeric) Least fee rate to enter when there is "
               "room, BTC/kvB\n"
               "  \"incrementalrelayfee\": n,    (numeric) Fee rate that a replacement adds at "
               "least, BTC/kvB\n"
               "  \"unbroadcastcount\": n,       (numeric) Transactions of users that no peer "
               "has asked for yet\n"
               "  \"fullrbf\": true,             (boolean) Any transaction may be replaced\n"
               "  \"permitbaremultisig\": bool,  (boolean) Whether bare multisignature outputs "
               "are relayed\n"
               "  \"maxdatacarriersize\": n,     (numeric) Most bytes of data outputs in a "
               "transaction\n"
               "  \"limitclustercount\": n,      (numeric) Most transactions in a cluster\n"
               "  \"limitclustersize\": n,       (numeric) Most virtual bytes in a cluster\n"
               "  \"optimal\": bool              (boolean) Whether the mining order is known to "
               "be the best\n"
               "}",
               "",
               [&context](const RpcCall&) { return MempoolInfo(context); }});
    table.Add({"blockchain",
               "getrawmempool",
               "The unconfirmed transactions, in the order of mining.",
               {{"verbose", RpcType::kBool, false, "false", "true: an object, false: ids"},
                {"mempool_sequence", RpcType::kBool, false, "false",
                 "With ids: also return the sequence number of the pool"}},
               "[ ]    (json array) Ids\n"
               "{ }    (json object) With verbose\n"
               "{ \"txids\": [ ], \"mempool_sequence\": n }    With mempool_sequence",
               "true",
               [&context](const RpcCall& call) { return RawMempool(context, call); }});
    table.Add(MempoolEntry(context));
    table.Add(Relatives(context, "getmempoolancestors", "Ancestors of a pool transaction.",
                        TxPool::Ancestors));
    table.Add(Relatives(context, "getmempooldescendants", "Descendants of a pool transaction.",
                        TxPool::Descendants));
    table.AnswerEarly({"getmempoolinfo", "getrawmempool", "getmempoolentry", "getmempoolancestors",
                       "getmempooldescendants"});
}

} // namespace ibd
