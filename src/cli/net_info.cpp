// See net_info.h.
#include "cli/net_info.h"

#include "cli/batch.h"
#include "util/strings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr const char* kCalls[] = {"getpeerinfo", "getnetworkinfo"};
constexpr int kMaxLevel = 4;
constexpr const char* kSeeHelp = "For more information, run: bitcoin-cli -netinfo help";

struct NetworkName {
    const char* name;
    const char* column;
    bool has_peers_only; //!< always unreachable: has a column only if there are peers
};
constexpr std::array<NetworkName, 7> kNetworks = {{{"not_publicly_routable", "npr", true},
                                                   {"ipv4", "ipv4", false},
                                                   {"ipv6", "ipv6", false},
                                                   {"onion", "onion", false},
                                                   {"i2p", "i2p", false},
                                                   {"cjdns", "cjdns", false},
                                                   {"internal", "int", true}}};

std::optional<size_t> NetworkIndex(const std::string& name)
{
    for (size_t i = 0; i < kNetworks.size(); ++i) {
        if (kNetworks[i].name == name) return i;
    }
    return std::nullopt;
}

int64_t Int(const UniValue& value)
{
    return ParseInteger<int64_t>(value.getValStr()).value_or(0);
}

/** A number; empty for 0. */
std::string NotZero(int64_t value) { return value == 0 ? "" : std::to_string(value); }

/** The time since `time` in units of `unit` seconds; empty for a time of 0. */
std::string Since(const UniValue& time, int64_t now, int64_t unit)
{
    return Int(time) == 0 ? "" : std::to_string((now - Int(time)) / unit);
}

/** Milliseconds, at most six digits. */
std::string Ping(const UniValue& seconds)
{
    if (seconds.isNull() || seconds.get_real() < 0) return "";
    constexpr double kMost = 999'999;
    const double milliseconds = std::round(1000 * seconds.get_real());
    return milliseconds > kMost ? "-" : fmt::format("{:.0f}", milliseconds);
}

std::string KindName(const std::string& kind)
{
    if (kind == "outbound-full-relay") return "full";
    if (kind == "block-relay-only") return "block";
    if (kind == "addr-fetch") return "addr";
    if (kind == "private-broadcast") return "priv";
    return kind == "manual" || kind == "feeler" ? kind : "";
}

/** A letter for each service. */
std::string ServiceLetters(const UniValue& names)
{
    std::string out;
    for (const UniValue& entry : names.getValues()) {
        const std::string& name = entry.getValStr();
        out += name == "NETWORK_LIMITED" ? 'l' : name == "P2P_V2" ? '2' : ToLower(name.at(0));
    }
    return out;
}

std::string ServiceWords(const UniValue& names)
{
    std::string out;
    for (const UniValue& entry : names.getValues()) {
        out += (out.empty() ? "" : ", ") + entry.getValStr();
    }
    for (char& c : out) c = c == '_' ? ' ' : ToLower(c);
    return out;
}

/** A peer's line, as text by column. */
struct Row {
    bool outbound = false;
    double min_ping = -1;
    std::string kind, network, services, transport, shortest, ping, sent, received, transaction,
        block, compact, processed, limited, age, provider, id, address, version;
};

Row RowOf(const UniValue& peer, size_t network, int64_t now)
{
    Row row;
    row.outbound = !peer["inbound"].get_bool();
    row.min_ping = peer["minping"].isNull() ? -1 : peer["minping"].get_real();
    row.kind = KindName(peer["connection_type"].getValStr());
    row.network = kNetworks[network].column;
    row.services = ServiceLetters(peer["servicesnames"]);
    const UniValue& transport = peer["transport_protocol_type"];
    const std::string protocol = transport.isNull() ? "v1" : transport.getValStr();
    row.transport = protocol.size() == 2 && protocol[0] == 'v' ? protocol.substr(1) : " ";
    row.shortest = Ping(peer["minping"]);
    row.ping = Ping(peer["pingtime"]);
    row.sent = Since(peer["lastsend"], now, 1);
    row.received = Since(peer["lastrecv"], now, 1);
    row.transaction = Since(peer["last_transaction"], now, 60);
    const UniValue& relays = peer["relaytxes"];
    const bool relays_txs = relays.isNull() || relays.get_bool();
    if (row.transaction.empty() && !relays_txs) row.transaction = "*";
    row.block = Since(peer["last_block"], now, 60);
    row.compact = std::string(peer["bip152_hb_to"].get_bool() ? "." : " ") +
                  (peer["bip152_hb_from"].get_bool() ? "*" : " ");
    row.processed = NotZero(Int(peer["addr_processed"]));
    if (row.processed.empty() && !peer["addr_relay_enabled"].isTrue()) row.processed = ".";
    row.limited = NotZero(Int(peer["addr_rate_limited"]));
    row.age = Since(peer["conntime"], now, 60);
    row.provider = NotZero(Int(peer["mapped_as"]));
    row.id = peer["id"].getValStr();
    row.address = peer["addr"].getValStr();
    row.version = peer["version"].getValStr() + peer["subver"].getValStr();
    if (row.version == "0") row.version.clear();
    return row;
}

