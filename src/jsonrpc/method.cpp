// See method.h.
#include "jsonrpc/method.h"
#include "jsonrpc/json.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace ibd {

namespace {

const UniValue& Null()
{
    static const UniValue null;
    return null;
}

/** Whether bitcoin-cli sends its words unconverted. */
bool IsString(RpcType type)
{
    return type == RpcType::kString || type == RpcType::kHex || type == RpcType::kText;
}

std::optional<UniValue::VType> ExpectedType(RpcType type)
{
    switch (type) {
    case RpcType::kString:
    case RpcType::kHex: return UniValue::VSTR;
    case RpcType::kNumber: return UniValue::VNUM;
    case RpcType::kBool: return UniValue::VBOOL;
    case RpcType::kArray: return UniValue::VARR;
    case RpcType::kObject:
    case RpcType::kNamedOptions: return UniValue::VOBJ;
    case RpcType::kAmount: // number or string
    case RpcType::kRange:
    case RpcType::kText:
    case RpcType::kAny: return std::nullopt;
    }
    return std::nullopt;
}

const char* TypeName(RpcType type)
{
    switch (type) {
    case RpcType::kString:
    case RpcType::kText:
    case RpcType::kHex: return "string";
    case RpcType::kNumber: return "numeric";
    case RpcType::kBool: return "boolean";
    case RpcType::kArray: return "json array";
    case RpcType::kObject:
    case RpcType::kNamedOptions: return "json object";
    case RpcType::kAmount: return "numeric or string";
    case RpcType::kRange: return "numeric or array";
    case RpcType::kAny: return "any";
    }
    return "any";
}

/** `"blockhash"`, `height`, `["category",...]`; as an object's member `"height":n`. */
std::string OneLine(const RpcArg& arg, bool as_member = false);

std::string MemberValue(const RpcArg& arg)
{
    switch (arg.type) {
    case RpcType::kString: return "\"str\"";
    case RpcType::kHex: return "\"hex\"";
    case RpcType::kAmount: return "amount";
    case RpcType::kBool: return "bool";
    case RpcType::kRange: return "n or [n,n]";
    case RpcType::kArray: return OneLine(arg);
    default: return "n";
    }
}

std::string OneLine(const RpcArg& arg, bool as_member)
{
    if (as_member) return '"' + arg.Name() + "\":" + MemberValue(arg);
    if (!arg.one_line.empty()) return arg.one_line;
    std::string members;
    const bool is_object = arg.type == RpcType::kNamedOptions || arg.type == RpcType::kObject;
    for (const RpcArg& m : arg.members) members += OneLine(m, is_object) + ",";
    switch (arg.type) {
    case RpcType::kString:
    case RpcType::kText:
    case RpcType::kHex: return '"' + arg.Name() + '"';
    case RpcType::kArray: return "[" + members + "...]";
    case RpcType::kObject:
    case RpcType::kNamedOptions: return "{" + members + "...}";
    default: return arg.Name();
    }
}

/** Splits a line into words like a shell: both kinds of quotes, and \ within double ones. */
std::vector<std::string> ShellWords(std::string_view line)
{
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == 0 && c == ' ') {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == quote)
            quote = 0;
        else if (quote == 0 && (c == '"' || c == '\''))
            quote = c;
        else if (quote == '"' && c == '\\' && i + 1 < line.size())
            words.back() += line[++i];
        else
            words.back() += c;
    }
    return words;
}

/** The type of the argument, or of an options object's member, with this name. */
RpcType TypeOfNamed(const std::vector<RpcArg>& args, std::string_view name)
{
    for (const RpcArg& arg : args) {
        if (arg.Name() == name) return arg.type;
        for (const RpcArg& member : arg.members) {
            if (member.Name() == name) return member.type;
        }
    }
    return RpcType::kAny;
}

/** The params of a call with named arguments: values without a name are in "args". */
std::string NamedParams(const RpcMethod& method, std::string_view line)
{
    UniValue unnamed(UniValue::VARR);
    UniValue named(UniValue::VOBJ);
    for (const std::string& word : ShellWords(line)) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos) {
            unnamed.push_back(word);
            continue;
        }
        const std::string name = word.substr(0, equals);
        const std::string text = word.substr(equals + 1);
        UniValue value;
        const bool is_text =
            IsString(TypeOfNamed(method.args, name)) || !value.read("[" + text + "]");
        named.pushKV(name, is_text ? UniValue(text) : value[0]);
    }
    UniValue params(UniValue::VOBJ);
    if (!unnamed.empty()) params.pushKV("args", unnamed);
    params.pushKVs(named);
    return params.write();
}

