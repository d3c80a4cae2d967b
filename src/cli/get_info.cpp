// See get_info.h.
#include "cli/get_info.h"
#include "util/strings.h"

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr const char* kCalls[] = {"getnetworkinfo", "getblockchaininfo"};

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

/** Twenty signs, dark as far as it is done, and a space; nothing once it is nearly done. */
std::string ProgressBar(double done)
{
    constexpr double kNearlyDone = 0.99;
    constexpr int kSigns = 20;
    if (done < 0 || done >= kNearlyDone) return {};
    const int dark = static_cast<int>(done * kSigns);
    std::string bar;
    for (int i = 0; i < kSigns; ++i) bar += i < dark ? "\u2592" : "\u2591";
    return bar + " ";
}

} // namespace

UniValue GetInfoBatch()
{
    UniValue batch(UniValue::VARR);
    int id = 0;
    for (const char* method : kCalls) {
        UniValue call(UniValue::VOBJ);
        call.pushKV("jsonrpc", "2.0");
        call.pushKV("method", method);
        call.pushKV("params", UniValue(UniValue::VARR));
        call.pushKV("id", id++);
        batch.push_back(call);
    }
    return batch;
}

std::string GetInfoText(const UniValue& answers, bool color, UniValue& error)
{
    const char* const blue = color ? "\x1b[34m" : "";
    const char* const green = color ? "\x1b[32m" : "";
    const char* const yellow = color ? "\x1b[33m" : "";
    const char* const plain = color ? "\x1b[0m" : "";
    UniValue results[std::size(kCalls)];
    for (size_t i = 0; i < answers.size(); ++i) {
        const auto id = ParseInteger<size_t>(answers[i]["id"].getValStr());
        if (!answers[i]["error"].isNull()) {
            error = answers[i]["error"];
            return {};
        }
        if (id && *id < std::size(kCalls)) results[*id] = answers[i]["result"];
    }
    const UniValue& network = results[0];
    const UniValue& chain = results[1];
    std::string text;
    text += fmt::format("{}Chain: {}{}\n", blue, Text(chain["chain"]), plain);
    text += fmt::format("Blocks: {}\n", Text(chain["blocks"]));
    text += fmt::format("Headers: {}\n", Text(chain["headers"]));
    const UniValue& progress = chain["verificationprogress"];
    const double done = progress.isNum() ? progress.get_real() : 0;
    text += fmt::format("Verification progress: {}{:.4f}%\n", ProgressBar(done), done * 100);
    text += fmt::format("Difficulty: {}\n\n", Text(chain["difficulty"]));
    text += fmt::format("{}Network: in {}, out {}, total {}{}\n", green,
                        Text(network["connections_in"]), Text(network["connections_out"]),
                        Text(network["connections"]), plain);
    text += fmt::format("Version: {}\n", Text(network["version"]));
    text += fmt::format("Time offset (s): {}\n", Text(network["timeoffset"]));
    text += "Proxies: n/a\n";
    text += fmt::format("Min tx relay fee rate (BTC/kvB): {}\n\n", Text(network["relayfee"]));
    text += fmt::format("{}Warnings: {}{}", yellow, Warnings(network["warnings"]), plain);
    return text;
}

} // namespace ibd
