// Calls about single transactions; see blockchain.h.
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "rpc/index_use.h"
#include "rpc/mempool.h"
#include "rpc/tx_decode.h"
#include "rpc/tx_json.h"
#include "util/hex.h"

namespace ibd {

namespace {

RpcMethod DecodeRawTransaction(ChainContext& context)
{
    return {
        "rawtransactions",
        "decoderawtransaction",
        "Decodes a serialized transaction into an object.",
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

/** A transaction outside a block, or inside one without data about the coins that it spends. */
UniValue Plain(const ChainContext& context, const TxView& tx, const BlockHash* block, int verbosity)
{
    if (verbosity <= 0) return ToHex(tx.raw);
    UniValue out(UniValue::VOBJ);
    AppendTxJson(out, tx, context.Prefixes(), {});
    if (!block) return out;
    out.pushKV("blockhash", block->ToHex());
    const ChainReader chain = context.Headers().Read();
    if (const HeaderNode* const node = chain.Find(*block)) AppendConfirmation(out, chain, *node);
    return out;
}

const TxView* FindTx(const BlockView& block, const Txid& txid)
{
    for (const TxView& tx : block.Txs()) {
        if (tx.txid == txid) return &tx;
    }
    return nullptr;
}

/** The coins that a transaction of the block spends; null: a coinbase. */
const std::vector<Coin>* SpentBy(const ChainContext& context, const StoredBlock& place,
                                 const BlockData& block, const TxView& tx)
{
    const auto index = static_cast<size_t>(&tx - block.view.Txs().data());
    if (index == 0) return nullptr;
    RequireUndoIfMade(context, place);
    if (block.undo) return &block.undo->txs[index - 1].spent;
    throw RpcError{RpcCode::kInternalError,
                   "Undo data expected but can't be read. This could be due to disk corruption or "
                   "a conflict with a pruning event."};
}

/** A transaction of the block. `show_active`: also whether the block is in the active chain. */
UniValue OfBlock(const ChainContext& context, const HeaderNode& node, const Txid& txid,
                 int verbosity, bool show_active)
{
    const ChainManager& manager = context.Headers();
    const StoredBlock place = manager.Where(node);
    if (place.data.IsNull()) throw RpcError{RpcCode::kMisc, "Block not available"};
    const auto block =
        ReadBlockData(manager.Blocks(), place, verbosity >= 2 ? UndoUse::kIfThere : UndoUse::kNone);
    const TxView* const tx = FindTx(block->view, txid);
    if (!tx) {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "No such transaction found in the provided block. Use gettransaction for "
                       "wallet transactions."};
    }
    if (verbosity <= 0) return ToHex(tx->raw);
    UniValue out(UniValue::VOBJ);
    if (show_active) {
        out.pushKV("in_active_chain", Bool(manager.Read().Active().Contains(&node)));
    }
    TxJsonOptions options;
    if (verbosity >= 2) options.spent = SpentBy(context, place, *block, *tx);
    options.with_prevouts = options.spent != nullptr;
    AppendTxJson(out, *tx, context.Prefixes(), options);
    out.pushKV("blockhash", node.hash.ToHex());
    AppendConfirmation(out, manager.Read(), node);
    return out;
}

/** The error for a transaction that was not found without a given block. */
RpcError NotFound(const ChainContext& context, bool indexed)
{
    std::string text = "No such mempool or blockchain transaction";
    if (!context.wants_tx_index) {
        text = "No such mempool transaction. Use -txindex or provide a block hash to enable "
               "blockchain transaction queries";
    } else if (!indexed) {
        text = "No such mempool transaction. Blockchain transactions are still in the process of "
               "being indexed";
    }
    return {RpcCode::kInvalidAddressOrKey, text + ". Use gettransaction for wallet transactions."};
}

/** A transaction of the pool, or of the index. */
UniValue Anywhere(const ChainContext& context, const TxPool& pool, const Txid& txid, int verbosity)
{
    const TxIndex* const index = FindIndex(context, &Indexes::Tx);
    const bool indexed = index && WaitForTip(context, *index);
    if (const TransactionRef tx = FindInPool(pool, txid)) {
        return Plain(context, tx->View(), nullptr, verbosity);
    }
    if (!index) throw NotFound(context, indexed);
    const ChainManager& manager = context.Headers();
    const auto found = OrThrow(index->Find(manager.Blocks(), txid));
    if (!found) throw NotFound(context, indexed);
    const HeaderNode* const node = manager.Read().Find(found->block);
    if (verbosity < 2 || !node || found->tx->View().IsCoinbase()) {
        return Plain(context, found->tx->View(), &found->block, verbosity);
    }
    return OfBlock(context, *node, txid, verbosity, false);
}

UniValue RawTransaction(const ChainContext& context, const TxPool& pool, const RpcCall& call)
{
    const Txid txid = call.Hash(0, "parameter 1");
    const ChainManager& manager = context.Headers();
    const GenesisBlock& genesis = manager.Params().genesis;
    if (txid == genesis.header.merkle_root) {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "The genesis block coinbase is not considered an ordinary transaction and "
                       "cannot be retrieved"};
    }
    const int verbosity = call.Verbosity(1, 0);
    if (!call.Has(2)) return Anywhere(context, pool, txid, verbosity);
    const HeaderNode* node = manager.Read().Find(call.Hash(2, "parameter 3"));
    if (node == nullptr) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block hash not found"};
    return OfBlock(context, *node, txid, verbosity, true);
}

RpcMethod GetRawTransaction(ChainContext& context, const TxPool& pool)
{
    return {
        "rawtransactions",
        "getrawtransaction",
        "A transaction of the pool, of a given block or, with -txindex, of any block, as hex or "
        "as an object.",
        {{"txid", RpcType::kHex, true, "", "The transaction"},
         {"verbosity|verbose", RpcType::kAny, false, "0",
          "0: hex; 1: object; 2: with fee and the outputs that it spends"},
         {"blockhash", RpcType::kHex, false, "",
          "The block that contains it; required without -txindex, unless the transaction is in the "
          "pool"}},
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
