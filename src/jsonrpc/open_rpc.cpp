// See open_rpc.h.
#include "jsonrpc/open_rpc.h"
#include "jsonrpc/json.h"

#include <algorithm>

namespace ibd {

namespace {

UniValue Typed(const char* type)
{
    UniValue schema(UniValue::VOBJ);
    schema.pushKV("type", type);
    return schema;
}

UniValue OneOf(std::initializer_list<UniValue> schemas)
{
    UniValue list(UniValue::VARR);
    for (const UniValue& schema : schemas) list.push_back(schema);
    UniValue out(UniValue::VOBJ);
    out.pushKV("oneOf", list);
    return out;
}

UniValue SchemaOf(const RpcArg& arg);

/** A list whose elements are those of the argument's members, if it names any. */
UniValue ListSchema(const RpcArg& arg)
{
    UniValue schema = Typed("array");
    if (arg.members.size() == 1) schema.pushKV("items", SchemaOf(arg.members[0]));
    if (arg.members.size() > 1) {
        UniValue kinds(UniValue::VARR);
        for (const RpcArg& member : arg.members) kinds.push_back(SchemaOf(member));
        UniValue items(UniValue::VOBJ);
        items.pushKV("anyOf", kinds);
        schema.pushKV("items", items);
    }
    return schema;
}

UniValue ObjectSchema(const RpcArg& arg)
{
    UniValue schema = Typed("object");
    if (arg.members.empty()) return schema;
    UniValue properties(UniValue::VOBJ);
    UniValue required(UniValue::VARR);
    for (const RpcArg& member : arg.members) {
        properties.pushKV(member.Name(), SchemaOf(member));
        if (member.required) required.push_back(member.Name());
    }
    schema.pushKV("properties", properties);
    if (!required.empty()) schema.pushKV("required", required);
    return schema;
}

UniValue RangeSchema()
{
    UniValue pair = Typed("array");
    pair.pushKV("items", Typed("number"));
    pair.pushKV("minItems", 2);
    pair.pushKV("maxItems", 2);
    return OneOf({Typed("number"), pair});
}

UniValue TypeSchema(const RpcArg& arg)
{
    switch (arg.type) {
    case RpcType::kString: return Typed("string");
    case RpcType::kHex: {
        UniValue schema = Typed("string");
        schema.pushKV("pattern", "^[0-9a-fA-F]*$");
        return schema;
    }
    case RpcType::kNumber: return Typed("number");
    case RpcType::kAmount: return OneOf({Typed("number"), Typed("string")});
    case RpcType::kBool: return Typed("boolean");
    case RpcType::kArray: return ListSchema(arg);
    case RpcType::kObject:
    case RpcType::kNamedOptions: return ObjectSchema(arg);
    case RpcType::kRange: return RangeSchema();
    case RpcType::kText:
    case RpcType::kAny: break;
    }
    return UniValue(UniValue::VOBJ); // any value
}

UniValue SchemaOf(const RpcArg& arg)
{
    UniValue schema = TypeSchema(arg);
    if (!arg.help.empty()) schema.pushKV("description", arg.help);
    if (arg.default_text.empty()) return schema;
    // Defaults that are values, such as 6 or "stats"; others are words.
    UniValue value;
    const bool is_value = value.read(arg.default_text);
    schema.pushKV(is_value ? "default" : "x-default",
                  is_value ? value : UniValue(arg.default_text));
    return schema;
}

/** A content descriptor: an argument or a result. */
UniValue Descriptor(const std::string& name, const std::string& description, bool required,
                    const UniValue& schema)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("name", name);
    if (!description.empty()) out.pushKV("description", description);
    out.pushKV("required", Bool(required));
    out.pushKV("schema", schema);
    return out;
}

/** OpenRPC lists required arguments before optional ones. So an optional argument before a required
 *  one is described as required, and may be null. */
UniValue ParameterOf(const RpcArg& arg, bool required)
{
    const UniValue own = SchemaOf(arg);
    const UniValue schema = required && !arg.required ? OneOf({own, Typed("null")}) : own;
    UniValue out = Descriptor(arg.Name(), arg.help, required, schema);
    if (arg.names.size() == arg.Name().size()) return out;
    UniValue aliases(UniValue::VARR);
    for (const std::string_view name : Split(arg.names, '|')) {
        if (name != arg.Name()) aliases.push_back(std::string(name));
    }
    out.pushKV("x-aliases", aliases);
    return out;
}

/** The type of the value at the start of the help's result text. */
UniValue ResultSchema(std::string_view text)
{
    if (text.find("\nor ") != std::string_view::npos) return UniValue(UniValue::VOBJ);
    if (text.starts_with('{')) return Typed("object");
    if (text.starts_with('[')) return Typed("array");
    if (text.starts_with('"')) return Typed("string");
    if (text.starts_with("null")) return Typed("null");
    if (text.starts_with("true") || text.starts_with("bool")) return Typed("boolean");
    if (text.starts_with("n ")) return Typed("number");
    return UniValue(UniValue::VOBJ);
}

UniValue MethodOf(const RpcMethod& method, bool with_hidden)
{
    const auto last = std::find_if(method.args.rbegin(), method.args.rend(),
                                   [](const RpcArg& arg) { return arg.required; });
    const auto required = static_cast<size_t>(method.args.rend() - last);
    UniValue params(UniValue::VARR);
    for (size_t i = 0; i < method.args.size(); ++i) {
        const RpcArg& arg = method.args[i];
        if (arg.hidden && !with_hidden) break; // as in help
        params.push_back(ParameterOf(arg, i < required));
    }
    UniValue tag(UniValue::VOBJ);
    tag.pushKV("name", method.category);
    UniValue tags(UniValue::VARR);
    tags.push_back(tag);
    UniValue out(UniValue::VOBJ);
    out.pushKV("name", method.name);
    out.pushKV("description", method.description);
    out.pushKV("tags", tags);
    out.pushKV("paramStructure", "either");
    out.pushKV("params", params);
    out.pushKV("result", Descriptor("result", method.result, true, ResultSchema(method.result)));
    return out;
}

} // namespace

UniValue OpenRpcDocument(const RpcTable& table, const OpenRpcOptions& options)
{
    UniValue info(UniValue::VOBJ);
    info.pushKV("title", options.title);
    info.pushKV("version", options.version);
    UniValue methods(UniValue::VARR);
    for (const std::string& name : table.Names()) {
        const RpcMethod& method = *table.Find(name);
        if (method.category == "hidden" && !options.with_hidden) continue;
        methods.push_back(MethodOf(method, options.with_hidden));
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("openrpc", kOpenRpcVersion);
    out.pushKV("info", info);
    out.pushKV("methods", methods);
    return out;
}

} // namespace ibd
