// Calls about the address manager; see network.h.
#include "jsonrpc/json.h"
#include "rpc/network.h"

namespace ibd {

namespace {

UniValue NodeAddresses(const NetContext& context, const RpcCall& call)
{
    const int32_t count = call.Int32(0, 1);
    if (count < 0) throw RpcError{RpcCode::kInvalidParameter, "Address count out of range"};
    std::optional<AddressNetwork> network;
    if (call.Has(1)) {
        network = ParseAddressNetwork(call.String(1));
        if (!network) {
            ThrowRpc(RpcCode::kInvalidParameter, "Network not recognized: {}", call.String(1));
        }
    }
    UniValue out(UniValue::VARR);
    const auto known = context.Network().Addresses().Known(static_cast<size_t>(count), network);
    for (const PeerAddress& address : known) {
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("time", Num(address.time));
        entry.pushKV("services", Num(address.services));
        entry.pushKV("address", address.endpoint.address.ToString());
        entry.pushKV("port", Num(address.endpoint.port));
        entry.pushKV("network", AddressNetworkName(address.endpoint.address.NetworkClass()));
        out.push_back(entry);
    }
    return out;
}

UniValue TableSizesJson(const AddressCounts& sizes)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("new", Num(sizes.in_new));
    out.pushKV("tried", Num(sizes.in_tried));
    out.pushKV("total", Num(sizes.in_new + sizes.in_tried));
    return out;
}

UniValue AddrManInfo(const NetContext& context)
{
    PeerNetwork& network = context.Network();
    UniValue out(UniValue::VOBJ);
    for (const AddressNetwork kind : kPublicNetworks) {
        out.pushKV(AddressNetworkName(kind), TableSizesJson(network.Addresses().Counts(kind)));
    }
    out.pushKV("all_networks", TableSizesJson(network.Addresses().Counts(std::nullopt)));
    return out;
}

UniValue TableJson(PeerNetwork& network, bool tried)
{
    const NetGroups& groups = network.Options().groups;
    UniValue out(UniValue::VOBJ);
    for (const auto& [info, position] : network.Addresses().Table(tried)) {
        const Endpoint& endpoint = info.address.endpoint;
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("address", endpoint.address.ToString());
        const uint32_t system = groups.MappedAs(endpoint.address);
        if (system != 0) entry.pushKV("mapped_as", Num(system));
        entry.pushKV("port", Num(endpoint.port));
        entry.pushKV("services", Num(info.address.services));
        entry.pushKV("time", Num(info.address.time));
        entry.pushKV("network", AddressNetworkName(endpoint.address.NetworkClass()));
        entry.pushKV("source", info.source.ToString());
        entry.pushKV("source_network", AddressNetworkName(info.source.NetworkClass()));
        const uint32_t source_system = groups.MappedAs(info.source);
        if (source_system != 0) entry.pushKV("source_mapped_as", Num(source_system));
        out.__pushKV(fmt::format("{}/{}", position.bucket, position.place), entry);
    }
    return out;
}

UniValue AddPeerAddress(const NetContext& context, const RpcCall& call)
{
    const auto address = NetAddress::Parse(call.String(0));
    const auto port = ParseInt<uint16_t>(call.At(1));
    if (!address) throw RpcError{RpcCode::kInvalidSubnet, "Invalid IP address"};
    PeerNetwork& network = context.Network();
    const Endpoint endpoint{address->WithCjdns(network.Options().cjdns_reachable), port};
    using Added = AddAddressResult;
    const Added added = network.Addresses().Add(endpoint, call.Bool(2, false));
    UniValue out(UniValue::VOBJ);
    if (added == Added::kNotAddedToNew) out.pushKV("error", "failed-adding-to-new");
    if (added == Added::kNotAddedToTried) out.pushKV("error", "failed-adding-to-tried");
    out.pushKV("success", Bool(added == Added::kOk));
    return out;
}

RpcMethod GetRawAddrMan(NetContext& context)
{
    return {"hidden",
            "getrawaddrman",
            "Lists all entries of the address manager. The format may change.",
            {},
            "{\n"
            "  \"new|tried\": {                (json object) The tables\n"
            "    \"bucket/position\": {        (json object) Where it stands\n"
            "      \"address\": \"str\",         (string)\n"
            "      \"mapped_as\": n,           (numeric, optional) Its autonomous system\n"
            "      \"port\": n,                (numeric)\n"
            "      \"services\": n,            (numeric) What it offers, as bits\n"
            "      \"time\": n,                (numeric) Last seen, seconds since 1970\n"
            "      \"network\": \"str\",         (string) ipv4, ipv6, onion, i2p, cjdns\n"
            "      \"source\": \"str\",          (string) Address of the peer that sent it\n"
            "      \"source_network\": \"str\",  (string)\n"
            "      \"source_mapped_as\": n     (numeric, optional)\n"
            "    }, ...\n"
            "  }, ...\n"
            "}",
            "",
            [&context](const RpcCall&) {
                PeerNetwork& network = context.Network();
                UniValue out(UniValue::VOBJ);
                out.pushKV("new", TableJson(network, false));
                out.pushKV("tried", TableJson(network, true));
                return out;
            }};
}

RpcMethod GetNodeAddresses(NetContext& context)
{
    return {"network",
            "getnodeaddresses",
            "Lists known addresses of nodes, in random order.",
            {{"count", RpcType::kNumber, false, "1", "Maximum number of addresses; 0: all"},
             {"network", RpcType::kString, false, "all networks",
              "Only of this network: ipv4, ipv6, onion, i2p, cjdns"}},
            "[\n"
            "  {\n"
            "    \"time\": n,           (numeric) Last seen, seconds since 1970\n"
            "    \"services\": n,       (numeric) What it offers, as bits\n"
            "    \"address\": \"str\",    (string)\n"
            "    \"port\": n,           (numeric)\n"
            "    \"network\": \"str\"     (string)\n"
            "  }, ...\n"
            "]",
            "8\n4 \"i2p\"",
            [&context](const RpcCall& call) { return NodeAddresses(context, call); }};
}

} // namespace

