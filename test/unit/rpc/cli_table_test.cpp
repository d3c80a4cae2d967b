// bitcoin-cli's table against the node's own: each argument is sent as the call takes it.
#include "cli/param_table.h"
#include "rpc/standalone_calls.h"

#include "support/catch.h"

using namespace ibd;

namespace {

struct NodeCalls {
    std::unique_ptr<Env> env = MakePosixEnv();
    ChainParams params = MakeChainParams(Network::kRegtest);
    StandaloneCalls calls{*env, params};
};

std::string Named(const std::string& method, const std::string& word)
{
    const auto params = ConvertNamed(method, {word});
    return params ? params->write() : params.Message();
}

} // namespace

TEST_CASE("bitcoin-cli sends each argument of each call as the node takes it")
{
    const NodeCalls node;
    size_t compared = 0;
    const UniValue rows = node.calls.table.Conversions();
    for (const UniValue& row : rows.getValues()) {
        const std::string method = row[0].get_str();
        const std::string name = row[2].get_str();
        INFO(method << " " << name);
        // echojson documents strings, and is there to take JSON.
        const bool is_json = !row[3].get_bool() || method == "echojson";
        CHECK(IsJsonParam(method, name) == is_json);
        ++compared;
        const auto position = static_cast<size_t>(row[1].get_int());
        const RpcArg& arg = node.calls.table.Find(method)->args.at(position);
        if (name == arg.Name()) CHECK(IsJsonParam(method, position) == is_json);
    }
    CHECK(compared > 150);
}

TEST_CASE("bitcoin-cli knows where '=' ends no name, and where text need not be JSON")
{
    const NodeCalls node;
    size_t free_texts = 0;
    size_t either = 0;
    const auto check = [&](const std::string& method, const RpcArg& arg, bool first) {
        INFO(method << " " << arg.names);
        if (arg.cli == CliForm::kFreeText && first) {
            CHECK(Named(method, "a=b==") == R"({"args":["a=b=="]})");
            ++free_texts;
        }
        if (arg.cli == CliForm::kJsonOrText) {
            CHECK(Named(method, arg.Name() + "=00ab") == "{\"" + arg.Name() + "\":\"00ab\"}");
            CHECK(Named(method, arg.Name() + "=7") == "{\"" + arg.Name() + "\":7}");
            ++either;
        }
        if (arg.cli == CliForm::kByType && arg.type == RpcType::kNumber) {
            CHECK(Named(method, arg.Name() + "=x") == "Error parsing JSON: x");
        }
    };
    const UniValue rows = node.calls.table.Conversions();
    for (const UniValue& row : rows.getValues()) {
        const RpcMethod& method = *node.calls.table.Find(row[0].get_str());
        const auto position = static_cast<size_t>(row[1].get_int());
        const RpcArg& arg = method.args.at(position);
        if (row[2].get_str() == arg.Name()) check(method.name, arg, position == 0);
        for (const RpcArg& member : arg.members) {
            if (row[2].get_str() == member.Name()) check(method.name, member, false);
        }
    }
    CHECK(free_texts > 5);
    CHECK(either > 2);
}
