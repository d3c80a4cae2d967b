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

std::string GetInfoText(const UniValue& answers, UniValue& error)
{
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
    text += fmt::format("Chain: {}\n", Text(chain["chain"]));
    text += fmt::format("Blocks: {}\n", Text(chain["blocks"]));
    text += fmt::format("Headers: {}\n", Text(chain["headers"]));
    const UniValue& progress = chain["verificationprogress"];
    const double done = progress.isNum() ? progress.get_real() : 0;
    text += fmt::format("Verification progress: {:.4f}%\n", done * 100);
    text += fmt::format("Difficulty: {}\n\n", Text(chain["difficulty"]));
    text += fmt::format("Network: in {}, out {}, total {}\n", Text(network["connections_in"]),
                        Text(network["connections_out"]), Text(network["connections"]));
    text += fmt::format("Version: {}\n", Text(network["version"]));
    text += fmt::format("Time offset (s): {}\n", Text(network["timeoffset"]));
    text += "Proxies: n/a\n";
    text += fmt::format("Min tx relay fee rate (BTC/kvB): {}\n\n", Text(network["relayfee"]));
    text += fmt::format("Warnings: {}", Warnings(network["warnings"]));
    return text;
}

} // namespace ibd
