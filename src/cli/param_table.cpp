// See param_table.h.
#include "cli/param_table.h"

#include <algorithm>

namespace ibd {

namespace {

struct JsonParam {
    const char* method;
    int position; //!< -1: by name only
    const char* name;
};

// Sorted by method. Names that are aliases have a row each.
constexpr JsonParam kJsonParams[] = {
    {"combinerawtransaction", 0, "txs"},
    {"createrawtransaction", 0, "inputs"},
    {"createrawtransaction", 1, "outputs"},
    {"createrawtransaction", 2, "locktime"},
    {"createrawtransaction", 3, "replaceable"},
    {"createrawtransaction", 4, "version"},
    {"decoderawtransaction", 1, "iswitness"},
    {"deriveaddresses", 1, "range"},
    {"disconnectnode", 1, "nodeid"},
    {"dumptxoutset", 2, "options"},
    {"dumptxoutset", -1, "rollback"},
    {"dumptxoutset", -1, "in_memory"},
    {"estimatesmartfee", 0, "conf_target"},
    {"generate", 0, "nblocks"},
    {"generate", 1, "maxtries"},
    {"generateblock", 1, "transactions"},
    {"generateblock", 2, "submit"},
    {"generatetoaddress", 0, "nblocks"},
    {"generatetoaddress", 2, "maxtries"},
    {"generatetodescriptor", 0, "num_blocks"},
    {"generatetodescriptor", 2, "maxtries"},
    {"getblock", 1, "verbosity"},
    {"getblock", 1, "verbose"},
    {"getblockfrompeer", 1, "peer_id"},
    {"getblockhash", 0, "height"},
    {"getblockheader", 1, "verbose"},
    {"getblockstats", 0, "hash_or_height"},
    {"getblockstats", 1, "stats"},
    {"getblocktemplate", 0, "template_request"},
    {"getchaintxstats", 0, "nblocks"},
    {"getmempoolancestors", 1, "verbose"},
    {"getmempooldescendants", 1, "verbose"},
    {"getnetworkhashps", 0, "nblocks"},
    {"getnetworkhashps", 1, "height"},
    {"getnodeaddresses", 0, "count"},
    {"getrawmempool", 0, "verbose"},
    {"getrawmempool", 1, "mempool_sequence"},
    {"getrawtransaction", 1, "verbosity"},
    {"getrawtransaction", 1, "verbose"},
    {"gettxout", 1, "n"},
    {"gettxout", 2, "include_mempool"},
    {"gettxoutproof", 0, "txids"},
    {"gettxoutsetinfo", 1, "hash_or_height"},
    {"gettxoutsetinfo", 2, "use_index"},
    {"gettxspendingprevout", 0, "outputs"},
    {"logging", 0, "include"},
    {"logging", 1, "exclude"},
    {"mockscheduler", 0, "delta_time"},
    {"prioritisetransaction", 1, "dummy"},
    {"prioritisetransaction", 2, "fee_delta"},
    {"pruneblockchain", 0, "height"},
    {"scanblocks", 1, "scanobjects"},
    {"scanblocks", 2, "start_height"},
    {"scanblocks", 3, "stop_height"},
    {"scanblocks", 5, "options"},
    {"scantxoutset", 1, "scanobjects"},
    {"sendrawtransaction", 1, "maxfeerate"},
    {"sendrawtransaction", 2, "maxburnamount"},
    {"setban", 2, "bantime"},
    {"setban", 3, "absolute"},
    {"setmocktime", 0, "timestamp"},
    {"setnetworkactive", 0, "state"},
    {"signrawtransactionwithkey", 1, "privkeys"},
    {"signrawtransactionwithkey", 2, "prevtxs"},
    {"stop", 0, "wait"},
    {"submitpackage", 0, "package"},
    {"testmempoolaccept", 0, "rawtxs"},
    {"testmempoolaccept", 1, "maxfeerate"},
    {"verifychain", 0, "checklevel"},
    {"verifychain", 1, "nblocks"},
    {"waitforblock", 1, "timeout"},
    {"waitforblockheight", 0, "height"},
    {"waitforblockheight", 1, "timeout"},
    {"waitfornewblock", 0, "timeout"},
};

// Arguments that are JSON if they parse and text otherwise.
constexpr JsonParam kTextOrJson[] = {
    {"getblockstats", 0, "hash_or_height"},
    {"gettxoutsetinfo", 1, "hash_or_height"},
    {"dumptxoutset", -1, "rollback"},
};

template <typename Match>
bool AnyRow(const Match& match)
{
    return std::any_of(std::begin(kJsonParams), std::end(kJsonParams), match);
}

/** JSON of any kind, not only objects and arrays. */
Result<UniValue> ParseJson(const std::string& word)
{
    UniValue wrapped;
    if (!wrapped.read("[" + word + "]") || !wrapped.isArray() || wrapped.size() != 1) {
        return BadData("'{}' is not valid JSON", word);
    }
    return wrapped[0];
}

template <typename Match>
Result<UniValue> Convert(const std::string& word, bool is_json, const Match& match)
{
    if (!is_json) return UniValue(word);
    auto parsed = ParseJson(word);
    if (parsed.Ok()) return parsed;
    if (std::any_of(std::begin(kTextOrJson), std::end(kTextOrJson), match)) return UniValue(word);
    return parsed;
}

Result<UniValue> ConvertAt(const std::string& method, size_t position, const std::string& word)
{
    return Convert(word, IsJsonParam(method, position), [&](const JsonParam& p) {
        return method == p.method && p.position == static_cast<int>(position);
    });
}

} // namespace

bool IsJsonParam(const std::string& method, size_t position)
{
    return AnyRow([&](const JsonParam& p) {
        return method == p.method && p.position == static_cast<int>(position);
    });
}

bool IsJsonParam(const std::string& method, const std::string& name)
{
    return AnyRow([&](const JsonParam& p) { return method == p.method && name == p.name; });
}

Result<UniValue> ConvertPositional(const std::string& method, const std::vector<std::string>& words)
{
    UniValue params(UniValue::VARR);
    for (size_t i = 0; i < words.size(); ++i) {
        IBD_ASSIGN_OR_RETURN(const UniValue value, ConvertAt(method, i, words[i]));
        params.push_back(value);
    }
    return params;
}

Result<UniValue> ConvertNamed(const std::string& method, const std::vector<std::string>& words)
{
    UniValue params(UniValue::VOBJ);
    UniValue positional(UniValue::VARR);
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos) {
            IBD_ASSIGN_OR_RETURN(const UniValue value, ConvertAt(method, positional.size(), word));
            positional.push_back(value);
            continue;
        }
        const std::string name = word.substr(0, equals);
        IBD_ASSIGN_OR_RETURN(
            const UniValue value,
            Convert(word.substr(equals + 1), IsJsonParam(method, name),
                    [&](const JsonParam& p) { return method == p.method && name == p.name; }));
        params.pushKV(name, value); // a later one wins
    }
    if (!positional.empty()) params.pushKV("args", positional);
    return params;
}

} // namespace ibd