void AddPeerAddressMethods(RpcTable& table, NetContext& context)
{
    AddNetMethod(table, GetNodeAddresses(context));
    AddNetMethod(
        table,
        {"network",
         "getaddrmaninfo",
         "Counts the addresses in the address manager: received from peers (new), and connected to "
         "before (tried).",
         {},
         "{\n"
         "  \"network\": {        (json object) ipv4, ipv6, onion, i2p, cjdns, all_networks\n"
         "    \"new\": n,         (numeric)\n"
         "    \"tried\": n,       (numeric)\n"
         "    \"total\": n        (numeric)\n"
         "  }, ...\n"
         "}",
         "",
         [&context](const RpcCall&) { return AddrManInfo(context); }});
    AddNetMethod(table, GetRawAddrMan(context));
    AddNetMethod(
        table,
        {"hidden",
         "addpeeraddress",
         "For tests: adds an address to the address manager, as if its own peer had sent it.",
         {{"address", RpcType::kString, true, "", "The address"},
          {"port", RpcType::kNumber, true, "", "The port"},
          {"tried", RpcType::kBool, false, "false", "Whether to add it to the table of tried "
                                                    "addresses"}},
         "{\n"
         "  \"success\": bool,     (boolean) Whether it was added\n"
         "  \"error\": \"str\"       (string, optional) Why it was not\n"
         "}",
         "\"1.2.3.4\" 8333 true",
         [&context](const RpcCall& call) { return AddPeerAddress(context, call); }});
    AddNetMethod(table,
                 {"network",
                  "exportasmap",
                  "Writes the built-in map of autonomous systems to a file. This program has none.",
                  {{"path", RpcType::kString, true, "", "The file"}},
                  "{ \"path\": \"str\", \"bytes_written\": n, \"file_hash\": \"hex\" }",
                  "\"asmap.dat\"",
                  [](const RpcCall&) -> UniValue {
                      throw RpcError{RpcCode::kMisc, "No embedded ASMap data available"};
                  }});
}

} // namespace ibd
