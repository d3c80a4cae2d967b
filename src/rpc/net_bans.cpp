// Calls about addresses that the user bans; see network.h.
#include "jsonrpc/json.h"
#include "rpc/network.h"

namespace ibd {

namespace {

/** An address or, with a slash, a range. */
struct Target {
    Subnet range;
    std::optional<NetAddress> address;
};

std::optional<Target> ParseTarget(const std::string& text, bool cjdns_reachable)
{
    if (text.find('/') != std::string::npos) {
        const auto range = Subnet::Parse(text, cjdns_reachable);
        if (!range) return std::nullopt;
        return Target{*range, std::nullopt};
    }
    const auto parsed = NetAddress::Parse(text);
    if (!parsed) return std::nullopt;
    const NetAddress address = parsed->WithCjdns(cjdns_reachable);
    if (!address.IsValid()) return std::nullopt;
    return Target{Subnet(address), address};
}

void Ban(const NetContext& context, const Target& target, const RpcCall& call)
{
    BanControl& bans = context.Network().Bans();
    // An address is banned by any range that contains it, a range only by itself.
    const bool banned =
        target.address ? bans.IsBanned(*target.address) : bans.IsBanned(target.range);
    if (banned) throw RpcError{RpcCode::kNodeAlreadyAdded, "Error: IP/Subnet already banned"};
    const int64_t seconds = call.Int(2, 0);
    const bool absolute = call.Bool(3, false);
    if (absolute && seconds < context.chain.env.UnixTime()) {
        throw RpcError{RpcCode::kInvalidParameter, "Error: Absolute timestamp is in the past"};
    }
    bans.Ban(target.range, seconds, absolute);
}

UniValue SetBan(const RpcTable& table, const NetContext& context, const RpcCall& call)
{
    const std::string& command = call.String(1);
    if (command != "add" && command != "remove") ThrowHelp(table, "setban", RpcCode::kMisc);
    PeerNetwork& network = context.Network();
    const auto target = ParseTarget(call.String(0), network.Options().cjdns_reachable);
    if (!target) throw RpcError{RpcCode::kInvalidSubnet, "Error: Invalid IP/Subnet"};
    if (command == "add") {
        Ban(context, *target, call);
    } else if (!network.Bans().Unban(target->range)) {
        throw RpcError{RpcCode::kInvalidSubnet, "Error: Unban failed. Requested address/subnet was "
                                                "not previously manually banned."};
    }
    return {};
}

UniValue ListBanned(const NetContext& context)
{
    const int64_t now = context.chain.env.UnixTime();
    UniValue out(UniValue::VARR);
    for (const auto& [range, ban] : context.Network().Bans().All()) {
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("address", range.ToString());
        entry.pushKV("ban_created", Num(ban.created));
        entry.pushKV("banned_until", Num(ban.until));
        entry.pushKV("ban_duration", Num(ban.until - ban.created));
        entry.pushKV("time_remaining", Num(ban.until - now));
        out.push_back(entry);
    }
    return out;
}

} // namespace

void AddBanMethods(RpcTable& table, NetContext& context)
{
    AddNetMethod(
        table,
        {"network",
         "setban",
         "Bans an address or a range of addresses, or removes the ban. Peers with these addresses "
         "are disconnected.",
         {{"subnet", RpcType::kString, true, "", "An address, or a range as address/bits or /mask"},
          {"command", RpcType::kString, true, "", "add or remove"},
          {"bantime", RpcType::kNumber, false, "0",
           "Duration of the ban in seconds, or its end; 0: the duration of -bantime"},
          {"absolute", RpcType::kBool, false, "false",
           "bantime is the end of the ban, in seconds since 1970"}},
         "null",
         "\"192.168.0.6\" \"add\" 86400\n\"192.168.0.0/24\" \"add\"",
         [&](const RpcCall& call) { return SetBan(table, context, call); }});
    AddNetMethod(table, {"network",
                         "listbanned",
                         "Addresses and ranges that are banned.",
                         {},
                         "[\n"
                         "  {\n"
                         "    \"address\": \"str\",        (string) The range\n"
                         "    \"ban_created\": n,        (numeric) Seconds since 1970\n"
                         "    \"banned_until\": n,       (numeric) Seconds since 1970\n"
                         "    \"ban_duration\": n,       (numeric) Seconds\n"
                         "    \"time_remaining\": n      (numeric) Seconds\n"
                         "  }, ...\n"
                         "]",
                         "",
                         [&context](const RpcCall&) { return ListBanned(context); }});
    AddNetMethod(table, {"network",
                         "clearbanned",
                         "Removes all bans.",
                         {},
                         "null",
                         "",
                         [&context](const RpcCall&) -> UniValue {
                             context.Network().Bans().Clear();
                             return {};
                         }});
}

} // namespace ibd