template <typename Text>
size_t Widest(const std::vector<Row>& rows, size_t least, Text text)
{
    for (const Row& row : rows) least = std::max(least, text(row).size());
    return least;
}

/** The lines of peers, lowest pings first, inbound before outbound. */
std::string PeerLines(std::vector<Row> rows, int level)
{
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return std::tie(a.outbound, a.min_ping) < std::tie(b.outbound, b.min_ping);
    });
    const bool addresses = level == 2 || level == 4, versions = level >= 3;
    const auto width = [&](size_t least, std::string Row::*text) {
        return Widest(rows, least, [&](const Row& row) -> const std::string& { return row.*text; });
    };
    const size_t services = width(6, &Row::services), processed = width(5, &Row::processed);
    const size_t limited = width(6, &Row::limited), age = width(5, &Row::age);
    const size_t id = width(2, &Row::id), address = addresses ? width(0, &Row::address) + 1 : 0;
    const bool providers = std::any_of(rows.begin(), rows.end(),
                                       [](const Row& row) { return !row.provider.empty(); });
    std::string out = fmt::format(
        "<->   type   net {:>{}}  v  mping   ping send recv  txn  blk  hb {:>{}}{:>{}}{:>{}} {}"
        "{:>{}} {:<{}}{}\n",
        "serv", services, "addrp", processed, "addrl", limited, "age", age,
        providers ? " asmap " : "", "id", id, addresses ? "address" : "", address,
        versions ? "version" : "");
    for (const Row& row : rows) {
        out += fmt::format("{:>3} {:>6} {:>5} {:>{}} {:>2}{:>7}{:>7}{:>5}{:>5}{:>5}{:>5}  {:>2} ",
                           row.outbound ? "out" : "in", row.kind, row.network, row.services,
                           services, row.transport, row.shortest, row.ping, row.sent, row.received,
                           row.transaction, row.block, row.compact);
        out += fmt::format("{:>{}}{:>{}}{:>{}}{:>{}} {:>{}} {:<{}}{}\n", row.processed, processed,
                           row.limited, limited, row.age, age, providers ? row.provider : "",
                           providers ? 7 : 0, row.id, id, addresses ? row.address : "", address,
                           versions ? row.version : "");
    }
    return out + fmt::format("                {:>{}}         ms     ms  sec  sec  min  min"
                             "                {:>{}}\n\n",
                             "", services, "min", age);
}

struct Counts {
    using Line = std::array<size_t, kNetworks.size() + 1>; //!< by network, then the total
    Line in{}, out{}, total{};
    size_t block = 0, manual = 0;
};

std::string CountLines(const Counts& counts, const UniValue& networks)
{
    std::string text = "     ";
    std::vector<size_t> columns;
    for (const UniValue& network : networks.getValues()) {
        const auto index = NetworkIndex(network["name"].getValStr());
        if (index && network["reachable"].get_bool()) columns.push_back(*index);
    }
    for (size_t i = 0; i < kNetworks.size(); ++i) {
        if (kNetworks[i].has_peers_only && counts.total[i] > 0) columns.push_back(i);
    }
    for (const size_t i : columns) text += fmt::format("{:>8}", kNetworks[i].column);
    text += "   total   block";
    if (counts.manual > 0) text += "  manual";
    const auto line = [&](const char* name, const Counts::Line& numbers) {
        text += fmt::format("\n{:<5}", name);
        for (const size_t i : columns) text += fmt::format("{:>8}", numbers[i]);
        text += fmt::format("   {:>5}", numbers.back());
    };
    line("in", counts.in);
    line("out", counts.out);
    text += fmt::format("   {:>5}", counts.block);
    if (counts.manual > 0) text += fmt::format("   {:>5}", counts.manual);
    line("total", counts.total);
    return text;
}

std::string LocalAddresses(const UniValue& addresses)
{
    std::string text = "\n\nLocal addresses";
    if (addresses.empty()) return text + ": n/a\n";
    size_t width = 0;
    for (const UniValue& entry : addresses.getValues()) {
        width = std::max(width, entry["address"].getValStr().size() + 1);
    }
    for (const UniValue& entry : addresses.getValues()) {
        text += fmt::format("\n{:<{}}    port {:>6}    score {:>6}", entry["address"].getValStr(),
                            width, entry["port"].getValStr(), entry["score"].getValStr());
    }
    return text;
}

} // namespace

