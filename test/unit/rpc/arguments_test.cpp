// Properties of all calls: what any list of arguments leads to, and that help names all members of
// an answer.
#include "rpc/calls_kit.h"

#include <set>

#include "support/catch.h"

using namespace ibd;
using ibd::test::CallsKit;

namespace {

/** A value that the argument takes; hashes are the tip's. */
UniValue Fitting(const RpcArg& arg, CallsKit& kit)
{
    const std::string name = arg.Name();
    switch (arg.type) {
    case RpcType::kNumber: return UniValue(1);
    case RpcType::kBool: return UniValue(true);
    case RpcType::kArray: return UniValue(UniValue::VARR);
    case RpcType::kObject:
    case RpcType::kNamedOptions: return UniValue(UniValue::VOBJ);
    case RpcType::kAny:
        if (name == "hash_or_height") return UniValue(1);
        break;
    default: break;
    }
    if (name == "blockhash" || name == "hash") return UniValue(kit.Tip());
    if (name == "txid") return UniValue(kit.Block(1).coinbase.Id().ToHex());
    return UniValue("x");
}

UniValue Required(const RpcMethod& method, CallsKit& kit)
{
    std::vector<UniValue> values; // null for those before the last one that may be absent
    for (size_t i = 0; i < method.args.size(); ++i) {
        if (!method.args[i].required) continue;
        values.resize(i + 1);
        values[i] = Fitting(method.args[i], kit);
    }
    UniValue params(UniValue::VARR);
    params.push_backV(values);
    return params;
}

/** The same with the argument at `position`; those before it are null if they may be. */
UniValue With(UniValue params, size_t position, const UniValue& value)
{
    std::vector<UniValue> values = params.getValues();
    values.resize(std::max(values.size(), position + 1));
    values[position] = value;
    UniValue out(UniValue::VARR);
    out.push_backV(values);
    return out;
}

/** The JSON type that the help of the argument promises to check; nothing: the call checks. */
std::optional<std::string> TypeChecked(RpcType type)
{
    switch (type) {
    case RpcType::kString:
    case RpcType::kHex: return "string";
    case RpcType::kNumber: return "number";
    case RpcType::kBool: return "bool";
    case RpcType::kArray: return "array";
    case RpcType::kObject:
    case RpcType::kNamedOptions: return "object";
    default: return std::nullopt;
    }
}

/** Calls that write files or extend the chain, so that a second call has another outcome. */
const std::set<std::string> kChanging = {"dumptxoutset", "dumptxouthints", "generatetoaddress",
                                         "generatetodescriptor", "generateblock"};

class AllCalls : public CallsKit {
public:
    AllCalls() { calls.waiters.Stop(); } // no call waits for a block

    template <typename Check>
    void ForEach(Check check)
    {
        const auto names = Names(calls.table);
        REQUIRE(names.size() > 70);
        for (const std::string& name : names) {
            INFO(name);
            check(*calls.table.Find(name));
        }
    }
};

} // namespace

TEST_CASE_METHOD(AllCalls, "too many and too few arguments are answered with the help")
{
    ForEach([this](const RpcMethod& method) {
        const std::string help = "-1: " + method.Help();
        CHECK(Outcome(method.name, With(Required(method, *this), method.args.size(), {})) == help);
        const bool needs = std::ranges::any_of(method.args, &RpcArg::required);
        if (needs) CHECK(Outcome(method.name) == help);
    });
}

TEST_CASE_METHOD(AllCalls, "an argument of the wrong type is named with its position")
{
    ForEach([this](const RpcMethod& method) {
        for (size_t i = 0; i < method.args.size(); ++i) {
            const auto expected = TypeChecked(method.args[i].type);
            if (!expected) continue;
            INFO(method.args[i].names);
            const bool is_array = *expected == "array";
            const UniValue wrong = is_array ? UniValue(5) : Parse("[]");
            const std::string text = Outcome(method.name, With(Required(method, *this), i, wrong));
            CHECK(text ==
                  fmt::format("-3: Wrong type passed:\n{{\n    \"Position {} ({})\": \"JSON "
                              "value of type {} is not of expected type {}\"\n}}",
                              i + 1, method.args[i].names, is_array ? "number" : "array",
                              *expected));
        }
    });
}

TEST_CASE_METHOD(AllCalls, "null stands for an argument that is absent")
{
    ForEach([this](const RpcMethod& method) {
        if (kChanging.contains(method.name) || method.name.starts_with("echo")) return;
        const UniValue params = Required(method, *this);
        if (params.size() == method.args.size()) return;
        const std::string without = Outcome(method.name, params);
        CHECK(Outcome(method.name, With(params, method.args.size() - 1, {})) == without);
    });
}

