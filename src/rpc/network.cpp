// See network.h.
#include "rpc/network.h"
#include "net/protocol.h"
#include "rpc/json.h"
#include "util/version.h"

namespace ibd {

namespace {

/** The networks that nodes speak over; this one speaks over none yet. */
UniValue Networks()
{
    UniValue out(UniValue::VARR);
    for (const char* name : {"ipv4", "ipv6", "onion", "i2p", "cjdns"}) {
        UniValue network(UniValue::VOBJ);
        network.pushKV("name", name);
        network.pushKV("limited", Bool(true));
        network.pushKV("reachable", Bool(false));
        network.pushKV("proxy", "");
        network.pushKV("proxy_randomize_credentials", Bool(false));
        out.push_back(network);
    }
    return out;
}

UniValue NetworkInfo(const ChainContext& context)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("version", kCompatibleVersion);
    out.pushKV("subversion", context.user_agent);
    out.pushKV("protocolversion", kProtocolVersion);
    out.pushKV("localservices", "0000000000000000");
    out.pushKV("localservicesnames", UniValue(UniValue::VARR));
    out.pushKV("localrelay", Bool(false));
    out.pushKV("timeoffset", 0);
    out.pushKV("networkactive", Bool(false));
    out.pushKV("connections", 0);
    out.pushKV("connections_in", 0);
    out.pushKV("connections_out", 0);
    out.pushKV("networks", Networks());
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
