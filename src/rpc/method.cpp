// See method.h.
#include "rpc/method.h"
#include "util/hex.h"
#include "util/strings.h"

#include <limits>
#include <map>
#include <set>

namespace ibd {

namespace {

const UniValue& Null()
{
    static const UniValue null;
    return null;
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
    case RpcType::kAny: return std::nullopt;
    }
    return std::nullopt;
}

const char* TypeName(RpcType type)
{
    switch (type) {
    case RpcType::kString:
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

std::string OneLine(const RpcArg& arg)
{
    switch (arg.type) {
    case RpcType::kString:
    case RpcType::kHex: return '"' + arg.Name() + '"';
    case RpcType::kArray: return "[...]";
    case RpcType::kObject: return "{...}";
    case RpcType::kNamedOptions: {
        std::string text;
        for (const RpcArg& m : arg.members) {
            text += (text.empty() ? "" : ",") + ("\"" + m.Name() + "\":" + OneLine(m));
        }
        return "{" + text + (text.empty() ? "...}" : ",...}");
    }
    default: return arg.Name();
    }
}

/** "1. height    (numeric, required) text", aligned and with members below. */
std::string DescribeArgs(const std::vector<RpcArg>& args)
{
    std::string text;
    int number = 0;
    for (const RpcArg& arg : args) {
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

int64_t ParseIntValue(const UniValue& value)
{
    if (!value.isNum()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(value, UniValue::VNUM)};
    }
    const auto number = ParseInteger<int64_t>(value.getValStr());
    if (!number) ThrowRpc(RpcCode::kMisc, "JSON integer out of range");
    return *number;
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
    const auto bytes = FromHex(value.getValStr());
    if (!bytes || !value.isStr()) {
        ThrowRpc(RpcCode::kInvalidParameter, "{} must be hexadecimal string (not '{}')", name,
                 value.getValStr());
    }
    return *bytes;
}

const UniValue& RpcCall::At(size_t i) const { return i < m_params.size() ? m_params[i] : Null(); }

std::string RpcCall::String(size_t i, const std::string& otherwise) const
{
    return Has(i) ? String(i) : otherwise;
}

int64_t RpcCall::Int(size_t i) const { return ParseIntValue(At(i)); }

int RpcCall::Int32(size_t i) const
{
    const int64_t value = Int(i);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
        ThrowRpc(RpcCode::kMisc, "JSON integer out of range");
    }
    return static_cast<int>(value);
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
    std::string text = fmt::format("{}\n\n{}\n", Signature(), WrapText(description, 80, 0));
    if (!args.empty()) text += "\nArguments:\n" + DescribeArgs(args);
    text += "\nResult:\n" + result + "\n";
    text += "\nExamples:\n";
    for (const std::string_view example : Split(examples, '\n')) {
        const std::string space = example.empty() ? "" : " ";
        text += fmt::format("> bitcoin-cli {}{}{}\n", name, space, example);
    }
    text.pop_back(); // ends without a newline, as Core's
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

UniValue RpcMethod::ToPositional(const UniValue& named) const
{
    std::map<std::string, const UniValue*> given;
    for (size_t i = 0; i < named.getKeys().size(); ++i) {
        if (!given.emplace(named.getKeys()[i], &named.getValues()[i]).second) {
            ThrowRpc(RpcCode::kInvalidParameter, "Parameter {} specified multiple times",
                     named.getKeys()[i]);
        }
    }
    // "args" carries leading positional arguments, as bitcoin-cli -named sends them.
    std::vector<UniValue> out;
    if (const auto it = given.find("args"); it != given.end() && it->second->isArray()) {
        out = it->second->getValues();
        given.erase(it);
    }
    const auto take = [&](const RpcArg& arg) -> const UniValue* {
        const UniValue* value = nullptr;
        for (const std::string_view alias : Split(arg.names, '|')) {
            const auto it = given.find(std::string(alias));
            if (it == given.end()) continue;
            if (value == nullptr) value = it->second;
            given.erase(it);
        }
        return value;
    };
    for (size_t i = 0; i < args.size(); ++i) {
        UniValue value;
        if (const UniValue* found = take(args[i])) value = *found;
        if (args[i].type == RpcType::kNamedOptions) {
            UniValue options(UniValue::VOBJ);
            for (const RpcArg& member : args[i].members) {
                if (const UniValue* found = take(member)) options.pushKV(member.Name(), *found);
            }
            if (!options.empty() && !value.isNull()) {
                ThrowRpc(RpcCode::kInvalidParameter, "Parameter {} conflicts with parameter {}",
                         options.getKeys()[0], args[i].Name());
            }
            if (!options.empty()) value = options;
        }
        if (value.isNull()) continue;
        if (i < out.size() && !out[i].isNull()) {
            ThrowRpc(RpcCode::kInvalidParameter,
                     "Parameter {} specified twice both as positional and named argument",
                     args[i].Name());
        }
        if (out.size() <= i) out.resize(i + 1);
        out[i] = value;
    }
    if (!given.empty()) {
        ThrowRpc(RpcCode::kInvalidParameter, "Unknown named parameter {}", given.begin()->first);
    }
    UniValue array(UniValue::VARR);
    array.push_backV(out);
    return array;
}

} // namespace ibd