TEST_CASE_METHOD(AllCalls, "no JSON in place of an argument leads to anything but an answer or a "
                           "documented error")
{
    // -32601: -privatebroadcast is not enabled.
    const std::set<int> documented = {-1,  -3,  -5,  -7,  -8,  -9,  -10, -20, -22, -23,    -24,
                                      -25, -26, -27, -28, -29, -30, -31, -32, -34, -32601, -32602};
    const std::vector<UniValue> values =
        Parse(
            R"([null, true, -1, 0, 9223372036854775808, 1e400, 1.5, "", "x", "00", "ff00", "!", "*",
            "2100000000000000000000", [], [[]], [{}], [null], ["x"], [1], {}, {"x":1}, {"x":{}},
            "0000000000000000000000000000000000000000000000000000000000000000"])")
            .getValues();
    ForEach([&](const RpcMethod& method) {
        for (size_t i = 0; i < method.args.size(); ++i) {
            for (const UniValue& value : values) {
                const UniValue params = With(Required(method, *this), i, value);
                INFO(params.write());
                try {
                    Execute(method.name, params);
                } catch (const RpcError& error) {
                    CHECK(documented.contains(static_cast<int>(error.code)));
                    // Text of the standard library, not of a call.
                    for (const char* foreign :
                         {"std::", "bad_", "vector", "basic_string", "map::"}) {
                        CHECK(error.message.find(foreign) == std::string::npos);
                    }
                }
            }
        }
    });
}

TEST_CASE_METHOD(AllCalls, "unknown members of an options object and unknown names are refused")
{
    ForEach([this](const RpcMethod& method) {
        UniValue named(UniValue::VOBJ);
        named.pushKV("nosuchname", 1);
        CHECK(Outcome(method.name, named) == "-8: Unknown named parameter nosuchname");
        for (size_t i = 0; i < method.args.size(); ++i) {
            if (method.args[i].type != RpcType::kNamedOptions) continue;
            for (const RpcArg& member : method.args[i].members) {
                UniValue both(UniValue::VOBJ);
                both.pushKV(method.args[i].Name(), Parse("{}"));
                both.pushKV(member.Name(), 1);
                CHECK(Outcome(method.name, both) ==
                      fmt::format("-8: Parameter {} conflicts with parameter {}",
                                  method.args[i].Name(), member.Name()));
            }
        }
    });
}

namespace {

/** The help of the answer, and of the answers that it names: "The fields of getblockheader". */
std::string ResultHelp(const RpcTable& table, const RpcMethod& method)
{
    std::string text = method.result;
    for (const char* other : {"getblockheader", "getrawtransaction"}) {
        if (method.result.find(other) != std::string::npos) text += table.Find(other)->result;
    }
    return text;
}

/** Members of `value` that `help` does not name; members named by a hash or an address are data. */
void FindUnnamed(const UniValue& value, const std::string& help, std::set<std::string>& out)
{
    for (size_t i = 0; i < value.size(); ++i) {
        FindUnnamed(value.getValues()[i], help, out);
        if (!value.isObject()) continue;
        const std::string& key = value.getKeys()[i];
        if (key.size() < 64 && help.find('"' + key + '"') == std::string::npos) out.insert(key);
    }
}

} // namespace

TEST_CASE_METHOD(AllCalls, "help names every member of an answer")
{
    // Their members are named by data (categories of the log, deployments) or by a description of
    // its own (OpenRPC's).
    const std::set<std::string> by_data = {"logging", "getdeploymentinfo", "getopenrpcinfo"};
    size_t answered = 0;
    ForEach([&](const RpcMethod& method) {
        if (kChanging.contains(method.name) || by_data.contains(method.name)) return;
        for (const int verbosity : {0, 1, 2, 3}) {
            UniValue params = Required(method, *this);
            if (method.args.size() > params.size()) {
                const RpcArg& next = method.args[params.size()];
                if (next.names.starts_with("verbos")) {
                    params.push_back(next.type == RpcType::kBool ? UniValue(verbosity > 0)
                                                                 : UniValue(verbosity));
                } else if (verbosity > 0) {
                    break;
                }
            } else if (verbosity > 0) {
                break;
            }
            INFO(params.write());
            UniValue answer;
            try {
                answer = Execute(method.name, params);
            } catch (const RpcError&) {
                continue;
            }
            ++answered;
            std::set<std::string> unnamed;
            FindUnnamed(answer, ResultHelp(calls.table, method), unnamed);
            CHECK(unnamed == std::set<std::string>());
        }
    });
    CHECK(answered > 25);
}
