// Calls that make the node connect to an address; see network.h.
#include "jsonrpc/json.h"
#include "rpc/network.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

bool SpeaksV2(const PeerNetwork& network)
{
    return (network.Options().peers.services & kNodeP2pV2) != 0;
}

UniValue AddNode(const RpcTable& table, const NetContext& context, const RpcCall& call)
{
    const std::string& command = call.String(1);
    if (command != "onetry" && command != "add" && command != "remove") {
        ThrowHelp(table, "addnode", RpcCode::kMisc);
    }
    PeerNetwork& network = context.Network();
    const bool v2 = call.Bool(2, SpeaksV2(network));
    if (v2 && !SpeaksV2(network)) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Error: v2transport requested but not enabled (see -v2transport)"};
    }
    ConnectionControl& control = network.Control();
    const std::string& name = call.String(0);
    if (command == "onetry") {
        control.TryNode(name, v2);
    } else if (command == "add") {
        if (control.AddNode(name, v2)) return {};
        throw RpcError{RpcCode::kNodeAlreadyAdded, "Error: Node already added"};
    } else if (!control.RemoveNode(name)) {
        throw RpcError{RpcCode::kNodeNotAdded, "Error: Node could not be removed. It has not been "
                                               "added previously."};
    }
    return {};
}

UniValue AddedNodeJson(const AddedNode& node)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("addednode", node.name);
    out.pushKV("connected", Bool(node.connected));
    UniValue addresses(UniValue::VARR);
    if (node.connected) {
        UniValue address(UniValue::VOBJ);
        address.pushKV("address", node.address.ToString());
        address.pushKV("connected", node.inbound ? "inbound" : "outbound");
        addresses.push_back(address);
    }
    out.pushKV("addresses", addresses);
    return out;
}

UniValue AddedNodeInfo(const NetContext& context, const RpcCall& call)
{
    const std::vector<AddedNode> nodes = context.Network().Control().AddedNodes();
    UniValue out(UniValue::VARR);
    if (!call.Has(0)) {
        for (const AddedNode& node : nodes) out.push_back(AddedNodeJson(node));
        return out;
    }
    const auto found = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const auto& node) { return node.name == call.String(0); });
    if (found == nodes.end()) {
        throw RpcError{RpcCode::kNodeNotAdded, "Error: Node has not been added."};
    }
    out.push_back(AddedNodeJson(*found));
    return out;
}

UniValue AddConnection(const RpcTable& table, const NetContext& context, const RpcCall& call)
{
    if (context.chain.Headers().Params().network != Network::kRegtest) {
        throw RpcError{RpcCode::kMisc,
                       "addconnection is for regression testing (-regtest mode) only."};
    }
    static constexpr ConnectionKind kKinds[] = {
        ConnectionKind::kOutboundFullRelay, ConnectionKind::kBlockRelay, ConnectionKind::kAddrFetch,
        ConnectionKind::kFeeler};
    const std::string type(Trim(call.String(1)));
    const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto known) {
        return type == ConnectionKindName(known);
    });
    if (kind == std::end(kKinds)) ThrowHelp(table, "addconnection", RpcCode::kInvalidParameter);
    const bool v2 = call.Bool(2, false);
    PeerNetwork& network = context.Network();
    if (v2 && !SpeaksV2(network)) {
        throw RpcError{RpcCode::kInvalidParameter, "Error: Adding v2transport connections requires "
                                                   "-v2transport init flag to be set."};
    }
    if (!network.Control().AddConnection(call.String(0), *kind, v2)) {
        throw RpcError{RpcCode::kNodeCapacityReached,
                       "Error: Already at capacity for specified connection type."};
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("address", call.String(0));
    out.pushKV("connection_type", type);
    return out;
}

} // namespace

void AddNodeMethods(RpcTable& table, NetContext& context)
{
    AddNetMethod(
        table, {"network",
                "addnode",
                "Adds a peer to which the node keeps a connection, removes it, or connects to it "
                "once. Added peers are not disconnected for misbehaviour. At most 8 are connected "
                "at a time, in addition to -maxconnections.",
                {{"node", RpcType::kString, true, "", "Address or name, with or without port"},
                 {"command", RpcType::kString, true, "", "add, remove or onetry"},
                 {"v2transport", RpcType::kBool, false, "as -v2transport",
                  "Whether to try encrypted transport (BIP324) first"}},
                "null",
                "\"192.168.0.6:8333\" \"onetry\" true",
                [&](const RpcCall& call) { return AddNode(table, context, call); }});
    AddNetMethod(table,
                 {"network",
                  "getaddednodeinfo",
                  "Lists the peers that were added by addnode (except onetry) or -addnode.",
                  {{"node", RpcType::kString, false, "all", "This one only"}},
                  "[\n"
                  "  {\n"
                  "    \"addednode\": \"str\",     (string) As it was added\n"
                  "    \"connected\": bool,      (boolean) Whether it is connected\n"
                  "    \"addresses\": [          (json array) Empty if it is not\n"
                  "      { \"address\": \"str\", \"connected\": \"inbound|outbound\" }, ...\n"
                  "    ]\n"
                  "  }, ...\n"
                  "]",
                  "\"192.168.0.201\"",
                  [&context](const RpcCall& call) { return AddedNodeInfo(context, call); }});
    AddNetMethod(
        table, {"hidden",
                "addconnection",
                "For tests: makes a connection of the given type, as the node does automatically. "
                "On regtest only.",
                {{"address", RpcType::kString, true, "", "Address and port"},
                 {"connection_type", RpcType::kString, true, "",
                  "outbound-full-relay, block-relay-only, addr-fetch or feeler"},
                 {"v2transport", RpcType::kBool, true, "", "Whether to try BIP324"}},
                "{ \"address\": \"str\", \"connection_type\": \"str\" }    (json object) As given",
                "\"192.168.0.6:8333\" \"outbound-full-relay\" true",
                [&](const RpcCall& call) { return AddConnection(table, context, call); }});
}

} // namespace ibd
