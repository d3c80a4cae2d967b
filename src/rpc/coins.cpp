// Calls about the set of unspent outputs; see blockchain.h.
#include "consensus/subsidy.h"
#include "jsonrpc/json.h"
#include "rpc/amount_json.h"
#include "rpc/blockchain.h"
#include "rpc/index_use.h"
#include "rpc/new_file.h"
#include "rpc/pool_coins.h"
#include "rpc/tx_json.h"
#include "storage/snapshot.h"
#include "util/progress.h"

#include <limits>

namespace ibd {

namespace {

UniValue TxOut(const ChainContext& context, const TxPool& pool, const RpcCall& call)
{
    const Txid txid = call.Hash(0, "txid");
    const uint32_t n = call.Uint32(1);
    const OutPoint outpoint{txid, n};
    const CoinsGuard coins = context.Chain().HoldCoins();
    PoolCoin unconfirmed;
    if (call.Bool(2, true)) unconfirmed = LookInPool(pool, {&outpoint, 1})[0];
    const auto coin = OrThrow(UnspentCoin(coins, unconfirmed, outpoint));
    if (!coin) return {};
    const HeaderNode& tip = coins.Tip();
    UniValue out(UniValue::VOBJ);
    out.pushKV("bestblock", tip.hash.ToHex());
    const int64_t depth = tip.height - static_cast<int64_t>(coin->height) + 1;
    out.pushKV("confirmations", Num(unconfirmed.coin ? 0 : depth));
    out.pushKV("value", AmountJson(coin->value));
    out.pushKV("scriptPubKey", ScriptPubKeyJson(coin->script, context.Prefixes()));
    out.pushKV("coinbase", Bool(coin->coinbase));
    return out;
}

RpcMethod GetTxOut(ChainContext& context, const TxPool& pool)
{
    return {"blockchain",
            "gettxout",
            "Shows an unspent output; null if it is spent or unknown.",
            {{"txid", RpcType::kHex, true, "", "Its transaction"},
             {"n", RpcType::kNumber, true, "", "Its number there"},
             {"include_mempool", RpcType::kBool, false, "true", "Whether to include the pool"}},
            "{\n  \"bestblock\": \"hex\",      (string) The tip\n"
            "  \"confirmations\": n,      (numeric) Blocks from its own to the tip\n"
            "  \"value\": n,              (numeric) Bitcoin\n"
            "  \"scriptPubKey\": { \"asm\", \"desc\", \"hex\", \"address\", \"type\" },\n"
            "  \"coinbase\": bool         (boolean) Whether it was made by a coinbase\n}",
            "\"txid\" 1",
            [&context, &pool](const RpcCall& call) { return TxOut(context, pool, call); }};
}

UniValue BlockAmountsJson(const BlockAmounts& sums)
{
    UniValue parts(UniValue::VOBJ);
    parts.pushKV("genesis_block", AmountJson(sums.genesis));
    parts.pushKV("bip30", AmountJson(sums.repeated));
    parts.pushKV("scripts", AmountJson(sums.scripts));
    parts.pushKV("unclaimed_rewards", AmountJson(sums.unclaimed));
    UniValue out(UniValue::VOBJ);
    out.pushKV("prevout_spent", AmountJson(sums.prevouts));
    out.pushKV("coinbase", AmountJson(sums.coinbase));
    out.pushKV("new_outputs_ex_coinbase", AmountJson(sums.others));
    out.pushKV("unspendable", AmountJson(sums.Unspendable()));
    out.pushKV("unspendables", parts);
    return out;
}

CoinsHashKind ParseHashKind(const std::string& name)
{
    if (name == "hash_serialized_3") return CoinsHashKind::kSerialized3;
    if (name == "muhash") return CoinsHashKind::kMuHash;
    if (name == "none") return CoinsHashKind::kNone;
    ThrowRpc(RpcCode::kInvalidParameter, "'{}' is not a valid hash_type", name);
}

/** The part of the subsidies up to the block that is not in the coins. */
Amount TotalUnspendable(const CoinsStats& stats, const ChainParams& params)
{
    return BlockSubsidy(0, params.consensus) + MaxSupply(stats.height, params.consensus) -
           stats.total;
}

const HeaderNode& FindOnMainChain(const ChainReader& chain, const UniValue& hash_or_height)
{
    const HeaderNode& node = FindBlockByHashOrHeight(chain, hash_or_height);
    if (chain.Active().Contains(&node)) return node;
    throw RpcError{RpcCode::kInvalidParameter, "Block is not in main chain"};
}

/** The amounts of the block between two totals. */
BlockAmounts Between(const CoinTotals& before, const CoinTotals& after)
{
    BlockAmounts sums;
    sums.prevouts = static_cast<Amount>((after.prevouts - before.prevouts).Low64());
    sums.coinbase = static_cast<Amount>((after.coinbase - before.coinbase).Low64());
    sums.others = static_cast<Amount>((after.others - before.others).Low64());
    sums.genesis = after.genesis - before.genesis;
    sums.repeated = after.repeated - before.repeated;
    sums.scripts = after.scripts - before.scripts;
    sums.unclaimed = after.unclaimed - before.unclaimed;
    return sums;
}

CoinTotals TotalsAt(const CoinStatsIndex& index, const HeaderNode& block)
{
    const auto totals = OrThrow(index.Find(block));
    if (totals) return *totals;
    throw RpcError{RpcCode::kInternalError, "Unable to read UTXO set"};
}

UniValue FromIndex(const CoinStatsIndex& index, const HeaderNode& block, CoinsHashKind kind)
{
    const CoinTotals totals = TotalsAt(index, block);
    const CoinTotals before = block.prev ? TotalsAt(index, *block.prev) : CoinTotals();
    UniValue out(UniValue::VOBJ);
    out.pushKV("height", Num(block.height));
    out.pushKV("bestblock", block.hash.ToHex());
    out.pushKV("txouts", Num(totals.outputs));
    out.pushKV("bogosize", Num(totals.bogo_size));
    if (kind == CoinsHashKind::kMuHash) out.pushKV("muhash", totals.muhash.ToHex());
    out.pushKV("total_amount", AmountJson(totals.total));
    out.pushKV("total_unspendable_amount", AmountJson(totals.Unspendable()));
    out.pushKV("block_info", BlockAmountsJson(Between(before, totals)));
    return out;
}

/** The answer from -coinstatsindex; nothing: it is off, not requested, or cannot answer. */
std::optional<UniValue> AskIndex(const ChainContext& context, const RpcCall& call,
                                 CoinsHashKind kind)
{
    const CoinStatsIndex* const index = FindIndex(context, &Indexes::CoinStats);
    const bool wanted = call.Bool(2, true);
    if (!index) return std::nullopt;
    if (call.Has(1) && kind == CoinsHashKind::kSerialized3) return std::nullopt; // an error
    if (call.Has(1) && !wanted) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Cannot set use_index to false when querying for a specific block"};
    }
    if (!wanted || kind == CoinsHashKind::kSerialized3) return std::nullopt;
    const HeaderNode* block = nullptr;
    if (call.Has(1)) block = &FindBlockByHashOrHeight(context.Read(), call.At(1));
    if (!block) block = context.Read().Tip();
    const bool indexed = WaitForTip(context, *index);
    const int32_t height = context.indexes.load()->FollowerOf(*index).Summary().height;
    if (!indexed && block->height > height) {
        ThrowRpc(RpcCode::kInternalError,
                 "Unable to get data because coinstatsindex is still syncing. Current height: {}",
                 height);
    }
    return FromIndex(*index, *block, kind);
}

UniValue TxOutSetInfo(const ChainContext& context, const RpcCall& call)
{
    const ChainManager& chain = context.Chain();
    const std::string type = call.String(0, "hash_serialized_3");
    const CoinsHashKind kind = ParseHashKind(type);
    if (const auto answer = AskIndex(context, call, kind)) return *answer;
    const HeaderNode* target = nullptr;
    BlockAmounts amounts;
    if (call.Has(1)) {
        if (kind == CoinsHashKind::kSerialized3) {
            const bool indexed = FindIndex(context, &Indexes::CoinStats) != nullptr;
            throw RpcError{RpcCode::kInvalidParameter,
                           indexed ? "hash_serialized_3 hash type cannot be queried for a specific "
                                     "block"
                                   : "Querying specific block heights requires coinstatsindex"};
        }
        target = &FindOnMainChain(chain.Read(), call.At(1));
        const StoredBlock stored = chain.Where(*target);
        if (stored.seen && stored.data.IsNull()) { // pruned: only the index could answer
            throw RpcError{RpcCode::kInvalidParameter,
                           "Querying specific block heights requires coinstatsindex"};
        }
        RequireUndoIfMade(context, stored);
        const auto block = ReadBlockData(chain.Blocks(), stored, UndoUse::kRequired);
        amounts = AmountsOf(block->view, target->height, block->undo ? &*block->undo : nullptr,
                            chain.Params().consensus);
    }
    const auto walk = context.WalkCoins(target);
    const CoinsStats stats = OrThrow(ComputeCoinsStats(*walk, kind, context.interrupt));
    UniValue out(UniValue::VOBJ);
    out.pushKV("height", Num(stats.height));
    out.pushKV("bestblock", stats.best.ToHex());
    out.pushKV("txouts", Num(stats.outputs));
    out.pushKV("bogosize", Num(stats.bogo_size));
    if (kind != CoinsHashKind::kNone) out.pushKV(type, stats.hash.ToHex());
    out.pushKV("total_amount", AmountJson(stats.total));
    if (target == nullptr) {
        out.pushKV("transactions", Num(stats.transactions));
        out.pushKV("disk_size", Num(chain.EstimateCoinsSize()));
    } else {
        out.pushKV("total_unspendable_amount", AmountJson(TotalUnspendable(stats, chain.Params())));
        out.pushKV("block_info", BlockAmountsJson(amounts));
    }
    return out;
}

RpcMethod GetTxOutSetInfo(ChainContext& context)
{
    return {
        "blockchain",
        "gettxoutsetinfo",
        "Counts and hashes all unspent outputs after the tip or an older block of the active "
        "chain. The call may take minutes.",
        {{"hash_type", RpcType::kString, false, "hash_serialized_3",
          "hash_serialized_3, muhash or none"},
         WithCliForm(
             {"hash_or_height", RpcType::kAny, false, "the tip",
              "The block; without -coinstatsindex, blocks from there to the tip are read, and "
              "the coins that they spend are sorted on disk"},
             CliForm::kJsonOrText),
         {"use_index", RpcType::kBool, false, "true",
          "Whether to use -coinstatsindex, if it is active; then false is refused for a block"}},
        "{\n"
        "  \"height\": n,                     (numeric) Height of the block\n"
        "  \"bestblock\": \"hex\",              (string) Its hash\n"
        "  \"txouts\": n,                     (numeric) Unspent outputs\n"
        "  \"bogosize\": n,                   (numeric) Their size by Core's measure, which no "
        "file has\n"
        "  \"hash_serialized_3\": \"hex\",      (string) Their hash; or \"muhash\", or left out\n"
        "  \"total_amount\": n,               (numeric) Their amount, bitcoin\n"
        "  \"transactions\": n,               (numeric) Transactions with unspent outputs; only "
        "without the index and without a block\n"
        "  \"disk_size\": n,                  (numeric) Estimated bytes on disk; likewise\n"
        "  \"total_unspendable_amount\": n,   (numeric) Bitcoin mined and lost up to the block; "
        "with a block, or from the index\n"
        "  \"block_info\": {                  (json object) Amounts of this block, bitcoin; "
        "likewise\n"
        "    \"prevout_spent\": n,            (numeric) Outputs that it spends\n"
        "    \"coinbase\": n,                 (numeric) Outputs of its coinbase\n"
        "    \"new_outputs_ex_coinbase\": n,  (numeric) Other outputs that it makes\n"
        "    \"unspendable\": n,              (numeric) Bitcoin that it loses, the sum of "
        "unspendables\n"
        "    \"unspendables\": {\n"
        "      \"genesis_block\": n,          (numeric) Output of the genesis block\n"
        "      \"bip30\": n,                  (numeric) Coinbases that a later one with the same "
        "id replaced\n"
        "      \"scripts\": n,                (numeric) Outputs whose scripts nobody can satisfy\n"
        "      \"unclaimed_rewards\": n       (numeric) Rewards that the coinbase did not take\n"
        "    }\n"
        "  }\n"
        "}",
        "\n\"none\"\n\"muhash\" 1000",
        [&context](const RpcCall& call) { return TxOutSetInfo(context, call); }};
}

/** The block of a snapshot. */
const HeaderNode& SnapshotTarget(const ChainReader& chain, const ChainParams& params,
                                 const RpcCall& call)
{
    const std::string type = call.String(1, "");
    const UniValue& rollback = call.Option(2, "rollback");
    if (call.At(2).isObject() && call.At(2).exists("rollback")) {
        if (!type.empty() && type != "rollback") {
            ThrowRpc(RpcCode::kInvalidParameter,
                     "Invalid snapshot type \"{}\" specified with rollback option", type);
        }
        return FindOnMainChain(chain, rollback);
    }
    if (type == "latest") return *chain.Tip();
    if (type != "rollback") {
        ThrowRpc(
            RpcCode::kInvalidParameter,
            "Invalid snapshot type \"{}\" specified. Please specify \"rollback\" or \"latest\"",
            type);
    }
    int32_t highest = 0;
    for (const AssumeutxoData& data : params.assumeutxo) highest = std::max(highest, data.height);
    return FindOnMainChain(chain, Num(highest));
}

[[noreturn]] void ThrowNotOpened(const Path& path)
{
    ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for writing.", path.string());
}

/** Writes the coins at `target`, and counts and hashes them. */
CoinsStats WriteCoins(const ChainContext& context, const HeaderNode& target, SnapshotWriter& writer)
{
    const auto walk = context.WalkCoins(&target);
    ProgressMeter progress(context.env, context.log,
                           {.label = "Writing a UTXO snapshot", .unit = "coins"});
    CoinsStatsBuilder stats(CoinsHashKind::kSerialized3);
    OutPoint outpoint;
    Coin coin;
    for (uint64_t i = 1; OrThrow(walk->Next(outpoint, coin)); ++i) {
        OrThrow(writer.Add(outpoint, coin));
        stats.Add(outpoint, std::move(coin));
        if (i % 65536 != 0) continue;
        if (context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
        progress.SetTotal(i * 65536 / (PlaceInWalk(outpoint.txid) + 1));
        progress.Update(i);
    }
    OrThrow(writer.Finish());
    return stats.Finish();
}

uint64_t CountCoins(const ChainContext& context, const HeaderNode& block)
{
    const auto walk = context.WalkCoins(&block);
    return OrThrow(ComputeCoinsStats(*walk, CoinsHashKind::kNone, context.interrupt)).outputs;
}

/** Writes to a temporary file, which is renamed once it is complete. */
CoinsStats DumpToFile(const ChainContext& context, const HeaderNode& block, const NewFile& file)
{
    const UnfinishedFile claimed = ClaimUnfinished(context, file.incomplete);
    auto writer = SnapshotWriter::Create(context.env, file.incomplete,
                                         context.Chain().Params().magic, block.hash);
    if (!writer) ThrowNotOpened(file.incomplete);
    CoinsStats stats;
    try {
        stats = WriteCoins(context, block, **writer);
    } catch (const RpcError&) {
        (void)context.env.Remove(file.incomplete);
        throw;
    }
    OrThrow(context.env.Rename(file.incomplete, file.path));
    OrThrow(context.env.SyncDirectory(FolderOf(file.path)));
    return stats;
}

/** A pipe starts with the number of coins, so they are counted first. */
CoinsStats DumpToPipe(const ChainContext& context, const HeaderNode& block, const NewFile& file)
{
    auto pipe = context.env.OpenPipe(file.path, [&] { return context.interrupt.load(); });
    if (!pipe && context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
    if (!pipe) ThrowNotOpened(file.path);
    const SnapshotHeader header{context.Chain().Params().magic, block.hash,
                                CountCoins(context, block)};
    const auto writer = OrThrow(SnapshotWriter::CreateOnPipe(std::move(pipe).Value(), header));
    return WriteCoins(context, block, *writer);
}

UniValue DumpTxOutSet(const ChainContext& context, const RpcCall& call)
{
    const ChainManager& chain = context.Chain();
    // While the coins are read the tip may change; the block stays.
    const HeaderNode& block = SnapshotTarget(chain.Read(), chain.Params(), call);
    const NewFile file(context, call.String(0), NewFile::Pipes::kTaken);
    context.RequireUnpruned(block);
    const CoinsStats stats =
        file.is_pipe ? DumpToPipe(context, block, file) : DumpToFile(context, block, file);
    UniValue out(UniValue::VOBJ);
    out.pushKV("coins_written", Num(stats.outputs));
    out.pushKV("base_hash", block.hash.ToHex());
    out.pushKV("base_height", Num(block.height));
    out.pushKV("path", file.path.string());
    out.pushKV("txoutset_hash", stats.hash.ToHex());
    out.pushKV("nchaintx", Num(block.chain_tx_count));
    return out;
}

RpcMethod MakeDumpTxOutSet(ChainContext& context)
{
    return {
        "blockchain",
        "dumptxoutset",
        "Writes all unspent outputs after a block to a snapshot file. The chain does not change: "
        "for an older block, the coins that later blocks spend are sorted on disk.",
        {WithCliForm({"path", RpcType::kString, true, "",
                      "The file; a relative path is below the data directory"},
                     CliForm::kFreeText),
         WithCliForm({"type", RpcType::kString, false, "",
                      "\"latest\": at the tip. \"rollback\": at the block of the rollback option, "
                      "or at the highest assumeutxo block"},
                     CliForm::kFreeText),
         {"options",
          RpcType::kNamedOptions,
          false,
          "",
          "",
          {WithCliForm({"rollback", RpcType::kAny, false, "", "Height or hash of the block"},
                       CliForm::kJsonOrText),
           {"in_memory", RpcType::kBool, false, "", "Accepted for Core's sake"}}}},
        "{\n  \"coins_written\": n,       (numeric) Number of coins in the file\n"
        "  \"base_hash\": \"hex\",       (string) The block\n"
        "  \"base_height\": n,         (numeric) Its height\n"
        "  \"path\": \"str\",            (string) The file\n"
        "  \"txoutset_hash\": \"hex\",   (string) hash_serialized_3 of the coins\n"
        "  \"nchaintx\": n             (numeric) Transactions in the chain up to the block\n}",
        "utxo.dat latest\nutxo.dat rollback\n-named utxo.dat rollback=853456",
        [&context](const RpcCall& call) { return DumpTxOutSet(context, call); }};
}

} // namespace

void AddCoinsMethods(RpcTable& table, ChainContext& context, const TxPool& pool)
{
    table.Add(GetTxOut(context, pool));
    table.Add(GetTxOutSetInfo(context));
    table.Add(MakeDumpTxOutSet(context));
}

} // namespace ibd
