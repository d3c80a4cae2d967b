// See param_table.h.
#include "cli/param_table.h"
#include "util/strings.h"

#include <algorithm>
#include <optional>
#include <span>

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

/** The calls of this node: written by rpc/cli_table_main.cpp when it is built. */
constexpr Call kNodeCalls[] = {
#include "cli/node_calls.inc"
};

/** Calls of other nodes, such as Core with a wallet, which bitcoin-cli may also call. */
constexpr Call kOtherCalls[] = {
    {"backupwallet", "~destination"},
    {"bumpfee", "- options(conf_target,fee_rate,replaceable,outputs,original_change_index)"},
    {"createwallet", "~wallet_name disable_private_keys blank ~passphrase avoid_reuse descriptors "
                     "load_on_startup external_signer"},
    {"createwalletdescriptor", "- options(internal)"},
    {"encryptwallet", "~passphrase"},
    {"fundrawtransaction",
     "- options(add_inputs,include_unsafe,minconf,maxconf,changePosition,includeWatching,"
     "lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,input_weights,conf_target,"
     "replaceable,solving_data,max_tx_weight) iswitness"},
    {"getaddressesbylabel", "~label"},
    {"getbalance", "- minconf include_watchonly avoid_reuse"},
    {"gethdkeys", "active_only(options,private)"},
    {"getnewaddress", "~label ~address_type"},
    {"getreceivedbyaddress", "- minconf include_immature_coinbase"},
    {"getreceivedbylabel", "~label minconf include_immature_coinbase"},
    {"gettransaction", "- include_watchonly verbose"},
    {"importdescriptors", "requests"},
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
    {"loadwallet", "~filename load_on_startup"},
    {"lockunspent", "unlock transactions persistent"},
    {"migratewallet", "~wallet_name ~passphrase load_wallet"},
    {"psbtbumpfee", "- options(conf_target,fee_rate,replaceable,outputs,original_change_index,"
                    "psbt_version)"},
    {"rescanblockchain", "start_height stop_height"},
    {"restorewallet", "~wallet_name ~backup_file load_on_startup"},
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
    {"sendtoaddress",
     "~address amount ~comment ~comment_to subtractfeefromamount replaceable conf_target "
     "~estimate_mode avoid_reuse fee_rate verbose"},
    {"setlabel", "- ~label"},
    {"setwalletflag", "- value"},
    {"signmessage", "- ~message"},
    {"signrawtransactionwithwallet", "- prevtxs"},
    {"simulaterawtransaction", "rawtxs options(include_watchonly)"},
    {"unloadwallet", "~wallet_name load_on_startup"},
    {"walletcreatefundedpsbt",
     "inputs outputs locktime options(add_inputs,include_unsafe,minconf,maxconf,"
     "changePosition,includeWatching,lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,"
     "conf_target,replaceable,solving_data,max_tx_weight) bip32derivs version psbt_version"},
    {"walletpassphrase", "~passphrase timeout"},
    {"walletpassphrasechange", "~oldpassphrase ~newpassphrase"},
    {"walletprocesspsbt", "~psbt sign ~sighashtype bip32derivs finalize"},
};

constexpr const Call* FindCall(std::span<const Call> calls, std::string_view method)
{
    const auto it = std::ranges::find(calls, method, &Call::method);
    return it == calls.end() ? nullptr : &*it;
}

static_assert(std::ranges::none_of(kOtherCalls,
                                   [](const Call& call) {
                                       return FindCall(kNodeCalls, call.method) != nullptr;
                                   }),
              "a call of this node stands among those of others: delete it there");

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
    const Call* call = FindCall(kNodeCalls, method);
    if (call == nullptr) call = FindCall(kOtherCalls, method);
    if (call == nullptr) return {};
    return Split(call->arguments, ' ');
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
    // Added beside a named "args" without replacing it: the server refuses a call with both.
    if (!positional.empty()) params.__pushKV("args", positional);
    return params;
}

} // namespace ibd
