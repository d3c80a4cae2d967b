// See network.h.
#include "rpc/network.h"
#include "rpc/json.h"
#include "util/version.h"

namespace ibd {

namespace {

UniValue NetworkInfo(const ChainContext& context)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("version", kVersionNumber);
    out.pushKV("subversion", kUserAgent);
    out.pushKV("protocolversion", kProtocolVersion);
    out.pushKV("localservices", "0000000000000000");
    out.pushKV("localservicesnames", UniValue(UniValue::VARR));
    out.pushKV("localrelay", Bool(false));
    out.pushKV("timeoffset", 0);
    out.pushKV("networkactive", Bool(false));
    out.pushKV("connections", 0);
    out.pushKV("connections_in", 0);
    out.pushKV("connections_out", 0);
    out.pushKV("networks", UniValue(UniValue::VARR));
    out.pushKV("relayfee", AmountJson(100));
    out.pushKV("incrementalfee", AmountJson(100));
    out.pushKV("localaddresses", UniValue(UniValue::VARR));
    out.pushKV("warnings", context.Warnings());
    return out;
}

} // namespace

void AddNetworkMethods(RpcTable& table, ChainContext& context)
{
    table.Add(
        {"network",
         "getnetworkinfo",
         "Version and state of the node's network part.",
         {},
         "{\n  \"version\": n, \"subversion\": \"str\", \"protocolversion\": n,\n"
         "  \"localservices\": \"hex\", \"localservicesnames\": [ ], \"localrelay\": bool,\n"
         "  \"timeoffset\": n, \"networkactive\": bool, \"connections\": n,\n"
         "  \"connections_in\": n, \"connections_out\": n, \"networks\": [ ],\n"
         "  \"relayfee\": n, \"incrementalfee\": n, \"localaddresses\": [ ], \"warnings\": [ ]\n}",
         "",
         [&context](const RpcCall&) { return NetworkInfo(context); }});
    table.Add({"network",
               "getconnectioncount",
               "Number of peers.",
               {},
               "n    (numeric)",
               "",
               [](const RpcCall&) -> UniValue { return 0; }});
    table.Add({"network",
               "getpeerinfo",
               "The peers.",
               {},
               "[ ... ]    (json array)",
               "",
               [](const RpcCall&) { return UniValue(UniValue::VARR); }});
}

} // namespace ibd
