// Calls about transactions that are sent without the pool; see network.h.
#include "jsonrpc/json.h"
#include "rpc/network.h"
#include "util/hex.h"

namespace ibd {

namespace {

/** The error is the same as if the calls did not exist. */
void RequireEnabled(const NetContext& context)
{
    if (context.private_broadcast) return;
    throw RpcError{RpcCode::kMethodNotFound, "Private broadcast is not enabled. Ensure you're "
                                             "running Bitcoin Core with -privatebroadcast=1."};
}

UniValue TxJson(const Transaction& tx)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("txid", tx.Id().ToHex());
    out.pushKV("wtxid", tx.WitnessId().ToHex());
    out.pushKV("hex", ToHex(tx.View().raw));
    return out;
}

UniValue SendJson(const PrivateSend& send)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("address", send.address.ToString());
    out.pushKV("sent", send.sent);
    if (send.received) out.pushKV("received", *send.received);
    return out;
}

UniValue Info(const NetContext& context)
{
    RequireEnabled(context);
    UniValue transactions(UniValue::VARR);
    for (const PrivateTx& entry : context.Network().Txs().PrivateTxs()) {
        UniValue tx = TxJson(*entry.tx);
        tx.pushKV("time_added", entry.added);
        UniValue peers(UniValue::VARR);
        for (const PrivateSend& send : entry.sends) peers.push_back(SendJson(send));
        tx.pushKV("peers", peers);
        transactions.push_back(tx);
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("transactions", transactions);
    return out;
}

UniValue Abort(const NetContext& context, const RpcCall& call)
{
    RequireEnabled(context);
    const Uint256 id = ParseHash(call.At(0), "id");
    const std::vector<TransactionRef> removed = context.Network().Txs().AbortPrivate(id);
    if (removed.empty()) {
        throw RpcError{RpcCode::kInvalidAddressOrKey, "Transaction not in private broadcast queue. "
                                                      "Check getprivatebroadcastinfo."};
    }
    UniValue list(UniValue::VARR);
    for (const TransactionRef& tx : removed) list.push_back(TxJson(*tx));
    UniValue out(UniValue::VOBJ);
    out.pushKV("removed_transactions", list);
    return out;
}

} // namespace

void AddPrivateBroadcastMethods(RpcTable& table, NetContext& context)
{
    table.Add({"rawtransactions",
               "getprivatebroadcastinfo",
               "The transactions that are sent without the pool until they come back from the "
               "network. Needs -privatebroadcast.",
               {},
               "{\n"
               "  \"transactions\": [\n"
               "    {\n"
               "      \"txid\": \"hex\", \"wtxid\": \"hex\", \"hex\": \"hex\",\n"
               "      \"time_added\": n,        (numeric) When it was submitted, seconds since "
               "1970\n"
               "      \"peers\": [              (json array) To which peers it was sent\n"
               "        {\n"
               "          \"address\": \"str\",\n"
               "          \"sent\": n,          (numeric) When, seconds since 1970\n"
               "          \"received\": n       (numeric) When the peer confirmed it, if it did\n"
               "        }, ...\n"
               "      ]\n"
               "    }, ...\n"
               "  ]\n"
               "}",
               "",
               [&context](const RpcCall&) { return Info(context); }});
    table.Add({"rawtransactions",
               "abortprivatebroadcast",
               "Stops sending a transaction without the pool. Needs -privatebroadcast.",
               {{"id", RpcType::kHex, true, "",
                 "Its txid, which also selects copies with different witnesses, or its wtxid"}},
               "{\n"
               "  \"removed_transactions\": [\n"
               "    { \"txid\": \"hex\", \"wtxid\": \"hex\", \"hex\": \"hex\" }, ...\n"
               "  ]\n"
               "}",
               "\"id\"",
               [&context](const RpcCall& call) { return Abort(context, call); }});
    table.AnswerEarly({"getprivatebroadcastinfo", "abortprivatebroadcast"});
}

} // namespace ibd
