// See param_table.h.
#include "cli/param_table.h"

#include <algorithm>

namespace ibd {

namespace {

enum class Form {
    kJson,
    kJsonOrText, //!< text if it does not parse
    kText,       //!< may contain a '=' also where arguments are named
};

struct Param {
    const char* method;
    int position; //!< -1: by name only
    const char* name;
    Form form = Form::kJson;
};

// Sorted by method. Names that are aliases have a row each. What has no row is text; where one text
// may contain a '=', every text of the call has a row.
constexpr Param kParams[] = {
    {"addconnection", 2, "v2transport"},
    {"addnode", 2, "v2transport"},
    {"addpeeraddress", 1, "port"},
    {"addpeeraddress", 2, "tried"},
    {"combinerawtransaction", 0, "txs"},
    {"createmultisig", 0, "nrequired"},
    {"createmultisig", 1, "keys"},
    {"createrawtransaction", 0, "inputs"},
    {"createrawtransaction", 1, "outputs"},
    {"createrawtransaction", 2, "locktime"},
    {"createrawtransaction", 3, "replaceable"},
    {"createrawtransaction", 4, "version"},
    {"decoderawtransaction", 1, "iswitness"},
    {"deriveaddresses", 1, "range"},
    {"disconnectnode", 1, "nodeid"},
    {"dumptxoutset", 0, "path", Form::kText},
    {"dumptxoutset", 1, "type", Form::kText},
    {"dumptxoutset", 2, "options"},
    {"dumptxoutset", -1, "in_memory"},
    {"dumptxoutset", -1, "rollback", Form::kJsonOrText},
    {"echojson", 0, "arg0"},
    {"echojson", 1, "arg1"},
    {"echojson", 2, "arg2"},
    {"echojson", 3, "arg3"},
    {"echojson", 4, "arg4"},
    {"echojson", 5, "arg5"},
    {"echojson", 6, "arg6"},
    {"echojson", 7, "arg7"},
    {"echojson", 8, "arg8"},
    {"echojson", 9, "arg9"},
    {"estimaterawfee", 0, "conf_target"},
    {"estimaterawfee", 1, "threshold"},
    {"estimatesmartfee", 0, "conf_target"},
    {"generateblock", 1, "transactions"},
    {"generateblock", 2, "submit"},
    {"generatetoaddress", 0, "nblocks"},
    {"generatetoaddress", 2, "maxtries"},
    {"generatetodescriptor", 0, "num_blocks"},
    {"generatetodescriptor", 2, "maxtries"},
    {"getblock", 1, "verbose"},
    {"getblock", 1, "verbosity"},
    {"getblockfrompeer", 1, "peer_id"},
    {"getblockhash", 0, "height"},
    {"getblockheader", 1, "verbose"},
    {"getblockstats", 0, "hash_or_height", Form::kJsonOrText},
    {"getblockstats", 1, "stats"},
    {"getblocktemplate", 0, "template_request"},
    {"getchaintxstats", 0, "nblocks"},
    {"getdescriptoractivity", 0, "blockhashes"},
    {"getdescriptoractivity", 1, "scanobjects"},
    {"getdescriptoractivity", 2, "include_mempool"},
    {"getmempoolancestors", 1, "verbose"},
    {"getmempooldescendants", 1, "verbose"},
    {"getnetworkhashps", 0, "nblocks"},
    {"getnetworkhashps", 1, "height"},
    {"getnodeaddresses", 0, "count"},
    {"getorphantxs", 0, "verbosity"},
    {"getrawmempool", 0, "verbose"},
    {"getrawmempool", 1, "mempool_sequence"},
    {"getrawtransaction", 1, "verbose"},
    {"getrawtransaction", 1, "verbosity"},
    {"gettxout", 1, "n"},
    {"gettxout", 2, "include_mempool"},
    {"gettxoutproof", 0, "txids"},
    {"gettxoutsetinfo", 1, "hash_or_height", Form::kJsonOrText},
    {"gettxoutsetinfo", 2, "use_index"},
    {"gettxspendingprevout", 0, "outputs"},
    {"importmempool", 0, "filepath", Form::kText},
    {"importmempool", 1, "options"},
    {"importmempool", -1, "apply_fee_delta_priority"},
    {"importmempool", -1, "apply_unbroadcast_set"},
    {"importmempool", -1, "use_current_time"},
    {"loadtxoutset", 0, "path", Form::kText},
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
    {"sendmsgtopeer", 0, "peer_id"},
    {"sendrawtransaction", 1, "maxfeerate"},
    {"sendrawtransaction", 2, "maxburnamount"},
    {"setban", 2, "bantime"},
    {"setban", 3, "absolute"},
    {"setmocktime", 0, "timestamp"},
    {"setnetworkactive", 0, "state"},
    {"signmessagewithprivkey", 1, "message", Form::kText},
    {"signrawtransactionwithkey", 1, "privkeys"},
    {"signrawtransactionwithkey", 2, "prevtxs"},
    {"stop", 0, "wait"},
    {"submitpackage", 0, "package"},
    {"submitpackage", 1, "maxfeerate"},
    {"submitpackage", 2, "maxburnamount"},
    {"testmempoolaccept", 0, "rawtxs"},
    {"testmempoolaccept", 1, "maxfeerate"},
    {"verifychain", 0, "checklevel"},
    {"verifychain", 1, "nblocks"},
    {"verifymessage", 1, "signature", Form::kText},
    {"verifymessage", 2, "message", Form::kText},
    {"waitforblock", 1, "timeout"},
    {"waitforblockheight", 0, "height"},
    {"waitforblockheight", 1, "timeout"},
    {"waitfornewblock", 0, "timeout"},
};

const Param* Find(const std::string& method, size_t position)
{
    const auto it = std::find_if(std::begin(kParams), std::end(kParams), [&](const Param& p) {
        return method == p.method && p.position == static_cast<int>(position);
    });
    return it == std::end(kParams) ? nullptr : it;
}

const Param* Find(const std::string& method, const std::string& name)
{
    const auto it = std::find_if(std::begin(kParams), std::end(kParams), [&](const Param& p) {
        return method == p.method && name == p.name;
    });
    return it == std::end(kParams) ? nullptr : it;
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

Result<UniValue> Convert(const std::string& word, const Param* param)
{
    if (param == nullptr || param->form == Form::kText) return UniValue(word);
    auto parsed = ParseJson(word);
    if (!parsed.Ok() && param->form == Form::kJsonOrText) return UniValue(word);
    return parsed;
}

/** Whether "a=b" is a value without a name: there is no argument of the name before the '=', and
 * the next one by position is a text, or it is JSON and the word is that. */
bool HasNoName(const std::string& method, const std::string& word, size_t position)
{
    if (Find(method, word.substr(0, word.find('='))) != nullptr) return false;
    const Param* next = Find(method, position);
    if (next == nullptr || next->form == Form::kJsonOrText) return false;
    return next->form == Form::kText || ParseJson(word).Ok();
}

} // namespace

bool IsJsonParam(const std::string& method, size_t position)
{
    const Param* param = Find(method, position);
    return param != nullptr && param->form != Form::kText;
}

bool IsJsonParam(const std::string& method, const std::string& name)
{
    const Param* param = Find(method, name);
    return param != nullptr && param->form != Form::kText;
}

Result<UniValue> ConvertPositional(const std::string& method, const std::vector<std::string>& words)
{
    UniValue params(UniValue::VARR);
    for (size_t i = 0; i < words.size(); ++i) {
        IBD_ASSIGN_OR_RETURN(const UniValue value, Convert(words[i], Find(method, i)));
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
        const size_t next = positional.size();
        if (equals == std::string::npos || HasNoName(method, word, next)) {
            IBD_ASSIGN_OR_RETURN(const UniValue value, Convert(word, Find(method, next)));
            positional.push_back(value);
            continue;
        }
        const std::string name = word.substr(0, equals);
        IBD_ASSIGN_OR_RETURN(const UniValue value,
                             Convert(word.substr(equals + 1), Find(method, name)));
        params.pushKV(name, value); // a later one wins
    }
    if (!positional.empty()) params.pushKV("args", positional);
    return params;
}

} // namespace ibd