std::string ExampleText(const std::string& command, const std::string& method,
                        const std::string& params)
{
    return fmt::format("> bitcoin-cli {}\n"
                       "> curl --user myusername --data-binary '{{\"jsonrpc\": \"2.0\", \"id\": "
                       "\"curltest\", \"method\": \"{}\", \"params\": {}}}' -H 'content-type: "
                       "application/json' http://127.0.0.1:8332/\n",
                       command, method, params);
}

/** The two forms of a call, from its arguments in bitcoin-cli's form. */
std::string Example(const RpcMethod& method, std::string_view line)
{
    constexpr std::string_view kNamed = "-named ";
    if (line.starts_with(kNamed)) {
        line.remove_prefix(kNamed.size());
        return ExampleText(fmt::format("-named {} {}", method.name, line), method.name,
                           NamedParams(method, line));
    }
    std::string params;
    const std::vector<std::string> words = ShellWords(line);
    for (size_t i = 0; i < words.size(); ++i) {
        const RpcType type = i < method.args.size() ? method.args[i].type : RpcType::kAny;
        UniValue json;
        const bool is_text = IsString(type) || !json.read("[" + words[i] + "]");
        params += (i == 0 ? "" : ", ") + (is_text ? UniValue(words[i]).write() : words[i]);
    }
    return ExampleText(fmt::format("{} {}", method.name, line), method.name, '[' + params + ']');
}

/** "1. height    (numeric, required) text", aligned, with members below. */
std::string DescribeArgs(const std::vector<RpcArg>& args)
{
    std::string text;
    int number = 0;
    for (const RpcArg& arg : args) {
        if (arg.hidden) break;
        const std::string state = arg.required ? "required"
                                  : arg.default_text.empty()
                                      ? "optional"
                                      : "optional, default=" + arg.default_text;
        text += fmt::format("{}. {:<14} ({}, {}) {}\n", ++number, arg.Name(), TypeName(arg.type),
                            state, WrapText(arg.help, 80, 18));
        for (const RpcArg& m : arg.members) {
            text += fmt::format("     \"{}\": ({}, {}) {}\n", m.Name(), TypeName(m.type),
                                m.default_text.empty() ? "optional" : "default=" + m.default_text,
                                WrapText(m.help, 80, 18));
        }
    }
    return text;
}

} // namespace

std::string WrongTypeText(const UniValue& value, UniValue::VType expected)
{
    return fmt::format("JSON value of type {} is not of expected type {}", uvTypeName(value.type()),
                       uvTypeName(expected));
}

void RequireMember(const UniValue& object, const std::string& name, UniValue::VType type,
                   bool optional)
{
    const UniValue& value = object[name];
    if (value.isNull() && !optional) ThrowRpc(RpcCode::kTypeError, "Missing {}", name);
    if (value.isNull() || value.type() == type) return;
    ThrowRpc(RpcCode::kTypeError, "JSON value of type {} for field {} is not of expected type {}",
             uvTypeName(value.type()), name, uvTypeName(type));
}

bool ParseBool(const UniValue& value)
{
    if (!value.isBool()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(value, UniValue::VBOOL)};
    }
    return value.get_bool();
}

const std::string& ParseString(const UniValue& value)
{
    if (!value.isStr()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(value, UniValue::VSTR)};
    }
    return value.getValStr();
}

Uint256 ParseHash(const UniValue& value, std::string_view name)
{
    const std::string& text = ParseString(value);
    if (const auto hash = Uint256::FromHex(text)) return *hash;
    if (text.size() != 64) {
        ThrowRpc(RpcCode::kInvalidParameter, "{} must be of length 64 (not {}, for '{}')", name,
                 text.size(), text);
    }
    ThrowRpc(RpcCode::kInvalidParameter, "{} must be hexadecimal string (not '{}')", name, text);
}

