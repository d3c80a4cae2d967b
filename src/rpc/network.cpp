// getnetworkinfo, getnettotals, setnetworkactive, and code shared by the calls about peers; see
// network.h.
#include "rpc/network.h"
#include "rpc/amount_json.h"

#include "jsonrpc/json.h"
#include "util/version.h"

namespace ibd {

namespace {

UniValue Networks(const NetworkWays& ways)
{
    UniValue out(UniValue::VARR);
    for (const AddressNetwork kind : kPublicNetworks) {
        const bool reachable = ways.reachable.Contains(kind);
        const auto proxy = ways.proxies.find(kind);
        const bool proxied = proxy != ways.proxies.end();
        UniValue network(UniValue::VOBJ);
        network.pushKV("name", AddressNetworkName(kind));
        network.pushKV("limited", Bool(!reachable));
        network.pushKV("reachable", Bool(reachable));
        network.pushKV("proxy", proxied ? proxy->second.ToString() : "");
        network.pushKV("proxy_randomize_credentials", Bool(proxied && proxy->second.randomize));
        out.push_back(network);
    }
    return out;
}

UniValue LocalAddressList(PeerInfoSource& info)
{
    UniValue out(UniValue::VARR);
    for (const OwnAddress& local : info.OwnAddresses()) {
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("address", local.address.address.ToString());
        entry.pushKV("port", Num(local.address.port));
        entry.pushKV("score", Num(local.score));
        out.push_back(entry);
    }
    return out;
}

UniValue NetworkInfo(const NetContext& context)
{
    PeerNetwork& network = context.Network();
    const PeerNetworkOptions& options = network.Options();
    PeerInfoSource& info = network.Info();
    const PeerCounts counts = info.Counts();
    UniValue out(UniValue::VOBJ);
    out.pushKV("version", kCompatibleVersion);
    out.pushKV("subversion", context.chain.user_agent);
    out.pushKV("protocolversion", kProtocolVersion);
    PushServices(out, "localservices", info.Services());
    out.pushKV("localrelay", Bool(!options.peers.blocks_only));
    out.pushKV("timeoffset", Num(info.TimeOffset()));
    out.pushKV("networkactive", Bool(info.IsActive()));
    out.pushKV("connections", Num(counts.in + counts.out));
    out.pushKV("connections_in", Num(counts.in));
    out.pushKV("connections_out", Num(counts.out));
    out.pushKV("networks", Networks(info.Ways()));
    out.pushKV("relayfee", AmountJson(context.relay_fee));
    out.pushKV("incrementalfee", AmountJson(context.incremental_fee));
    out.pushKV("localaddresses", LocalAddressList(info));
    out.pushKV("warnings", context.chain.Warnings());
    return out;
}

RpcMethod GetNetworkInfo(NetContext& context)
{
    return {"network",
            "getnetworkinfo",
            "Shows the state of the node's network connections.",
            {},
            "{\n"
            "  \"version\": n,               (numeric) Version of Bitcoin Core with the same "
            "calls\n"
            "  \"subversion\": \"str\",        (string) The name that peers see\n"
            "  \"protocolversion\": n,       (numeric) Of the protocol\n"
            "  \"localservices\": \"hex\",     (string) Offered services, as bits\n"
            "  \"localservicesnames\": [ \"SERVICE_NAME\", ... ],    (json array) Their names\n"
            "  \"localrelay\": bool,         (boolean) Whether peers are asked for transactions\n"
            "  \"timeoffset\": n,            (numeric) Seconds that peers' clocks are ahead\n"
            "  \"networkactive\": bool,      (boolean) Whether there may be peers\n"
            "  \"connections\": n,           (numeric) Peers\n"
            "  \"connections_in\": n,        (numeric) Inbound peers\n"
            "  \"connections_out\": n,       (numeric) Outbound peers\n"
            "  \"networks\": [\n"
            "    {\n"
            "      \"name\": \"str\",          (string) ipv4, ipv6, onion, i2p, cjdns\n"
            "      \"limited\": bool,        (boolean) Ruled out by -onlynet\n"
            "      \"reachable\": bool,      (boolean) Whether the node can connect to it\n"
            "      \"proxy\": \"str\",         (string) Its proxy, or empty\n"
            "      \"proxy_randomize_credentials\": bool    (boolean) Whether each connection uses "
            "other credentials\n"
            "    }, ...\n"
            "  ],\n"
            "  \"relayfee\": n,              (numeric) Least fee rate, BTC/kvB\n"
            "  \"incrementalfee\": n,        (numeric) Least step of fee rates, BTC/kvB\n"
            "  \"localaddresses\": [\n"
            "    { \"address\": \"str\", \"port\": n, \"score\": n }, ...\n"
            "  ],                          (json array) The node's addresses, with a score of "
            "reliability\n"
            "  \"warnings\": [ \"str\", ... ]  (json array) Warnings of the node\n"
            "}",
            "",
            [&context](const RpcCall&) { return NetworkInfo(context); }};
}

UniValue NetTotals(const NetContext& context)
{
    const TrafficTotals totals = context.Network().Info().Traffic();
    UniValue out(UniValue::VOBJ);
    out.pushKV("totalbytesrecv", Num(totals.received));
    out.pushKV("totalbytessent", Num(totals.sent));
    out.pushKV("timemillis", Num(context.chain.env.UnixMicros() / 1000));
    UniValue upload(UniValue::VOBJ);
    upload.pushKV("timeframe", Num(totals.upload.timeframe));
    upload.pushKV("target", Num(totals.upload.target));
    upload.pushKV("target_reached", Bool(totals.upload.reached));
    upload.pushKV("serve_historical_blocks", Bool(totals.upload.serves_historical));
    upload.pushKV("bytes_left_in_cycle", Num(totals.upload.bytes_left));
    upload.pushKV("time_left_in_cycle", Num(totals.upload.seconds_left));
    out.pushKV("uploadtarget", upload);
    return out;
}

RpcMethod GetNetTotals(NetContext& context)
{
    return {"network",
            "getnettotals",
            "Bytes of network traffic, and the rest of the upload target.",
            {},
            "{\n"
            "  \"totalbytesrecv\": n,        (numeric) Bytes received\n"
            "  \"totalbytessent\": n,        (numeric) Bytes sent\n"
            "  \"timemillis\": n,            (numeric) Milliseconds since 1970 now\n"
            "  \"uploadtarget\": {\n"
            "    \"timeframe\": n,           (numeric) Seconds for which -maxuploadtarget holds\n"
            "    \"target\": n,              (numeric) Bytes; 0: no bound\n"
            "    \"target_reached\": bool,   (boolean) Whether they are sent\n"
            "    \"serve_historical_blocks\": bool,    (boolean) Whether old blocks are served\n"
            "    \"bytes_left_in_cycle\": n,           (numeric) Bytes\n"
            "    \"time_left_in_cycle\": n             (numeric) Seconds\n"
            "  }\n"
            "}",
            "",
            [&context](const RpcCall&) { return NetTotals(context); }};
}

} // namespace

PeerNetwork& NetContext::Network() const
{
    if (PeerNetwork* const there = network) return *there;
    throw RpcError{RpcCode::kP2pDisabled, "Error: Peer-to-peer functionality missing or disabled"};
}

void AddNetMethod(RpcTable& table, RpcMethod method)
{
    method.since = RpcPhase::kNetwork;
    table.Add(std::move(method));
}

void PushServices(UniValue& out, const std::string& name, uint64_t services)
{
    UniValue names(UniValue::VARR);
    for (const std::string& service : ServiceNames(services)) names.push_back(service);
    out.pushKV(name, fmt::format("{:016x}", services));
    out.pushKV(name + "names", names);
}

void ThrowHelp(const RpcTable& table, const std::string& method, RpcCode code)
{
    throw RpcError{code, table.Find(method)->Help()};
}

void AddNetworkMethods(RpcTable& table, NetContext& context)
{
    AddNetMethod(table, GetNetworkInfo(context));
    AddNetMethod(table, GetNetTotals(context));
    AddNetMethod(table,
                 {"network",
                  "setnetworkactive",
                  "Switches all connections to peers on or off.",
                  {{"state", RpcType::kBool, true, "", "false: disconnect all peers, and make no "
                                                       "connections"}},
                  "true|false    (boolean) As it is now",
                  "true",
                  [&context](const RpcCall& call) -> UniValue {
                      PeerNetwork& network = context.Network();
                      network.Control().SetActive(call.Bool(0, true));
                      return Bool(network.Info().IsActive());
                  }});
}

} // namespace ibd
