// See spend_case.h.
#include "spend_case.h"

#include "sim/both_ways.h"
#include "util/hex.h"

#include <sstream>

namespace ibd::differential {

std::string ToLine(const SpendCase& spend)
{
    std::string line = "- - " + ToHex(spend.tx.Serialize()) + " " + std::to_string(spend.index) +
                       " " + std::to_string(spend.flags) + " ";
    for (size_t i = 0; i < spend.spent.size(); ++i) {
        if (i > 0) line += ",";
        line += std::to_string(spend.spent[i].value) + ":" + ToHex(spend.spent[i].script_pubkey);
    }
    return line;
}

namespace {

/** Small, so that entries are pushed out. */
SignatureCache& Cache()
{
    static SignatureCache cache(64 << 10, CacheSalt{1});
    return cache;
}

} // namespace

std::string OurVerdict(ByteSpan raw, std::span<const MutableOutput> spent, size_t index,
                       ScriptFlags flags)
{
    const auto tx = Transaction::Parse(raw);
    if (!tx || (*tx)->View().inputs.size() != spent.size()) return "TX_DECODE";
    std::vector<SpentOutput> outputs;
    for (const MutableOutput& output : spent)
        outputs.push_back({output.value, output.script_pubkey});
    const TxHashes hashes((*tx)->View(), outputs);
    const auto verify = [&](SignatureCacheUse cache) {
        return VerifyInput((*tx)->View(), index, outputs[index], hashes, flags, cache);
    };
    const ScriptError plain = verify({});
    // Filling the cache, out of it, and taking from it: it may change nothing.
    for (const bool keep : {true, true, false}) {
        if (verify({&Cache(), keep}) != plain) return "CACHE_DIFFERS";
    }
    sim::VerifyBothWays((*tx)->View(), index, outputs[index], hashes, flags);
    return ScriptErrorName(plain);
}

std::string OurVerdict(const SpendCase& spend)
{
    return OurVerdict(spend.tx.Serialize(), spend.spent, spend.index, spend.flags);
}

std::string AnswerLine(const std::string& line)
{
    std::istringstream in(line);
    std::string script, amount, tx, index, flags, spent;
    if (!(in >> script >> amount >> tx >> index >> flags >> spent) || script != "-" ||
        amount != "-") {
        return "BAD_LINE";
    }
    const auto raw = FromHex(tx);
    std::vector<MutableOutput> outputs;
    std::istringstream items(spent);
    for (std::string item; std::getline(items, item, ',');) {
        const size_t colon = item.find(':');
        if (colon == std::string::npos) return "BAD_LINE";
        const auto bytes = FromHex(item.substr(colon + 1));
        if (!bytes) return "BAD_LINE";
        outputs.push_back({std::stoll(item.substr(0, colon)), *bytes});
    }
    const size_t at = std::stoul(index);
    if (!raw || at >= outputs.size()) return "BAD_LINE";
    return OurVerdict(*raw, outputs, at, static_cast<ScriptFlags>(std::stoul(flags)));
}

} // namespace ibd::differential