Bytes ParseHexArgument(const UniValue& value, std::string_view name)
{
    const std::string text = value.isStr() ? value.getValStr() : std::string();
    const auto bytes = FromHex(text);
    if (!bytes || text.empty()) {
        ThrowRpc(RpcCode::kInvalidParameter, "{} must be hexadecimal string (not '{}')", name,
                 text);
    }
    return *bytes;
}

const UniValue& RpcCall::At(size_t i) const { return i < m_params.size() ? m_params[i] : Null(); }

std::string RpcCall::String(size_t i, const std::string& otherwise) const
{
    return Has(i) ? String(i) : otherwise;
}

int64_t RpcCall::Int(size_t i) const { return ParseInt<int64_t>(At(i)); }
int32_t RpcCall::Int32(size_t i) const { return ParseInt<int32_t>(At(i)); }
uint32_t RpcCall::Uint32(size_t i) const { return ParseInt<uint32_t>(At(i)); }

int32_t RpcCall::Verbosity(size_t i, int32_t otherwise) const
{
    if (!Has(i)) return otherwise;
    if (At(i).isBool()) return At(i).isTrue() ? 1 : 0;
    return Int32(i);
}

bool RpcCall::Bool(size_t i, bool otherwise) const { return Has(i) ? At(i).isTrue() : otherwise; }

Uint256 RpcCall::Hash(size_t i, std::string_view name) const { return ParseHash(At(i), name); }

const UniValue& RpcCall::Option(size_t i, const std::string& key) const
{
    const UniValue& object = At(i);
    return object.isObject() ? object[key] : Null();
}

std::string RpcMethod::Signature() const
{
    std::string text = name;
    bool optional = false;
    for (const RpcArg& arg : args) {
        if (arg.hidden) break;
        if (!arg.required && !optional) {
            text += " (";
            optional = true;
        } else if (arg.required && optional) {
            text += " )";
            optional = false;
        }
        text += " " + OneLine(arg);
    }
    return text + (optional ? " )" : "");
}

std::string RpcMethod::Help() const
{
    // As in Core, a removed call names only its replacement.
    if (result.empty()) return fmt::format("{}\n\n{}\n", Signature(), description);
    std::string text = fmt::format("{}\n\n{}\n", Signature(), WrapText(description, 80, 0));
    if (!args.empty() && !args[0].hidden) text += "\nArguments:\n" + DescribeArgs(args);
    text += "\nResult:\n" + result + "\n";
    text += "\nExamples:\n";
    for (const std::string_view line : Split(examples, '\n')) text += Example(*this, line);
    return text;
}

UniValue RpcMethod::Execute(const UniValue& positional) const
{
    size_t required = 0;
    for (size_t i = 0; i < args.size(); ++i) {
        if (args[i].required) required = i + 1;
    }
    if (positional.size() < required || positional.size() > args.size()) {
        throw RpcError{RpcCode::kMisc, Help()};
    }
    UniValue mismatch(UniValue::VOBJ);
    for (size_t i = 0; i < args.size(); ++i) {
        const auto expected = ExpectedType(args[i].type);
        const UniValue& given = i < positional.size() ? positional[i] : Null();
        const bool absent = given.isNull() && !args[i].required;
        if (!expected || absent || given.type() == *expected) continue;
        mismatch.pushKV(fmt::format("Position {} ({})", i + 1, args[i].names),
                        WrongTypeText(given, *expected));
    }
    if (!mismatch.empty()) {
        ThrowRpc(RpcCode::kTypeError, "Wrong type passed:\n{}", mismatch.write(4));
    }
    return handler(RpcCall(positional));
}

namespace {

using NamedValues = std::map<std::string, const UniValue*, std::less<>>;

/** Takes name and value of the argument, under the first of its names that is given. */
std::optional<std::pair<std::string, const UniValue*>> Take(NamedValues& given, const RpcArg& arg)
{
    for (const std::string_view name : Split(arg.names, '|')) {
        const auto it = given.find(name);
        if (it == given.end()) continue;
        const std::pair found(it->first, it->second);
        given.erase(it);
        return found;
    }
    return std::nullopt;
}

/** The members of an options object that are given as named arguments. */
UniValue TakeMembers(NamedValues& given, const RpcArg& arg)
{
    UniValue options(UniValue::VOBJ);
    if (arg.type != RpcType::kNamedOptions) return options;
    for (const RpcArg& member : arg.members) {
        if (const auto found = Take(given, member)) options.pushKV(found->first, *found->second);
    }
    return options;
}

/** The value of "args": leading positional arguments, as bitcoin-cli -named sends them. */
std::vector<UniValue> TakePositional(NamedValues& given)
{
    const auto it = given.find("args");
    if (it == given.end()) return {};
    std::vector<UniValue> values;
    if (it->second->isArray()) values = it->second->getValues();
    given.erase(it);
    return values;
}

} // namespace