Result<NetInfoOptions> ReadNetInfoWords(const std::vector<std::string>& words)
{
    NetInfoOptions out;
    if (words.empty()) return out;
    if (words[0] == "help" || words[0] == "h") {
        out.help = true;
        return out;
    }
    const auto level = ParseInteger<uint8_t>(words[0]);
    if (!level) return BadData("invalid -netinfo level argument: {}\n{}", words[0], kSeeHelp);
    out.level = std::min<int>(*level, kMaxLevel);
    if (words.size() < 2) return out;
    out.outbound_only = words[1] == "o" || words[1] == "outonly";
    if (out.outbound_only && *level > 0) return out;
    return BadData("invalid -netinfo outonly argument: {}\n{}{}", words[1],
                   *level > 0 ? ""
                              : "The outonly argument is only valid for a level greater than 0 "
                                "(the first argument). ",
                   kSeeHelp);
}

UniValue NetInfoBatch() { return MakeBatch(kCalls); }

Result<NetInfoAnswers> ReadNetInfo(const UniValue& answers)
{
    IBD_ASSIGN_OR_RETURN(const auto replies, ReadBatch(answers, std::size(kCalls)));
    NetInfoAnswers out;
    out.peers = replies[0]["result"];
    out.network = replies[1]["result"];
    out.error = replies[0]["error"].isNull() ? replies[1]["error"] : replies[0]["error"];
    return out;
}

std::string NetInfoText(const NetInfoAnswers& answers, const NetInfoOptions& options,
                        const std::string& title, int64_t now)
{
    Counts counts;
    std::vector<Row> rows;
    for (const UniValue& peer : answers.peers.getValues()) {
        const auto network = NetworkIndex(peer["network"].getValStr());
        if (!network) continue;
        const bool outbound = !peer["inbound"].get_bool();
        for (Counts::Line* line : {outbound ? &counts.out : &counts.in, &counts.total}) {
            ++(*line)[*network];
            ++line->back();
        }
        counts.block += peer["connection_type"].getValStr() == "block-relay-only";
        counts.manual += peer["connection_type"].getValStr() == "manual";
        if (outbound || !options.outbound_only) rows.push_back(RowOf(peer, *network, now));
    }
    const UniValue& network = answers.network;
    const UniValue& services = network["localservicesnames"];
    std::string text =
        fmt::format("{} - server {}{}", title, network["protocolversion"].getValStr(),
                    network["subversion"].getValStr());
    if (options.level > 0) text += " - services " + ServiceLetters(services);
    text += "\n\n";
    if (options.level > 0 && !rows.empty()) text += PeerLines(std::move(rows), options.level);
    text += CountLines(counts, network["networks"]);
    if (options.level == 0) text += "\n\nLocal services: " + ServiceWords(services);
    return text + LocalAddresses(network["localaddresses"]);
}

std::string NetInfoHelp()
{
    return R"(-netinfo (level [outonly]) | help

Shows the peers of a running node, from getpeerinfo and getnetworkinfo. It is made for people: what
it looks like may change.

Arguments
  level    0: counts alone (default); 1: a line for each peer; 2: with its address; 3: with its
           version; 4: with both. Numbers up to 255 mean 4.
  outonly  or o: lines of those only whom the node called; the level is above 0 then

Columns of a peer
  <->      in: it called the node; out: the node called it
  type     of those called: full, block (blocks only), manual (-addnode and others), feeler, addr
           (for addresses only), priv (for one transaction)
  net      ipv4, ipv6, onion, i2p, cjdns; npr: not publicly routable; int: internal
  serv     services: n NETWORK, b BLOOM, w WITNESS, c COMPACT_FILTERS, l NETWORK_LIMITED,
           2 P2P_V2, u unknown
  v        version of the transport
  mping    shortest ping, milliseconds
  ping     last ping, milliseconds
  send     seconds since something was sent
  recv     seconds since something was received
  txn      minutes since it brought a new transaction; *: it wants none
  blk      minutes since it brought a new block
  hb       compact blocks unasked: . it sends them to the node, * it gets them
  addrp    addresses it told; . they are not exchanged
  addrl    addresses dropped as they were too many
  age      minutes that it is connected
  asmap    its provider, with -asmap
  id       number of the peer
  address  its address and port
  version  its protocol version and user agent

Examples
  bitcoin-cli -netinfo
  bitcoin-cli -netinfo 4 outonly
  watch bitcoin-cli -netinfo 4
)";
}

UniValue AddrInfo(const UniValue& counts)
{
    UniValue known(UniValue::VOBJ);
    const std::vector<std::string>& names = counts.getKeys();
    for (size_t i = 0; i < names.size(); ++i) {
        known.pushKV(names[i] == "all_networks" ? "total" : names[i], counts[i]["total"]);
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("addresses_known", known);
    return out;
}

} // namespace ibd
