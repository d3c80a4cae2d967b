// getindexinfo; see blockchain.h.
#include "index/indexes.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"

namespace ibd {

namespace {

UniValue IndexInfo(const ChainContext& context, const RpcCall& call)
{
    UniValue out(UniValue::VOBJ);
    const Indexes* const indexes = context.indexes;
    if (!indexes) return out;
    const std::string wanted = call.String(0, "");
    for (const IndexSummary& summary : indexes->Summaries()) {
        if (!wanted.empty() && wanted != summary.name) continue;
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("synced", Bool(summary.synced));
        entry.pushKV("best_block_height", summary.height);
        out.pushKV(summary.name, std::move(entry));
    }
    return out;
}

} // namespace

void AddIndexMethods(RpcTable& table, ChainContext& context)
{
    table.Add({"util",
               "getindexinfo",
               "Shows the height of each active index.",
               {{"index_name", RpcType::kString, false, "", "Of this one only"}},
               "{ \"name\": { \"synced\": bool, \"best_block_height\": n }, ... }    (json object)",
               "\ntxindex",
               [&context](const RpcCall& call) { return IndexInfo(context, call); }});
    table.AnswerEarly({"getindexinfo"});
}

} // namespace ibd
