// getindexinfo; see blockchain.h.
#include "rpc/blockchain.h"

namespace ibd {

void AddIndexMethods(RpcTable& table)
{
    table.Add({"util",
               "getindexinfo",
               "How far the indexes are that were asked for; this version has none.",
               {{"index_name", RpcType::kString, false, "", "Of this one only"}},
               "{ }    (json object) For each \"synced\" and \"best_block_height\"",
               "\ntxindex",
               [](const RpcCall&) { return UniValue(UniValue::VOBJ); }});
    table.AnswerEarly({"getindexinfo"});
}

} // namespace ibd
