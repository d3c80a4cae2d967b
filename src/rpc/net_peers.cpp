// Calls about connected peers; see network.h.
#include "jsonrpc/json.h"
#include "net/peer/peer_set.h"
#include "rpc/amount_json.h"
#include "rpc/network.h"
#include "util/hex.h"

namespace ibd {

namespace {

double Seconds(int64_t micros) { return static_cast<double>(micros) / kSecond; }

UniValue CountsByType(const std::map<std::string, uint64_t>& counts)
{
    UniValue out(UniValue::VOBJ);
    for (const auto& [type, bytes] : counts) {
        if (bytes > 0) out.__pushKV(type, Num(bytes));
    }
    return out;
}

void PushConnection(UniValue& out, const PeerInfo& peer)
{
    const NewPeer& made = peer.connection;
    out.pushKV("id", Num(made.id));
    out.pushKV("addr", made.name);
    if (made.local.address.IsValid()) out.pushKV("addrbind", made.local.ToString());
    if (peer.seen_as.address.IsValid()) out.pushKV("addrlocal", peer.seen_as.ToString());
    out.pushKV("network", AddressNetworkName(made.Network()));
    if (peer.mapped_as != 0) out.pushKV("mapped_as", Num(peer.mapped_as));
    PushServices(out, "services", peer.services);
}

void PushTraffic(UniValue& out, const PeerInfo& peer)
{
    out.pushKV("relaytxes", Bool(peer.relays_txs));
    out.pushKV("last_inv_sequence", Num(peer.last_inventory));
    out.pushKV("inv_to_send", Num(peer.to_announce));
    out.pushKV("lastsend", Num(peer.traffic.last_send));
    out.pushKV("lastrecv", Num(peer.traffic.last_receive));
    out.pushKV("last_transaction", Num(peer.last_transaction));
    out.pushKV("last_block", Num(peer.last_block));
    out.pushKV("bytessent", Num(peer.traffic.bytes_sent));
    out.pushKV("bytesrecv", Num(peer.traffic.bytes_received));
    out.pushKV("conntime", Num(peer.connected));
    out.pushKV("timeoffset", Num(peer.time_offset));
    if (peer.ping_time > 0) out.pushKV("pingtime", Seconds(peer.ping_time));
    if (peer.ping_shortest >= 0) out.pushKV("minping", Seconds(peer.ping_shortest));
    if (peer.ping_wait > 0) out.pushKV("pingwait", Seconds(peer.ping_wait));
}

void PushChain(UniValue& out, const PeerInfo& peer)
{
    out.pushKV("version", Num(peer.version));
    out.pushKV("subver", peer.user_agent);
    out.pushKV("inbound", Bool(peer.connection.kind == ConnectionKind::kInbound));
    out.pushKV("bip152_hb_to", Bool(peer.compact_to));
    out.pushKV("bip152_hb_from", Bool(peer.compact_from));
    out.pushKV("presynced_headers", Num(peer.presynced_headers));
    out.pushKV("synced_headers", Num(peer.synced_headers));
    out.pushKV("synced_blocks", Num(peer.synced_blocks));
    UniValue heights(UniValue::VARR);
    for (const int32_t height : peer.in_flight) heights.push_back(Num(height));
    out.pushKV("inflight", heights);
}

UniValue PeerJson(const PeerInfo& peer)
{
    UniValue out(UniValue::VOBJ);
    PushConnection(out, peer);
    PushTraffic(out, peer);
    PushChain(out, peer);
    out.pushKV("addr_relay_enabled", Bool(peer.relays_addresses));
    out.pushKV("addr_processed", Num(peer.addresses_processed));
    out.pushKV("addr_rate_limited", Num(peer.addresses_limited));
    UniValue permissions(UniValue::VARR);
    for (const std::string& name : PermissionNames(peer.connection.permissions)) {
        permissions.push_back(name);
    }
    out.pushKV("permissions", permissions);
    out.pushKV("minfeefilter", AmountJson(peer.fee_filter));
    out.pushKV("bytessent_per_msg", CountsByType(peer.sent_by_type));
    out.pushKV("bytesrecv_per_msg", CountsByType(peer.received_by_type));
    out.pushKV("connection_type", ConnectionKindName(peer.connection.kind));
    const TransportInfo& transport = peer.traffic.transport;
    out.pushKV("transport_protocol_type", transport.ProtocolName());
    out.pushKV("session_id", transport.session_id ? ToHex(*transport.session_id) : "");
    return out;
}

RpcMethod GetPeerInfo(NetContext& context)
{
    return {"network",
            "getpeerinfo",
            "The peers that are connected.",
            {},
            "[\n"
            "  {\n"
            "    \"id\": n,                    (numeric) Its number\n"
            "    \"addr\": \"str\",              (string) Its address, or as the user named it\n"
            "    \"addrbind\": \"str\",          (string, optional) Our end of the connection\n"
            "    \"addrlocal\": \"str\",         (string, optional) Our address as it sees it\n"
            "    \"network\": \"str\",           (string) By which it is connected\n"
            "    \"mapped_as\": n,             (numeric, optional) Its autonomous system\n"
            "    \"services\": \"hex\",          (string) What it offers, as bits\n"
            "    \"servicesnames\": [ \"SERVICE_NAME\", ... ],    (json array) Their names\n"
            "    \"relaytxes\": bool,          (boolean) Whether it wants transactions\n"
            "    \"last_inv_sequence\": n,     (numeric) State of the pool at its last inv\n"
            "    \"inv_to_send\": n,           (numeric) Transactions to be announced to it\n"
            "    \"lastsend\": n,              (numeric) Seconds since 1970, as the next four\n"
            "    \"lastrecv\": n,\n"
            "    \"last_transaction\": n,\n"
            "    \"last_block\": n,\n"
            "    \"bytessent\": n,             (numeric) Bytes\n"
            "    \"bytesrecv\": n,             (numeric) Bytes\n"
            "    \"conntime\": n,              (numeric) Seconds since 1970\n"
            "    \"timeoffset\": n,            (numeric) Seconds that its clock is ahead\n"
            "    \"pingtime\": n,              (numeric, optional) Of the last ping, seconds\n"
            "    \"minping\": n,               (numeric, optional) Shortest so far\n"
            "    \"pingwait\": n,              (numeric, optional) Of the ping under way\n"
            "    \"version\": n,               (numeric) Of its protocol\n"
            "    \"subver\": \"str\",            (string) Its name\n"
            "    \"inbound\": bool,            (boolean) It called us\n"
            "    \"bip152_hb_to\": bool,       (boolean) It announces blocks to us by compact "
            "blocks\n"
            "    \"bip152_hb_from\": bool,     (boolean) We announce blocks to it by compact "
            "blocks\n"
            "    \"presynced_headers\": n,     (numeric) Height of its presync; -1: none\n"
            "    \"synced_headers\": n,        (numeric) Last header in common\n"
            "    \"synced_blocks\": n,         (numeric) Last block in common\n"
            "    \"inflight\": [ n, ... ],     (json array) Heights of blocks it was asked for\n"
            "    \"addr_relay_enabled\": bool, (boolean) Whether addresses are exchanged\n"
            "    \"addr_processed\": n,        (numeric) Addresses taken from it\n"
            "    \"addr_rate_limited\": n,     (numeric) Dropped by the rate limit\n"
            "    \"permissions\": [ \"str\", ... ],    (json array) Its special permissions\n"
            "    \"minfeefilter\": n,          (numeric) Least fee rate that it takes\n"
            "    \"bytessent_per_msg\": { \"msg\": n, ... },    (json object) By type\n"
            "    \"bytesrecv_per_msg\": { \"msg\": n, ... },    (json object) *other*: unknown\n"
            "    \"connection_type\": \"str\",   (string) inbound, outbound-full-relay,\n"
            "                                block-relay-only, manual, addr-fetch, feeler,\n"
            "                                private-broadcast\n"
            "    \"transport_protocol_type\": \"str\",    (string) detecting, v1, v2\n"
            "    \"session_id\": \"str\"         (string) Of v2, else empty\n"
            "  }, ...\n"
            "]",
            "",
            [&context](const RpcCall&) {
                UniValue out(UniValue::VARR);
                for (const PeerInfo& peer : context.Network().Info().Peers()) {
                    out.push_back(PeerJson(peer));
                }
                return out;
            }};
}

RpcMethod DisconnectNode(NetContext& context)
{
    return {"network",
            "disconnectnode",
            "Disconnects a peer, selected by its address or its number.",
            {{"address", RpcType::kString, false, "by number", "Address in getpeerinfo; or \"\""},
             {"nodeid", RpcType::kNumber, false, "by address", "The peer's number"}},
            "null",
            "\"192.168.0.6:8333\"\n\"\" 1",
            [&context](const RpcCall& call) -> UniValue {
                ConnectionControl& control = context.Network().Control();
                // A number out of range is reported first, for any address.
                const std::optional<int64_t> id =
                    call.Has(1) ? std::optional(call.Int(1)) : std::nullopt;
                const bool by_address = call.Has(0) && !(id && call.String(0).empty());
                if (id.has_value() == by_address) {
                    throw RpcError{RpcCode::kInvalidParams,
                                   "Only one of address and nodeid should be provided."};
                }
                if (id ? control.Disconnect(*id) : control.Disconnect(call.String(0))) {
                    return {};
                }
                throw RpcError{RpcCode::kNodeNotConnected, "Node not found in connected nodes"};
            }};
}

RpcMethod SendMessageToPeer(NetContext& context)
{
    return {"hidden",
            "sendmsgtopeer",
            "For tests: sends a peer a message of any type and content.",
            {{"peer_id", RpcType::kNumber, true, "", "The peer"},
             {"msg_type", RpcType::kString, true, "", "Its type, at most 12 characters"},
             {"msg", RpcType::kHex, true, "", "Its payload, at most 4000000 bytes"}},
            "{}    (empty json object)",
            "0 \"addr\" \"ffffff\"",
            [&context](const RpcCall& call) {
                const int64_t peer = call.Int(0);
                if (call.String(1).size() > kMaxMessageType) {
                    ThrowRpc(RpcCode::kInvalidParameter,
                             "Error: msg_type too long, max length is {}", kMaxMessageType);
                }
                auto payload = FromHex(call.String(2));
                if (!payload) {
                    throw RpcError{RpcCode::kInvalidParameter, "Error parsing input for msg"};
                }
                if (payload->size() > kMaxPayload) { // no transport takes it
                    ThrowRpc(RpcCode::kInvalidParameter,
                             "Error: msg too long, max length is {} bytes", kMaxPayload);
                }
                ConnectionControl& control = context.Network().Control();
                if (!control.SendMessage(peer, call.String(1), std::move(*payload))) {
                    throw RpcError{RpcCode::kMisc, "Error: Could not send message to peer"};
                }
                return UniValue(UniValue::VOBJ);
            }};
}

UniValue FetchBlock(const NetContext& context, const RpcCall& call)
{
    const BlockHash hash = call.Hash(0, "blockhash");
    const int64_t peer = call.Int(1);
    const HeaderNode* node = nullptr;
    bool have = false;
    {
        const ChainReader chain = context.chain.Read();
        node = chain.Find(hash);
        have = node && node->HasData();
    }
    if (!node) throw RpcError{RpcCode::kMisc, "Block header missing"};
    // A file that contains a block above the tip could not be pruned for a long time.
    if (context.chain.Chain().IsPruneMode() && node->height > context.chain.Current().height) {
        throw RpcError{RpcCode::kMisc, "In prune mode, only blocks that the node has already "
                                       "synced previously can be fetched from a peer"};
    }
    if (have) throw RpcError{RpcCode::kMisc, "Block already downloaded"};
    const auto fetched = context.Network().Blocks().FetchBlock(peer, *node);
    if (!fetched) throw RpcError{RpcCode::kMisc, fetched.Message()};
    return UniValue(UniValue::VOBJ);
}

} // namespace

void AddPeerMethods(RpcTable& table, NetContext& context)
{
    AddNetMethod(table, GetPeerInfo(context));
    AddNetMethod(table, {"network",
                         "getconnectioncount",
                         "Number of peers.",
                         {},
                         "n    (numeric)",
                         "",
                         [&context](const RpcCall&) -> UniValue {
                             const PeerCounts counts = context.Network().Info().Counts();
                             return Num(counts.in + counts.out);
                         }});
    AddNetMethod(
        table, {"network",
                "ping",
                "Sends a ping to every peer; getpeerinfo shows the round trip times, which include "
                "earlier messages in the queue.",
                {},
                "null",
                "",
                [&context](const RpcCall&) -> UniValue {
                    context.Network().Control().PingAll();
                    return {};
                }});
    AddNetMethod(table, DisconnectNode(context));
    AddNetMethod(table, SendMessageToPeer(context));
    table.Add({"blockchain",
               "getblockfrompeer",
               "Requests a block with a known header from a peer. A peer that does not answer is "
               "disconnected; a peer that has sent other bytes for this block before is not asked "
               "again. The block has no undo data unless it is connected.",
               {{"blockhash", RpcType::kHex, true, "", "The block"},
                {"peer_id", RpcType::kNumber, true, "", "Id of the peer in getpeerinfo"}},
               "{}    (empty json object) It was asked",
               "\"00000000c937983704a73af28acdec37b049d214adbda81d7e2a3dd146f6ed09\" 0",
               [&context](const RpcCall& call) { return FetchBlock(context, call); }});
}

} // namespace ibd
