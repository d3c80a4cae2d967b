// Calls about the relay of transactions; see network.h.
#include "jsonrpc/json.h"
#include "rpc/network.h"
#include "util/hex.h"

namespace ibd {

namespace {

UniValue OrphanJson(const OrphanPool::Orphan& orphan, bool with_hex)
{
    constexpr int64_t kWeightOfByte = 4;
    const int64_t weight = (*orphan.tx)->Weight();
    UniValue out(UniValue::VOBJ);
    out.pushKV("txid", orphan.tx->Id().ToHex());
    out.pushKV("wtxid", orphan.tx->WitnessId().ToHex());
    out.pushKV("bytes", Num(orphan.tx->View().raw.size()));
    out.pushKV("vsize", Num((weight + kWeightOfByte - 1) / kWeightOfByte));
    out.pushKV("weight", Num(weight));
    UniValue from(UniValue::VARR);
    for (const PeerId peer : orphan.peers) from.push_back(Num(peer));
    out.pushKV("from", from);
    if (with_hex) out.pushKV("hex", ToHex(orphan.tx->View().raw));
    return out;
}

int32_t VerbosityOf(const RpcCall& call)
{
    if (!call.Has(0)) return 0;
    if (call.At(0).isBool()) {
        throw RpcError{RpcCode::kTypeError, "Verbosity was boolean but only integer allowed"};
    }
    const int32_t verbosity = ParseInt<int32_t>(call.At(0));
    if (verbosity >= 0 && verbosity <= 2) return verbosity;
    ThrowRpc(RpcCode::kInvalidParameter, "Invalid verbosity value {}", verbosity);
}

UniValue OrphanTxs(const NetContext& context, const RpcCall& call)
{
    const int32_t verbosity = VerbosityOf(call);
    UniValue out(UniValue::VARR);
    for (const OrphanPool::Orphan& orphan : context.Network().Txs().Orphans()) {
        if (verbosity == 0) {
            out.push_back(orphan.tx->Id().ToHex());
        } else {
            out.push_back(OrphanJson(orphan, verbosity == 2));
        }
    }
    return out;
}

} // namespace

void AddTxRelayMethods(RpcTable& table, NetContext& context)
{
    table.Add({"hidden",
               "getorphantxs",
               "Transactions of peers that wait for their parents.",
               {{"verbosity", RpcType::kAny, false, "0", "0: ids; 1: objects; 2: with hex"}},
               "[ \"txid\", ... ]    (json array) With verbosity 0; an id may be there twice\n"
               "[\n  {\n"
               "    \"txid\": \"hex\", \"wtxid\": \"hex\", \"bytes\": n, \"vsize\": n, "
               "\"weight\": n,\n"
               "    \"from\": [ n, ... ],    (json array) Ids of the peers that announced it\n"
               "    \"hex\": \"hex\"         (string) With verbosity 2\n"
               "  }, ...\n]",
               "2",
               [&context](const RpcCall& call) { return OrphanTxs(context, call); }});
    table.AnswerEarly({"getorphantxs"});
}

} // namespace ibd
