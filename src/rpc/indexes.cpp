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
        out.pushKV(summary.name, entry);
    }
    return out;
}

} // namespace

void AddIndexMethods(RpcTable& table, ChainContext& context)
{
    table.Add({"util",
               "getindexinfo",
               "Shows the height of each active index, and whether it is synced.",
               {{"index_name", RpcType::kString, false, "",
                 "Name of an index; without it all are shown"}},
               "{\n"
               "  \"name\": {                    (json object) An index\n"
               "    \"synced\": bool,            (boolean) Whether it has come to the tip\n"
               "    \"best_block_height\": n     (numeric) Height of the last block that it has\n"
               "  }, ...\n"
               "}",
               "\ntxindex",
               [&context](const RpcCall& call) { return IndexInfo(context, call); }});
    table.AnswerEarly({"getindexinfo"});
}

} // namespace ibd
