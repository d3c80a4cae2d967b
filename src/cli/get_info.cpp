// See get_info.h.
#include "cli/get_info.h"

#include "cli/batch.h"
#include "util/strings.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr const char* kCalls[] = {"getnetworkinfo", "getblockchaininfo", "getwalletinfo",
                                  "getbalances", "getboosterinfo"};

std::string Text(const UniValue& value) { return value.getValStr(); }

std::string Warnings(const UniValue& warnings)
{
    std::string text;
    if (warnings.isStr()) text = warnings.getValStr();
    for (size_t i = 0; warnings.isArray() && i < warnings.size(); ++i) {
        text += (i == 0 ? "" : "\n") + warnings[i].getValStr();
    }
    return text.empty() ? "(none)" : text;
}

/** A progress bar of twenty characters and a space; empty when nearly done. */
std::string ProgressBar(double done)
{
    constexpr double kNearlyDone = 0.99;
    constexpr double kStep = 0.05;
    if (done < 0 || done >= kNearlyDone) return {};
    std::string bar;
    for (int i = 0; i < done / kStep; ++i) bar += "\u2592";
    for (int i = 0; i < (1 - done) / kStep; ++i) bar += "\u2591";
    return bar + " ";
}

/** "host:port (ipv4, ipv6), ...", or n/a. */
std::string Proxies(const UniValue& networks)
{
    std::vector<std::pair<std::string, std::string>> found; // in the order of the networks
    for (size_t i = 0; i < networks.size(); ++i) {
        const std::string proxy = Text(networks[i]["proxy"]);
        if (proxy.empty()) continue;
        const auto it = std::find_if(found.begin(), found.end(),
                                     [&](const auto& entry) { return entry.first == proxy; });
        if (it == found.end())
            found.emplace_back(proxy, Text(networks[i]["name"]));
        else
            it->second += ", " + Text(networks[i]["name"]);
    }
    std::string text;
    for (const auto& [proxy, names] : found) {
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", proxy, names);
    }
    return text.empty() ? "n/a" : text;
}

std::string NameOrQuotes(const std::string& name) { return name.empty() ? "\"\"" : name; }

struct Colors {
    const char *plain = "", *green = "", *blue = "", *yellow = "", *magenta = "", *cyan = "";
};

std::string WalletText(const GetInfoAnswers& answers, const Colors& c)
{
    std::string text;
    if (!answers.wallet.isNull()) {
        text += fmt::format("{}Wallet: {}{}\n", c.magenta,
                            NameOrQuotes(Text(answers.wallet["walletname"])), c.plain);
        text += fmt::format("Keypool size: {}\n", Text(answers.wallet["keypoolsize"]));
        const UniValue& until = answers.wallet["unlocked_until"];
        if (!until.isNull()) text += fmt::format("Unlocked until: {}\n", Text(until));
    }
    if (!answers.balance.isNull()) {
        text += fmt::format("{}Balance:{} {}\n\n", c.cyan, c.plain, Text(answers.balance));
    }
    if (answers.balances.empty()) return text;
    text += fmt::format("{}Balances{}\n", c.cyan, c.plain);
    size_t width = 10;
    for (const auto& [name, balance] : answers.balances) width = std::max(width, balance.size());
    for (const auto& [name, balance] : answers.balances) {
        text += fmt::format("{:>{}} {}\n", balance, width, NameOrQuotes(name));
    }
    return text + "\n";
}

double Number(const UniValue& value) { return value.isNum() ? value.get_real() : 0; }

/** A line while the booster runs, when no block is validated yet. */
std::string BoosterText(const UniValue& booster)
{
    const std::string state = Text(booster["state"]);
    if (state == "waiting") {
        return fmt::format("Booster: waiting for headers, {} of them known\n",
                           Text(booster["headers"]));
    }
    if (const UniValue& undo = booster["undo"]; !undo.isNull()) {
        return fmt::format("Booster: making undo data, {}, blocks up to {} of {} have it\n",
                           Text(undo["phase"]), Text(undo["height"]), Text(undo["terminalheight"]));
    }
    if (state == "joining") {
        const UniValue& join = booster["join"];
        return fmt::format("Booster: making hints, {}, {} of {} bytes, {} of {} partitions\n",
                           Text(join["phase"]), Text(join["bytes"]), Text(join["totalbytes"]),
                           Text(join["joined"]), Text(join["partitions"]));
    }
    if (state == "loading") {
        return fmt::format("Booster: loading, {} of {} coins\n", Text(booster["coinsloaded"]),
                           Text(booster["coinsexpected"]));
    }
    if (state != "folding") return {};
    std::string text = fmt::format("Booster: folding, {} of {} blocks", Text(booster["folded"]),
                                   Text(booster["terminalblock"]["height"]));
    const UniValue& download = booster["download"];
    if (download.isNull()) return text + "\n";
    return text + fmt::format(", {} of {} fetched from {} peers, {}/s\n",
                              Text(download["received"]), Text(download["blocks"]),
                              Text(download["peers"]),
                              FormatBytes(static_cast<uint64_t>(Number(download["rate"]))));
}

} // namespace

UniValue GetInfoBatch() { return MakeBatch(kCalls); }

Result<GetInfoAnswers> ReadGetInfo(const UniValue& answers)
{
    IBD_ASSIGN_OR_RETURN(const auto replies, ReadBatch(answers, std::size(kCalls)));
    GetInfoAnswers out;
    out.network = replies[0]["result"];
    out.chain = replies[1]["result"];
    out.wallet = replies[2]["result"];
    out.balance = replies[3]["result"]["mine"]["trusted"];
    out.booster = replies[4]["result"];
    out.error = replies[0]["error"].isNull() ? replies[1]["error"] : replies[0]["error"];
    return out;
}

std::string GetInfoText(const GetInfoAnswers& answers, bool color)
{
    Colors c;
    if (color) c = {"\x1b[0m", "\x1b[32m", "\x1b[34m", "\x1b[33m", "\x1b[35m", "\x1b[36m"};
    const UniValue& network = answers.network;
    const UniValue& chain = answers.chain;
    std::string text = fmt::format("{}Chain: {}{}\n", c.blue, Text(chain["chain"]), c.plain);
    text += fmt::format("Blocks: {}\n", Text(chain["blocks"]));
    text += fmt::format("Headers: {}\n", Text(chain["headers"]));
    const UniValue& progress = chain["verificationprogress"];
    const double done = progress.isNum() ? progress.get_real() : 0;
    text += fmt::format("Verification progress: {}{:.4f}%\n", ProgressBar(done), done * 100);
    text += BoosterText(answers.booster);
    text += fmt::format("Difficulty: {}\n\n", Text(chain["difficulty"]));
    text += fmt::format("{}Network: in {}, out {}, total {}{}\n", c.green,
                        Text(network["connections_in"]), Text(network["connections_out"]),
                        Text(network["connections"]), c.plain);
    text += fmt::format("Version: {}\n", Text(network["version"]));
    text += fmt::format("Time offset (s): {}\n", Text(network["timeoffset"]));
    text += fmt::format("Proxies: {}\n", Proxies(network["networks"]));
    text += fmt::format("Min tx relay fee rate (BTC/kvB): {}\n\n", Text(network["relayfee"]));
    text += WalletText(answers, c);
    text += fmt::format("{}Warnings:{} {}", c.yellow, c.plain, Warnings(network["warnings"]));
    return text;
}

} // namespace ibd
