// The call that finds spenders in the pool; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/mempool.h"
#include "util/hex.h"

namespace ibd {

namespace {

OutPoint ParseOutput(const UniValue& json)
{
    if (!json.isObject()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(json, UniValue::VOBJ)};
    }
    RequireMember(json, "txid", UniValue::VSTR);
    RequireMember(json, "vout", UniValue::VNUM);
    for (const std::string& key : json.getKeys()) {
        if (key == "txid" || key == "vout") continue;
        ThrowRpc(RpcCode::kTypeError, "Unexpected key {}", key);
    }
    const Txid txid = ParseHash(json["txid"], "txid");
    const auto vout = ParseInt<int32_t>(json["vout"]);
    if (vout < 0) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid parameter, vout cannot be negative"};
    }
    return {txid, static_cast<uint32_t>(vout)};
}

bool Option(const RpcCall& call, const char* name, bool otherwise)
{
    const UniValue& value = call.Option(1, name);
    if (value.isNull()) return otherwise;
    RequireMember(call.At(1), name, UniValue::VBOOL, true);
    return value.get_bool();
}

UniValue FindSpenders(const PoolContext& context, const RpcCall& call)
{
    const UniValue& outputs = call.At(0);
    if (outputs.empty()) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid parameter, outputs are missing"};
    }
    const bool pool_only = Option(call, "mempool_only", true);
    const bool with_tx = Option(call, "return_spending_tx", false);
    std::vector<OutPoint> outpoints;
    for (const UniValue& output : outputs.getValues()) outpoints.push_back(ParseOutput(output));
    UniValue out(UniValue::VARR);
    const Lock lock(context.pool.mutex);
    for (size_t i = 0; i < outpoints.size(); ++i) {
        UniValue entry = outputs[i];
        if (const PoolTx* const spender = context.pool.Spender(outpoints[i])) {
            entry.pushKV("spendingtxid", spender->Id().ToHex());
            if (with_tx) entry.pushKV("spendingtx", ToHex(spender->tx->View().raw));
        } else if (!pool_only) {
            throw RpcError{RpcCode::kMisc,
                           "Mempool lacks a relevant spend, and txospenderindex is unavailable."};
        }
        out.push_back(std::move(entry));
    }
    return out;
}

} // namespace

void AddSpenderMethod(RpcTable& table, PoolContext& context)
{
    table.Add({"blockchain",
               "gettxspendingprevout",
               "The transactions of the pool that spend given outputs.",
               {{"outputs",
                 RpcType::kArray,
                 true,
                 "",
                 "The outputs",
                 {{"output", RpcType::kObject, false, "", "{ \"txid\": \"hex\", \"vout\": n }"}},
                 "[{\"txid\":\"hex\",\"vout\":n},...]"},
                {"options",
                 RpcType::kNamedOptions,
                 false,
                 "",
                 "",
                 {{"mempool_only", RpcType::kBool, false, "true",
                   "false: an error if the pool has no spender, as this node has no index of them"},
                  {"return_spending_tx", RpcType::kBool, false, "false",
                   "Whether to show the transaction, too"}}}},
               "[\n  {\n"
               "    \"txid\": \"hex\", \"vout\": n,    The output\n"
               "    \"spendingtxid\": \"hex\",       (string) Left out if none spends it\n"
               "    \"spendingtx\": \"hex\"          (string) With return_spending_tx\n"
               "  }, ...\n]",
               "'[{\"txid\":\"a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0\","
               "\"vout\":3}]'",
               [&context](const RpcCall& call) { return FindSpenders(context, call); }});
    table.AnswerEarly({"gettxspendingprevout"});
}

} // namespace ibd