UniValue RpcMethod::ToPositional(const UniValue& named) const
{
    NamedValues given;
    for (size_t i = 0; i < named.getKeys().size(); ++i) {
        if (given.emplace(named.getKeys()[i], &named.getValues()[i]).second) continue;
        ThrowRpc(RpcCode::kInvalidParameter, "Parameter {} specified multiple times",
                 named.getKeys()[i]);
    }
    std::vector<UniValue> values;
    std::optional<size_t> first; // first argument with a name
    for (size_t i = 0; i < args.size(); ++i) {
        const UniValue options = TakeMembers(given, args[i]);
        const auto found = Take(given, args[i]);
        if (!found && options.empty()) continue;
        if (found && !options.empty()) {
            ThrowRpc(RpcCode::kInvalidParameter, "Parameter {} conflicts with parameter {}",
                     found->first, options.getKeys()[0]);
        }
        if (!first) first = i;
        values.resize(i + 1); // fills gaps with null
        values[i] = found ? *found->second : options;
    }
    const std::vector<UniValue> positional = TakePositional(given);
    if (first && *first < positional.size()) {
        ThrowRpc(RpcCode::kInvalidParameter,
                 "Parameter {} specified twice both as positional and named argument",
                 args[*first].names);
    }
    if (!given.empty()) {
        ThrowRpc(RpcCode::kInvalidParameter, "Unknown named parameter {}", given.begin()->first);
    }
    values.resize(std::max(values.size(), positional.size()));
    std::copy(positional.begin(), positional.end(), values.begin());
    UniValue array(UniValue::VARR);
    array.push_backV(values);
    return array;
}

namespace {

/** The sign before the name; nothing: plain text, which needs no name. */
std::optional<std::string> CliSign(const RpcArg& arg)
{
    switch (arg.cli) {
    case CliForm::kFreeText: return "~";
    case CliForm::kJsonOrText: return "?";
    case CliForm::kJson: return "";
    case CliForm::kByType: break;
    }
    if (IsString(arg.type)) return std::nullopt;
    return "";
}

std::string CliWord(const RpcArg& arg)
{
    const auto sign = CliSign(arg);
    if (!sign) return "-";
    std::vector<std::string> others;
    for (const std::string_view name : Split(arg.names, '|')) {
        if (name != arg.Name()) others.push_back(*sign + std::string(name));
    }
    for (const RpcArg& member : arg.members) {
        const auto sign_of = CliSign(member);
        if (arg.type != RpcType::kNamedOptions || !sign_of) continue;
        for (const std::string_view name : Split(member.names, '|')) {
            others.push_back(*sign_of + std::string(name));
        }
    }
    std::string word = *sign + arg.Name();
    if (!others.empty()) word += fmt::format("({})", fmt::join(others, ","));
    return word;
}

} // namespace

std::string RpcMethod::CliWords() const
{
    std::vector<std::string> words;
    for (const RpcArg& arg : args) words.push_back(CliWord(arg));
    while (!words.empty() && words.back() == "-") words.pop_back();
    return fmt::format("{}", fmt::join(words, " "));
}

void RpcMethod::AppendConversions(UniValue& out) const
{
    const auto append = [&](size_t position, std::string_view names, RpcType type) {
        for (const std::string_view one : Split(names, '|')) {
            UniValue entry(UniValue::VARR);
            entry.push_back(name);
            entry.push_back(static_cast<int>(position));
            entry.push_back(std::string(one));
            entry.push_back(Bool(IsString(type)));
            out.push_back(entry);
        }
    };
    for (size_t i = 0; i < args.size(); ++i) {
        append(i, args[i].names, args[i].type);
        if (args[i].type != RpcType::kNamedOptions) continue;
        for (const RpcArg& member : args[i].members) append(i, member.names, member.type);
    }
}

} // namespace ibd
