// Calls about single transactions; see blockchain.h.
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "rpc/mempool.h"
#include "rpc/tx_decode.h"
#include "rpc/tx_json.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

RpcMethod DecodeRawTransaction(ChainContext& context)
{
    return {
        "rawtransactions",
        "decoderawtransaction",
        "A serialized transaction as an object.",
        {{"hexstring", RpcType::kHex, true, "", "The transaction"},
         {"iswitness", RpcType::kBool, false, "depends on heuristic tests",
          "Whether it is in the form with witnesses; without this the node tries both"}},
        "{\n  \"txid\": \"hex\", \"hash\": \"hex\", \"version\": n, \"size\": n, \"vsize\": n,\n"
        "  \"weight\": n, \"locktime\": n, \"vin\": [ ... ], \"vout\": [ ... ]\n}",
        "\"hexstring\"",
        [&context](const RpcCall& call) {
            std::optional<bool> is_witness;
            if (call.Has(1)) is_witness = call.Bool(1, false);
            const TransactionRef tx = DecodeTx(call.String(0), is_witness);
            if (!tx) throw RpcError{RpcCode::kDeserialization, "TX decode failed"};
            UniValue out(UniValue::VOBJ);
            TxJsonOptions options;
            options.include_hex = false;
            AppendTxJson(out, tx->View(), context.Prefixes(), options);
            return out;
        }};
}

void AppendConfirmation(UniValue& out, const ChainReader& chain, const HeaderNode& node)
{
    if (!chain.Active().Contains(&node)) {
        out.pushKV("confirmations", 0);
        return;
    }
    out.pushKV("confirmations", Num(Confirmations(chain, node)));
    out.pushKV("time", Num(node.time));
    out.pushKV("blocktime", Num(node.time));
}

/** A transaction of the pool, without data about the coins that it spends. */
UniValue Unconfirmed(const ChainContext& context, const TxPool& pool, const Txid& txid,
                     int verbosity)
{
    const TransactionRef tx = FindInPool(pool, txid);
    if (!tx) {
        throw RpcError{
            RpcCode::kInvalidAddressOrKey,
            "No such mempool transaction. Use -txindex or provide a block hash to enable "
            "blockchain transaction queries. Use gettransaction for wallet transactions."};
    }
    if (verbosity <= 0) return ToHex(tx->View().raw);
    UniValue out(UniValue::VOBJ);
    AppendTxJson(out, tx->View(), context.Prefixes(), {});
    return out;
}

UniValue RawTransaction(const ChainContext& context, const TxPool& pool, const RpcCall& call)
{
    const Txid txid = call.Hash(0, "parameter 1");
    const int verbosity = call.Verbosity(1, 0);
    const ChainManager& manager = context.Headers();
    const GenesisBlock& genesis = manager.Params().genesis;
    if (txid == genesis.header.merkle_root) {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "The genesis block coinbase is not considered an ordinary transaction and "
                       "cannot be retrieved"};
    }
    if (!call.Has(2)) return Unconfirmed(context, pool, txid, verbosity);
    const HeaderNode* node = manager.Read().Find(call.Hash(2, "parameter 3"));
    if (node == nullptr) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block hash not found"};
    const auto block = ReadBlockData(manager.Blocks(), manager.Where(*node),
                                     verbosity >= 2 ? UndoUse::kIfThere : UndoUse::kNone);
    const auto txs = block->view.Txs();
    const auto it =
        std::find_if(txs.begin(), txs.end(), [&](const TxView& tx) { return tx.txid == txid; });
    if (it == txs.end()) {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "No such transaction found in the provided block. Use gettransaction for "
                       "wallet transactions."};
    }
    if (verbosity <= 0) return ToHex(it->raw);
    UniValue out(UniValue::VOBJ);
    out.pushKV("in_active_chain", Bool(manager.Read().Active().Contains(node)));
    TxJsonOptions options;
    const auto index = static_cast<size_t>(it - txs.begin());
    if (verbosity >= 2 && index > 0) {
        RequireUndoIfMade(context, manager.Where(*node));
        if (!block->undo) {
            throw RpcError{RpcCode::kInternalError,
                           "Undo data expected but can't be read. This could be due to disk "
                           "corruption or a conflict with a pruning event."};
        }
        options.spent = &block->undo->txs[index - 1].spent;
        options.with_prevouts = true;
    }
    AppendTxJson(out, *it, context.Prefixes(), options);
    out.pushKV("blockhash", node->hash.ToHex());
    AppendConfirmation(out, manager.Read(), *node);
    return out;
}

RpcMethod GetRawTransaction(ChainContext& context, const TxPool& pool)
{
    return {"rawtransactions",
            "getrawtransaction",
            "A transaction of the pool or of a given block, as hex or as an object.",
            {{"txid", RpcType::kHex, true, "", "The transaction"},
             {"verbosity|verbose", RpcType::kAny, false, "0",
              "0: hex; 1: object; 2: with fee and the outputs that it spends"},
             {"blockhash", RpcType::kHex, false, "",
              "The block it is in; this node has no index of "
              "transactions, so it is needed for all but those of the pool"}},
            "\"hex\"    (string) With verbosity 0\n"
            "{\n  \"in_active_chain\": bool,\n"
            "  \"txid\": \"hex\", \"hash\": \"hex\", \"version\": n, \"size\": n, \"vsize\": n,\n"
            "  \"weight\": n, \"locktime\": n,\n"
            "  \"vin\": [ { \"txid\", \"vout\", \"scriptSig\", \"txinwitness\", \"prevout\", "
            "\"sequence\" } ],\n"
            "  \"vout\": [ { \"value\", \"n\", \"scriptPubKey\": { \"asm\", \"desc\", \"hex\", "
            "\"address\", \"type\" } } ],\n"
            "  \"fee\": n, \"hex\": \"hex\", \"blockhash\": \"hex\", \"confirmations\": n,\n"
            "  \"time\": n, \"blocktime\": n\n}",
            "\"txid\" 1 \"blockhash\"",
            [&context, &pool](const RpcCall& call) { return RawTransaction(context, pool, call); }};
}

} // namespace

void AddTransactionMethods(RpcTable& table, ChainContext& context, const TxPool& pool)
{
    table.Add(GetRawTransaction(context, pool));
    table.Add(DecodeRawTransaction(context));
    table.AnswerEarly({"decoderawtransaction", "getrawtransaction"});
}

} // namespace ibd
