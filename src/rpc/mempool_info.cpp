// Calls about the pool of unconfirmed transactions. There is none yet: they answer for an empty
// one, for programs that ask before they begin; see blockchain.h.
#include "rpc/blockchain.h"
#include "rpc/json.h"

namespace ibd {

namespace {

// Core's defaults of the options of the same names, and its least fee rates for 1,000 virtual
// bytes.
constexpr int64_t kMaxMempool = 300'000'000;
constexpr Amount kMinRelayFee = 100;
constexpr int64_t kMaxDataCarrierSize = 100'000;
constexpr int64_t kLimitClusterCount = 64;
constexpr int64_t kLimitClusterSize = 101'000;

UniValue MempoolInfo(const ChainContext& context)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("loaded", Bool(context.import_done));
    out.pushKV("size", 0);
    out.pushKV("bytes", 0);
    out.pushKV("usage", 0);
    out.pushKV("total_fee", AmountJson(0));
    out.pushKV("maxmempool", Num(kMaxMempool));
    out.pushKV("mempoolminfee", AmountJson(kMinRelayFee));
    out.pushKV("minrelaytxfee", AmountJson(kMinRelayFee));
    out.pushKV("incrementalrelayfee", AmountJson(kMinRelayFee));
    out.pushKV("unbroadcastcount", 0);
    out.pushKV("permitbaremultisig", Bool(true));
    out.pushKV("maxdatacarriersize", Num(kMaxDataCarrierSize));
    out.pushKV("limitclustercount", Num(kLimitClusterCount));
    out.pushKV("limitclustersize", Num(kLimitClusterSize));
    out.pushKV("optimal", Bool(true));
    return out;
}

UniValue RawMempool(const RpcCall& call)
{
    const bool with_sequence = call.Bool(1, false);
    if (call.Bool(0, false)) {
        if (with_sequence) {
            throw RpcError{RpcCode::kInvalidParameter,
                           "Verbose results cannot contain mempool sequence values."};
        }
        return UniValue(UniValue::VOBJ);
    }
    UniValue ids(UniValue::VARR);
    if (!with_sequence) return ids;
    UniValue out(UniValue::VOBJ);
    out.pushKV("txids", ids);
    out.pushKV("mempool_sequence", 1);
    return out;
}

} // namespace

void AddMempoolMethods(RpcTable& table, ChainContext& context)
{
    table.Add({"blockchain",
               "getmempoolinfo",
               "State of the pool of unconfirmed transactions, which is empty in this version.",
               {},
               "{\n  \"loaded\": bool,        (boolean) Whether imports and -reindex are over\n"
               "  \"size\": n, \"bytes\": n, \"usage\": n, \"total_fee\": n, \"maxmempool\": n,\n"
               "  \"mempoolminfee\": n, \"minrelaytxfee\": n, \"incrementalrelayfee\": n,\n"
               "  \"unbroadcastcount\": n, \"permitbaremultisig\": bool, "
               "\"maxdatacarriersize\": n,\n"
               "  \"limitclustercount\": n, \"limitclustersize\": n, \"optimal\": bool\n}",
               "",
               [&context](const RpcCall&) { return MempoolInfo(context); }});
    table.Add({"blockchain",
               "getrawmempool",
               "The unconfirmed transactions, of which there are none in this version.",
               {{"verbose", RpcType::kBool, false, "false", "true: an object, false: ids"},
                {"mempool_sequence", RpcType::kBool, false, "false",
                 "With ids: tell the number of the pool's latest change too"}},
               "[ ]    (json array) Ids\n"
               "{ }    (json object) With verbose\n"
               "{ \"txids\": [ ], \"mempool_sequence\": n }    With mempool_sequence",
               "true",
               RawMempool});
    table.Add({"hidden",
               "syncwithvalidationinterfacequeue",
               "Returns when all that happened to the chain so far was told to whom it concerns.",
               {},
               "null",
               "",
               [&context](const RpcCall&) -> UniValue {
                   if (context.drain_events) context.drain_events();
                   return {};
               }});
}

} // namespace ibd
