// See param_table.h.
#include "cli/param_table.h"
#include "util/strings.h"

#include <algorithm>
#include <optional>

namespace ibd {

namespace {

/** The arguments of a call in order, a word each. A name alone is JSON; with ~ a text that may
 *  contain '=' even among named arguments; with ? JSON, or text if it does not parse; a dash is
 *  plain text. Brackets hold further names of the argument, and names of an object's members that
 *  may be given as named arguments. */
struct Call {
    std::string_view method;
    std::string_view arguments;
};

constexpr Call kCalls[] = {
    {"addconnection", "- - v2transport"},
    {"addnode", "- - v2transport"},
    {"addpeeraddress", "- port tried"},
    {"analyzepsbt", "~psbt"},
    {"backupwallet", "~destination"},
    {"bumpfee", "- options(conf_target,fee_rate,replaceable,outputs,original_change_index)"},
    {"combinepsbt", "txs"},
    {"combinerawtransaction", "txs"},
    {"converttopsbt", "- permitsigdata iswitness psbt_version"},
    {"createmultisig", "nrequired keys"},
    {"createpsbt", "inputs outputs locktime replaceable version psbt_version"},
    {"createrawtransaction", "inputs outputs locktime replaceable version"},
    {"createwallet", "~wallet_name disable_private_keys blank ~passphrase avoid_reuse descriptors "
                     "load_on_startup external_signer"},
    {"createwalletdescriptor", "- options(internal)"},
    {"decodepsbt", "~psbt"},
    {"decoderawtransaction", "- iswitness"},
    {"deriveaddresses", "- range"},
    {"descriptorprocesspsbt", "~psbt descriptors ~sighashtype bip32derivs finalize"},
    {"disconnectnode", "- nodeid"},
    {"dumptxouthints", "~path height"},
    {"dumptxoutset", "~path ~type options(?rollback,in_memory)"},
    {"echoipc", "~arg"},
    {"echojson", "arg0 arg1 arg2 arg3 arg4 arg5 arg6 arg7 arg8 arg9"},
    {"encryptwallet", "~passphrase"},
    {"estimaterawfee", "conf_target threshold"},
    {"estimatesmartfee", "conf_target"},
    {"finalizepsbt", "~psbt extract"},
    {"fundrawtransaction",
     "- options(add_inputs,include_unsafe,minconf,maxconf,changePosition,includeWatching,"
     "lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,input_weights,conf_target,"
     "replaceable,solving_data,max_tx_weight) iswitness"},
    {"generateblock", "- transactions submit"},
    {"generatetoaddress", "nblocks - maxtries"},
    {"generatetodescriptor", "num_blocks - maxtries"},
    {"getaddressesbylabel", "~label"},
    {"getbalance", "- minconf include_watchonly avoid_reuse"},
    {"getblock", "- verbosity(verbose)"},
    {"getblockfrompeer", "- peer_id"},
    {"getblockhash", "height"},
    {"getblockheader", "- verbose"},
    {"getblockstats", "?hash_or_height stats"},
    {"getblocktemplate", "template_request"},
    {"getchaintxstats", "nblocks"},
    {"getdescriptoractivity", "blockhashes scanobjects include_mempool"},
    {"gethdkeys", "active_only(options,private)"},
    {"getmempoolancestors", "- verbose"},
    {"getmempooldescendants", "- verbose"},
    {"getnetworkhashps", "nblocks height"},
    {"getnewaddress", "~label ~address_type"},
    {"getnodeaddresses", "count"},
    {"getorphantxs", "verbosity"},
    {"getrawmempool", "verbose mempool_sequence"},
    {"getrawtransaction", "- verbosity(verbose)"},
    {"getreceivedbyaddress", "- minconf include_immature_coinbase"},
    {"getreceivedbylabel", "~label minconf include_immature_coinbase"},
    {"gettransaction", "- include_watchonly verbose"},
    {"gettxout", "- n include_mempool"},
    {"gettxoutproof", "txids"},
    {"gettxoutsetinfo", "- ?hash_or_height use_index"},
    {"gettxspendingprevout", "outputs options(mempool_only,return_spending_tx)"},
    {"importdescriptors", "requests"},
    {"importmempool",
     "~filepath options(apply_fee_delta_priority,use_current_time,apply_unbroadcast_set)"},
    {"joinpsbts", "txs"},
    {"keypoolrefill", "newsize"},
    {"listdescriptors", "private"},
    {"listreceivedbyaddress",
     "minconf include_empty include_watchonly - include_immature_coinbase"},
    {"listreceivedbylabel", "minconf include_empty include_watchonly include_immature_coinbase"},
    {"listsinceblock",
     "~blockhash target_confirmations include_watchonly include_removed include_change "
     "~label"},
    {"listtransactions", "~label count skip include_watchonly"},
    {"listunspent",
     "minconf maxconf addresses include_unsafe query_options(minimumAmount,maximumAmount,"
     "maximumCount,minimumSumAmount,include_immature_coinbase)"},
    {"loadtxoutset", "~path"},
    {"loadwallet", "~filename load_on_startup"},
    {"lockunspent", "unlock transactions persistent"},
    {"logging", "include exclude"},
    {"migratewallet", "~wallet_name ~passphrase load_wallet"},
    {"mockscheduler", "delta_time"},
    {"prioritisetransaction", "- dummy fee_delta"},
    {"pruneblockchain", "height"},
    {"psbtbumpfee", "- options(conf_target,fee_rate,replaceable,outputs,original_change_index,"
                    "psbt_version)"},
    {"rescanblockchain", "start_height stop_height"},
    {"restorewallet", "~wallet_name ~backup_file load_on_startup"},
    {"scanblocks", "- scanobjects start_height stop_height - options(filter_false_positives)"},
    {"scantxoutset", "- scanobjects"},
    {"send", "outputs conf_target - fee_rate options(add_inputs,include_unsafe,minconf,maxconf,"
             "add_to_wallet,change_position,fee_rate,include_watching,inputs,locktime,"
             "lock_unspents,psbt,subtract_fee_from_outputs,conf_target,replaceable,solving_data,"
             "max_tx_weight) version"},
    {"sendall",
     "recipients conf_target - fee_rate options(add_to_wallet,fee_rate,include_watching,"
     "inputs,locktime,lock_unspents,psbt,send_max,minconf,maxconf,conf_target,replaceable,"
     "solving_data,version)"},
    {"sendmany", "~dummy amounts minconf ~comment subtractfeefrom replaceable conf_target "
                 "~estimate_mode fee_rate verbose"},
    {"sendmsgtopeer", "peer_id"},
    {"sendrawtransaction", "- maxfeerate maxburnamount"},
    {"sendtoaddress",
     "~address amount ~comment ~comment_to subtractfeefromamount replaceable conf_target "
     "~estimate_mode avoid_reuse fee_rate verbose"},
    {"setban", "- - bantime absolute"},
    {"setlabel", "- ~label"},
    {"setmocktime", "timestamp"},
    {"setnetworkactive", "state"},
    {"setwalletflag", "- value"},
    {"signmessage", "- ~message"},
    {"signmessagewithprivkey", "- ~message"},
    {"signrawtransactionwithkey", "- privkeys prevtxs"},
    {"signrawtransactionwithwallet", "- prevtxs"},
    {"simulaterawtransaction", "rawtxs options(include_watchonly)"},
    {"stop", "wait"},
    {"submitpackage", "package maxfeerate maxburnamount"},
    {"testmempoolaccept", "rawtxs maxfeerate"},
    {"unloadwallet", "~wallet_name load_on_startup"},
    {"utxoupdatepsbt", "~psbt descriptors"},
    {"verifychain", "checklevel nblocks"},
    {"verifymessage", "- ~signature ~message"},
    {"waitforblock", "- timeout"},
    {"waitforblockheight", "height timeout"},
    {"waitfornewblock", "timeout"},
    {"walletcreatefundedpsbt",
     "inputs outputs locktime options(add_inputs,include_unsafe,minconf,maxconf,"
     "changePosition,includeWatching,lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,"
     "conf_target,replaceable,solving_data,max_tx_weight) bip32derivs version psbt_version"},
    {"walletpassphrase", "~passphrase timeout"},
    {"walletpassphrasechange", "~oldpassphrase ~newpassphrase"},
    {"walletprocesspsbt", "~psbt sign ~sighashtype bip32derivs finalize"},
};

enum class Form { kJson, kJsonOrText, kText };

struct Param {
    std::string_view name;
    Form form;
};

Param ReadParam(std::string_view word)
{
    if (word.starts_with('~')) return {word.substr(1), Form::kText};
    if (word.starts_with('?')) return {word.substr(1), Form::kJsonOrText};
    return {word, Form::kJson};
}

/** The words for the call's arguments; empty if none is converted. */
std::vector<std::string_view> ArgumentsOf(std::string_view method)
{
    const auto it = std::find_if(std::begin(kCalls), std::end(kCalls),
                                 [&](const Call& call) { return call.method == method; });
    if (it == std::end(kCalls)) return {};
    return Split(it->arguments, ' ');
}

std::optional<Param> Find(std::string_view method, size_t position)
{
    const auto words = ArgumentsOf(method);
    if (position >= words.size() || words[position] == "-") return std::nullopt;
    return ReadParam(words[position].substr(0, words[position].find('(')));
}

std::optional<Param> Find(std::string_view method, std::string_view name)
{
    for (std::string_view word : ArgumentsOf(method)) {
        if (word == "-") continue;
        if (word.ends_with(')')) word.remove_suffix(1);
        const size_t open = word.find('(');
        std::vector<std::string_view> names = {word.substr(0, open)};
        if (open != std::string_view::npos) {
            for (const auto member : Split(word.substr(open + 1), ',')) names.push_back(member);
        }
        for (const std::string_view one : names) {
            if (ReadParam(one).name == name) return ReadParam(one);
        }
    }
    return std::nullopt;
}

/** Parses JSON of any kind, not only objects and arrays. */
Result<UniValue> ParseJson(const std::string& word)
{
    UniValue wrapped;
    if (!wrapped.read("[" + word + "]") || !wrapped.isArray() || wrapped.size() != 1) {
        return BadData("Error parsing JSON: {}", word);
    }
    return wrapped[0];
}

Result<UniValue> Convert(const std::string& word, const std::optional<Param>& param)
{
    if (!param || param->form == Form::kText) return UniValue(word);
    auto parsed = ParseJson(word);
    if (!parsed.Ok() && param->form == Form::kJsonOrText) return UniValue(word);
    return parsed;
}

/** Whether "a=b" is a value without a name: no argument is named "a", and the next positional one
 *  is a text, or is JSON and the word parses. */
bool HasNoName(const std::string& method, const std::string& word, size_t position)
{
    if (Find(method, std::string_view(word).substr(0, word.find('=')))) return false;
    const auto next = Find(method, position);
    if (!next || next->form == Form::kJsonOrText) return false;
    return next->form == Form::kText || ParseJson(word).Ok();
}

} // namespace

bool IsJsonParam(const std::string& method, size_t position)
{
    const auto param = Find(method, position);
    return param && param->form != Form::kText;
}

bool IsJsonParam(const std::string& method, const std::string& name)
{
    const auto param = Find(method, std::string_view(name));
    return param && param->form != Form::kText;
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
        IBD_ASSIGN_OR_RETURN(const UniValue value, Convert(word.substr(equals + 1),
                                                           Find(method, std::string_view(name))));
        params.pushKV(name, value); // a later value replaces an earlier one
    }
    // Next to a named "args", not replacing it: the server refuses both.
    if (!positional.empty()) params.__pushKV("args", positional);
    return params;
}

} // namespace ibd
