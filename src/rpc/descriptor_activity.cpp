// getdescriptoractivity; see blockchain.h.
#include "jsonrpc/json.h"
#include "mempool/tx_pool.h"
#include "rpc/amount_json.h"
#include "rpc/blockchain.h"
#include "rpc/descriptors.h"
#include "rpc/scan_turn.h"
#include "rpc/tx_json.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

namespace ibd {

namespace {

/** The blocks named by a call, each once, in the order of the chain. */
std::vector<const HeaderNode*> BlocksOf(const ChainContext& context, const UniValue& hashes)
{
    const ChainReader chain = context.Read();
    std::vector<const HeaderNode*> nodes;
    for (const UniValue& value : hashes.getValues()) {
        const HeaderNode& node = FindBlock(chain, ParseHash(value, "blockhash"));
        if (!chain.Active().Contains(&node)) {
            throw RpcError{RpcCode::kInvalidParameter, "Block is not in main chain"};
        }
        nodes.push_back(&node);
    }
    std::ranges::sort(nodes, {}, &HeaderNode::height);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

/** Collects the activity of the watched scripts. */
class Activity {
public:
    Activity(std::set<Bytes> scripts, const AddressPrefixes& prefixes)
        : m_scripts(std::move(scripts)), m_prefixes(prefixes)
    {
    }

    /** `block`: null in the pool. */
    void Spend(const HeaderNode* block, const TxView& tx, size_t input, Amount value,
               ByteSpan script)
    {
        if (!Watches(script)) return;
        const OutPoint prevout = tx.inputs[input].Prevout();
        UniValue out = Start("spend", block, value);
        out.pushKV("spend_txid", tx.txid.ToHex());
        out.pushKV("spend_vin", Num(input));
        out.pushKV("prevout_txid", prevout.txid.ToHex());
        out.pushKV("prevout_vout", Num(prevout.vout));
        out.pushKV("prevout_spk", ScriptPubKeyJson(script, m_prefixes));
        m_found.push_back(out);
    }

    void Receive(const HeaderNode* block, const TxView& tx)
    {
        for (size_t i = 0; i < tx.outputs.size(); ++i) {
            const OutputView& output = tx.outputs[i];
            if (!Watches(output.script_pubkey)) continue;
            UniValue out = Start("receive", block, output.value);
            out.pushKV("txid", tx.txid.ToHex());
            out.pushKV("vout", Num(i));
            out.pushKV("output_spk", ScriptPubKeyJson(output.script_pubkey, m_prefixes));
            m_found.push_back(out);
        }
    }

    UniValue Take() { return std::move(m_found); }

private:
    bool Watches(ByteSpan script) const
    {
        return m_scripts.contains(Bytes(script.begin(), script.end()));
    }

    static UniValue Start(const char* type, const HeaderNode* block, Amount value)
    {
        UniValue out(UniValue::VOBJ);
        out.pushKV("type", type);
        out.pushKV("amount", AmountJson(value));
        if (!block) return out;
        out.pushKV("blockhash", block->hash.ToHex());
        out.pushKV("height", Num(block->height));
        return out;
    }

    const std::set<Bytes> m_scripts;
    const AddressPrefixes m_prefixes;
    UniValue m_found{UniValue::VARR};
};

void AddBlock(const ChainContext& context, const HeaderNode& node, Activity& activity)
{
    const ChainManager& manager = context.Headers();
    const StoredBlock place = manager.Where(node);
    RequireUndoIfMade(context, place);
    const auto block = ReadBlockData(manager.Blocks(), place, UndoUse::kRequired);
    const auto txs = block->view.Txs();
    for (size_t i = 0; i < txs.size(); ++i) {
        for (size_t input = 0; i > 0 && input < txs[i].inputs.size(); ++input) {
            const Coin& coin = block->undo->txs[i - 1].spent[input];
            activity.Spend(&node, txs[i], input, coin.value, coin.script);
        }
        activity.Receive(&node, txs[i]);
    }
}

/** The transactions that the pool has at one moment. */
class PoolMoment {
public:
    explicit PoolMoment(const TxPool& pool)
    {
        const Lock lock(pool.mutex);
        for (const PoolTx* const entry : pool.InOrder()) {
            m_by_id.emplace(entry->tx->Id(), entry->tx.get());
            m_txs.push_back(entry->tx);
        }
    }

    /** In the order of mining. */
    std::span<const TransactionRef> Txs() const { return m_txs; }
    /** Null: the pool has no such transaction. */
    const Transaction* Find(const Txid& id) const
    {
        const auto it = m_by_id.find(id);
        return it == m_by_id.end() ? nullptr : it->second;
    }

private:
    std::vector<TransactionRef> m_txs;
    std::map<Txid, const Transaction*> m_by_id;
};

using Outputs = std::vector<MutableOutput>;

/** The outputs that a transaction of the pool spends; nothing: a block has spent one. */
std::optional<Outputs> SpentBy(const TxView& tx, const PoolMoment& moment, const CoinsCache& coins)
{
    Outputs out;
    for (const InputView& input : tx.inputs) {
        const OutPoint prevout = input.Prevout();
        if (const Transaction* const parent = moment.Find(prevout.txid)) {
            const OutputView& output = (*parent)->outputs[prevout.vout];
            out.push_back(
                {output.value, Bytes(output.script_pubkey.begin(), output.script_pubkey.end())});
        } else if (const auto coin = OrThrow(coins.Read(prevout))) {
            const ByteSpan script = coin->script;
            out.push_back({coin->value, Bytes(script.begin(), script.end())});
        } else {
            return std::nullopt;
        }
    }
    return out;
}

/** The outputs that each transaction spends. Reads a few coins at a time, as blocks wait meanwhile
 *  and the disk may be slow. Nothing: a block came in between. */
std::optional<std::vector<Outputs>> SpentBy(const ChainContext& context, const PoolMoment& moment)
{
    constexpr size_t kInputsAtOnce = 64; // and those of one transaction more
    std::vector<Outputs> out;
    const HeaderNode* tip = nullptr;
    while (out.size() < moment.Txs().size()) {
        if (context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
        const CoinsGuard coins = context.Chain().HoldCoins();
        if (tip && tip != &coins.Tip()) return std::nullopt;
        tip = &coins.Tip();
        for (size_t read = 0; read < kInputsAtOnce && out.size() < moment.Txs().size();) {
            const TxView& tx = moment.Txs()[out.size()]->View();
            auto spent = SpentBy(tx, moment, coins.Cache());
            if (!spent) return std::nullopt;
            read += tx.inputs.size();
            out.push_back(std::move(*spent));
        }
    }
    return out;
}

void AddPool(const ChainContext& context, const TxPool& pool, Activity& activity)
{
    // A block may come in between, and its transactions leave the pool only some time later.
    constexpr int kMostAttempts = 1000;
    constexpr auto kPause = std::chrono::milliseconds(20);
    std::unique_ptr<const PoolMoment> moment;
    std::optional<std::vector<Outputs>> spent;
    for (int attempt = 0; !spent; ++attempt) {
        if (attempt == kMostAttempts) {
            throw RpcError{RpcCode::kMisc, "A transaction of the mempool spends a missing coin"};
        }
        if (attempt != 0) std::this_thread::sleep_for(kPause);
        moment = std::make_unique<const PoolMoment>(pool);
        spent = SpentBy(context, *moment);
    }
    for (size_t i = 0; i < spent->size(); ++i) {
        const TxView& tx = moment->Txs()[i]->View();
        for (size_t input = 0; input < tx.inputs.size(); ++input) {
            const MutableOutput& output = (*spent)[i][input];
            activity.Spend(nullptr, tx, input, output.value, output.script_pubkey);
        }
        activity.Receive(nullptr, tx);
    }
}

UniValue DescriptorActivity(const ChainContext& context, const TxPool& pool, const RpcCall& call)
{
    const auto nodes = BlocksOf(context, call.At(0));
    std::set<Bytes> scripts;
    for (const UniValue& object : call.At(1).getValues()) {
        for (WatchedScript& one : ExpandScanObject(object, context.Chain().Params())) {
            scripts.insert(std::move(one.script));
        }
    }
    Activity activity(std::move(scripts), context.Prefixes());
    for (const HeaderNode* const node : nodes) {
        if (context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
        AddBlock(context, *node, activity);
    }
    if (call.Bool(2, true)) AddPool(context, pool, activity);
    UniValue out(UniValue::VOBJ);
    out.pushKV("activity", activity.Take());
    return out;
}

} // namespace

void AddDescriptorActivityMethod(RpcTable& table, ChainContext& context, const TxPool& pool)
{
    table.Add({"blockchain",
               "getdescriptoractivity",
               "Lists outputs of descriptors that the given blocks and the pool create and spend; "
               "scanblocks finds these blocks. The call may take minutes: see -rpcclienttimeout.",
               {{"blockhashes",
                 RpcType::kArray,
                 true,
                 "",
                 "Blocks of the active chain, in any order",
                 {{"blockhash", RpcType::kHex, false, "", "A block"}}},
                ScanObjectsArg(true, "Descriptors, or objects of \"desc\" and \"range\" (the last "
                                     "position, or the first and the last; 1000 without)"),
                {"include_mempool", RpcType::kBool, false, "true", "Whether to include the pool"}},
               "{\n"
               "  \"activity\": [                (json array) In the order of the chain, then of "
               "the pool\n"
               "    {\n"
               "      \"type\": \"spend\",         (string) An output of a descriptor is spent\n"
               "      \"amount\": n,             (numeric) Amount of the spent output, bitcoin\n"
               "      \"blockhash\": \"hex\",      (string) The block; left out in the pool\n"
               "      \"height\": n,             (numeric) Height of the block; left out in the "
               "pool\n"
               "      \"spend_txid\": \"hex\",     (string) The transaction that spends the "
               "output\n"
               "      \"spend_vin\": n,          (numeric) Number of its input\n"
               "      \"prevout_txid\": \"hex\",   (string) The transaction that made the output\n"
               "      \"prevout_vout\": n,       (numeric) Number of the output\n"
               "      \"prevout_spk\": { ... }   (json object) Script of the output\n"
               "    },\n"
               "    {\n"
               "      \"type\": \"receive\",       (string) An output of a descriptor is made\n"
               "      \"amount\": n,             (numeric) Amount of the output, bitcoin\n"
               "      \"blockhash\": \"hex\",      (string) The block; left out in the pool\n"
               "      \"height\": n,             (numeric) Height of the block; left out in the "
               "pool\n"
               "      \"txid\": \"hex\",           (string) The transaction that makes the "
               "output\n"
               "      \"vout\": n,               (numeric) Number of the output\n"
               "      \"output_spk\": { ... }    (json object) Script of the output\n"
               "    }, ...\n"
               "  ]\n"
               "}",
               "'[\"blockhash\"]' "
               "'[\"raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy\"]'",
               [&context, &pool](const RpcCall& call) {
                   return DescriptorActivity(context, pool, call);
               }});
}

} // namespace ibd
