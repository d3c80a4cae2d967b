// Calls about the state of the chain; see blockchain.h.
#include "booster/snapshot_session.h"
#include "consensus/pow.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "util/hex.h"

#include <algorithm>
#include <set>

namespace ibd {

namespace {

std::string BitsHex(uint32_t bits) { return fmt::format("{:08x}", bits); }

void AppendPruning(UniValue& out, const ChainManager& chain)
{
    out.pushKV("pruned", Bool(chain.IsPruneMode()));
    if (!chain.IsPruneMode()) return;
    out.pushKV("pruneheight", Num(chain.LastWithoutData().value_or(-1) + 1));
    const uint64_t target = chain.Options().prune_target;
    out.pushKV("automatic_pruning", Bool(target != kManualPruning));
    if (target != kManualPruning) out.pushKV("prune_target_size", Num(target));
}

/** Share of the transactions up to the base of a snapshot that the older coins include. */
double HistoricalProgress(const HeaderNode& older, const HeaderNode& base)
{
    return static_cast<double>(older.chain_tx_count) / static_cast<double>(base.chain_tx_count);
}

/** The base of the snapshot in use and the older tip; null: no snapshot is in use. */
std::pair<const HeaderNode*, const HeaderNode*> SnapshotOf(const ChainManager& chain)
{
    const ChainReader reader = chain.Read(); // both change together
    return {chain.SnapshotBase(), chain.HistoricalTip()};
}

/** The proof of the history below a snapshot. It takes blocks in any order, so the number of
 *  processed blocks is shown as a height. */
void AppendHistory(UniValue& out, const ChainContext& context)
{
    const ChainManager& chain = context.Headers();
    const auto [base, older] = SnapshotOf(chain);
    if (!base || !older) return;
    const HeaderNode* reached = older;
    double progress = HistoricalProgress(*older, *base);
    const auto proof = context.snapshots ? context.snapshots->Proof() : std::nullopt;
    const int folded = proof ? static_cast<int>(proof->blocks) : 0;
    if (folded > older->height && proof->total_bytes > 0) {
        reached = base->Ancestor(folded);
        progress = static_cast<double>(proof->bytes) / static_cast<double>(proof->total_bytes);
    }
    UniValue history(UniValue::VOBJ);
    history.pushKV("snapshotheight", Num(base->height));
    history.pushKV("blocks", Num(reached->height));
    history.pushKV("bestblockhash", reached->hash.ToHex());
    history.pushKV("mediantime", Num(reached->MedianTimePast()));
    history.pushKV("chainwork", reached->chain_work.ToHex());
    history.pushKV("verificationprogress", progress);
    out.pushKV("backgroundvalidation", history);
}

UniValue BlockchainInfo(const ChainContext& context)
{
    const ChainManager& chain = context.Headers();
    const bool hidden = context.hides_tip; // before the tip: it may be shown meanwhile
    const HeaderNode& tip = TipOrGenesis(context);
    UniValue out(UniValue::VOBJ);
    out.pushKV("chain", chain.Params().name);
    out.pushKV("blocks", Num(tip.height));
    out.pushKV("headers", Num(chain.Read().Tree().BestHeader()->height));
    out.pushKV("bestblockhash", tip.hash.ToHex());
    out.pushKV("bits", BitsHex(tip.bits));
    out.pushKV("target", Arith256::FromCompact(tip.bits).ToHex());
    out.pushKV("difficulty", Difficulty(tip.bits));
    out.pushKV("time", Num(tip.time));
    out.pushKV("mediantime", Num(tip.MedianTimePast()));
    out.pushKV("verificationprogress", chain.VerificationProgress(&tip));
    out.pushKV("initialblockdownload", Bool(hidden || chain.IsInitialBlockDownload()));
    out.pushKV("chainwork", tip.chain_work.ToHex());
    out.pushKV("size_on_disk", Num(chain.Blocks().DiskUsage()));
    AppendPruning(out, chain);
    AppendHistory(out, context);
    if (chain.Params().consensus.signet_blocks) {
        out.pushKV("signet_challenge", ToHex(chain.Params().consensus.signet_challenge));
    }
    out.pushKV("warnings", context.Warnings());
    // Only during the start: the answer of a synced node has Core's fields only.
    const bool starting = context.chain_thread == nullptr;
    if (const auto work = starting && context.overall ? context.overall->Now() : std::nullopt) {
        UniValue sync(UniValue::VOBJ);
        PushOverall(sync, *work);
        out.pushKV("syncprogress", sync);
    }
    return out;
}

RpcMethod GetBlockchainInfo(ChainContext& context)
{
    return {
        "blockchain",
        "getblockchaininfo",
        "Shows the state of the chain and of its validation.",
        {},
        "{\n"
        "  \"chain\": \"str\",                (string) main, test, testnet4, signet, regtest\n"
        "  \"blocks\": n,                   (numeric) Height of the validated chain\n"
        "  \"headers\": n,                  (numeric) Height of the best header\n"
        "  \"bestblockhash\": \"hex\",        (string) Hash of the tip\n"
        "  \"bits\": \"hex\",                 (string) Its target in compact form\n"
        "  \"target\": \"hex\",               (string) Its target\n"
        "  \"difficulty\": n,               (numeric) Its difficulty\n"
        "  \"time\": n,                     (numeric) Its time, seconds since 1970\n"
        "  \"mediantime\": n,               (numeric) Its median time past\n"
        "  \"verificationprogress\": n,     (numeric) Estimated share verified, 0 to 1\n"
        "  \"initialblockdownload\": bool,  (boolean) Whether most of the chain is yet to come\n"
        "  \"chainwork\": \"hex\",            (string) Work of the chain\n"
        "  \"size_on_disk\": n,             (numeric) Bytes of block and undo files\n"
        "  \"pruned\": bool,                (boolean) Whether blocks are deleted\n"
        "  \"pruneheight\": n,              (numeric) Lowest height from which on all blocks are "
        "stored with undo data; if pruned\n"
        "  \"automatic_pruning\": bool,     (boolean) Whether blocks are deleted automatically; if "
        "pruned\n"
        "  \"prune_target_size\": n,        (numeric) Maximum bytes of block files; if automatic\n"
        "  \"backgroundvalidation\": {      (json object) Until the history of a snapshot is "
        "proven: state of the proof\n"
        "    \"snapshotheight\", \"blocks\", \"bestblockhash\", \"mediantime\", \"chainwork\", "
        "\"verificationprogress\"\n"
        "  },\n"
        "  \"signet_challenge\": \"hex\",     (string) On signets only\n"
        "  \"warnings\": [ \"str\", ... ],    (json array) Warnings of the node\n"
        "  \"syncprogress\": { ... }         (json object) step, steps, progress and timeleft, as "
        "in getboosterinfo, while the node rebuilds index or chainstate at its start\n"
        "}",
        "",
        [&context](const RpcCall&) { return BlockchainInfo(context); }};
}

RpcMethod GetBlockCount(ChainContext& context)
{
    return {"blockchain",
            "getblockcount",
            "Height of the validated chain; genesis is 0.",
            {},
            "n    (numeric) Height",
            "",
            [&context](const RpcCall&) -> UniValue { return Num(TipOrGenesis(context).height); }};
}

RpcMethod GetBestBlockHash(ChainContext& context)
{
    return {"blockchain",
            "getbestblockhash",
            "Hash of the tip of the validated chain.",
            {},
            "\"hex\"    (string) Block hash",
            "",
            [&context](const RpcCall&) -> UniValue { return TipOrGenesis(context).hash.ToHex(); }};
}

RpcMethod GetDifficulty(ChainContext& context)
{
    return {
        "blockchain",
        "getdifficulty",
        "Difficulty of the tip, as a multiple of the minimum difficulty.",
        {},
        "n    (numeric) Difficulty",
        "",
        [&context](const RpcCall&) -> UniValue { return Difficulty(TipOrGenesis(context).bits); }};
}

/** Of the end of a branch. */
const char* TipStatus(const HeaderNode& node)
{
    if (node.Failed()) return "invalid";
    if (!node.HaveChainTxs()) return "headers-only";
    if (node.IsValid(kValidScripts)) return "valid-fork";
    if (node.IsValid(kValidTree)) return "valid-headers";
    return "unknown";
}

UniValue ChainTips(const ChainContext& context)
{
    const ChainReader chain = context.Headers().Read();
    const bool shown = chain.Tip() && !context.hides_tip;
    const HeaderNode* const best = shown ? chain.Tip() : chain.Tree().Genesis();
    std::vector<const HeaderNode*> tips;
    for (const HeaderNode* tip : chain.Tree().Tips()) tips.push_back(tip);
    if (std::find(tips.begin(), tips.end(), best) == tips.end()) tips.push_back(best);
    std::stable_sort(tips.begin(), tips.end(),
                     [](const auto* a, const auto* b) { return a->height > b->height; });
    UniValue out(UniValue::VARR);
    for (const HeaderNode* tip : tips) {
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("height", Num(tip->height));
        entry.pushKV("hash", tip->hash.ToHex());
        const HeaderNode* const fork = LastCommonAncestor(tip, best);
        entry.pushKV("branchlen", Num(tip->height - fork->height));
        entry.pushKV("status", fork == tip ? "active" : TipStatus(*tip));
        out.push_back(entry);
    }
    return out;
}

RpcMethod GetChainTips(ChainContext& context)
{
    return {"blockchain",
            "getchaintips",
            "Lists the tips of all known branches, with the active one.",
            {},
            "[\n  {\n    \"height\": n,        (numeric) Height of the end\n"
            "    \"hash\": \"hex\",      (string) Its hash\n"
            "    \"branchlen\": n,     (numeric) Blocks between it and the active chain\n"
            "    \"status\": \"str\"     (string) active, valid-fork, valid-headers, headers-only "
            "or invalid\n  }, ...\n]",
            "",
            [&context](const RpcCall&) { return ChainTips(context); }};
}

/** `base`: of the snapshot that the coins began with; null: they were built from genesis.
 *  `has_caches`: they are in use. */
UniValue Chainstate(const ChainContext& context, const HeaderNode& tip, const HeaderNode* base,
                    bool has_caches)
{
    UniValue state(UniValue::VOBJ);
    state.pushKV("blocks", Num(tip.height));
    state.pushKV("bestblockhash", tip.hash.ToHex());
    state.pushKV("bits", BitsHex(tip.bits));
    state.pushKV("target", Arith256::FromCompact(tip.bits).ToHex());
    state.pushKV("difficulty", Difficulty(tip.bits));
    state.pushKV("verificationprogress", context.Headers().VerificationProgress(&tip));
    state.pushKV("coins_db_cache_bytes", Num(has_caches ? context.coins_db_cache_bytes : 0));
    state.pushKV("coins_tip_cache_bytes", Num(has_caches ? context.coins_cache_bytes : 0));
    if (base) state.pushKV("snapshot_blockhash", base->hash.ToHex());
    state.pushKV("validated", Bool(base == nullptr));
    return state;
}

/** The active one last, as in Core. */
UniValue Chainstates(const ChainContext& context)
{
    const ChainManager& chain = context.Headers();
    const HeaderNode& tip = TipOrGenesis(context);
    const auto [base, older] = SnapshotOf(chain);
    UniValue states(UniValue::VARR);
    if (base && older) states.push_back(Chainstate(context, *older, nullptr, false));
    states.push_back(Chainstate(context, tip, base, true));
    UniValue out(UniValue::VOBJ);
    out.pushKV("headers", Num(chain.Read().Tree().BestHeader()->height));
    out.pushKV("chainstates", states);
    return out;
}

RpcMethod GetChainStates(ChainContext& context)
{
    return {
        "blockchain",
        "getchainstates",
        "Shows the sets of unspent outputs that the node keeps: one, or two while a snapshot is "
        "not proven.",
        {},
        "{\n"
        "  \"headers\": n,                     (numeric) Height of the best header\n"
        "  \"chainstates\": [                  (json array) The active one last\n"
        "    {\n"
        "      \"blocks\": n,                  (numeric) Height of its tip\n"
        "      \"bestblockhash\": \"hex\",       (string) Hash of the tip\n"
        "      \"bits\": \"hex\",                (string) Target of the tip, in compact form\n"
        "      \"target\": \"hex\",              (string) Target of the tip\n"
        "      \"difficulty\": n,              (numeric) Difficulty of the tip\n"
        "      \"verificationprogress\": n,    (numeric) Share of the network's "
        "transactions, 0 to 1\n"
        "      \"snapshot_blockhash\": \"hex\",  (string) Block of the snapshot that it was "
        "loaded from, if any\n"
        "      \"coins_db_cache_bytes\": n,    (numeric) Size of the database's cache\n"
        "      \"coins_tip_cache_bytes\": n,   (numeric) Size of the cache of coins\n"
        "      \"validated\": bool             (boolean) false: the blocks below the "
        "snapshot are not proven yet\n"
        "    }, ...\n"
        "  ]\n"
        "}",
        "",
        [&context](const RpcCall&) { return Chainstates(context); }};
}

UniValue TxStats(const ChainContext& context, const RpcCall& call)
{
    const ChainManager& manager = context.Headers();
    const HeaderNode* last = &TipOrGenesis(context);
    const ChainReader chain = manager.Read();
    if (call.Has(1)) {
        last = &FindBlock(chain, call.Hash(1, "blockhash"));
        if (!chain.Active().Contains(last)) {
            throw RpcError{RpcCode::kInvalidParameter, "Block is not in main chain"};
        }
    }
    const int64_t month = 30 * 24 * 60 * 60 / manager.Params().consensus.pow_target_spacing;
    const int64_t most = last->height - 1;
    const int64_t count = call.Has(0) ? call.Int32(0) : std::max<int64_t>(0, std::min(month, most));
    if (call.Has(0) && (count < 0 || (count > 0 && count >= last->height))) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Invalid block count: should be between 0 and the block's height - 1"};
    }
    const HeaderNode* first = last->Ancestor(last->height - static_cast<int>(count));
    const int64_t seconds = last->MedianTimePast() - first->MedianTimePast();
    UniValue out(UniValue::VOBJ);
    out.pushKV("time", Num(last->time));
    if (last->chain_tx_count != 0) out.pushKV("txcount", Num(last->chain_tx_count));
    out.pushKV("window_final_block_hash", last->hash.ToHex());
    out.pushKV("window_final_block_height", Num(last->height));
    out.pushKV("window_block_count", Num(count));
    if (count == 0) return out;
    out.pushKV("window_interval", Num(seconds));
    if (last->chain_tx_count == 0 || first->chain_tx_count == 0) return out;
    const uint64_t transactions = last->chain_tx_count - first->chain_tx_count;
    out.pushKV("window_tx_count", Num(transactions));
    if (seconds > 0) {
        out.pushKV("txrate", static_cast<double>(transactions) / static_cast<double>(seconds));
    }
    return out;
}

RpcMethod GetChainTxStats(ChainContext& context)
{
    return {"blockchain",
            "getchaintxstats",
            "Counts the transactions of the chain and of its last blocks, and gives their rate.",
            {{"nblocks", RpcType::kNumber, false, "one month", "Blocks in the window"},
             {"blockhash", RpcType::kHex, false, "chain tip", "Last block of the window"}},
            "{\n"
            "  \"time\": n,                         (numeric) Time of the last block, seconds "
            "since 1970\n"
            "  \"txcount\": n,                      (numeric) Transactions up to the last block, "
            "if known\n"
            "  \"window_final_block_hash\": \"hex\",  (string) Hash of the last block\n"
            "  \"window_final_block_height\": n,    (numeric) Height of the last block\n"
            "  \"window_block_count\": n,           (numeric) Blocks in the window\n"
            "  \"window_interval\": n,              (numeric) Median time past from its start to "
            "its end, seconds\n"
            "  \"window_tx_count\": n,              (numeric) Transactions in the window, if "
            "known\n"
            "  \"txrate\": n                        (numeric) Transactions per second in the "
            "window, if known\n"
            "}",
            "\n2016",
            [&context](const RpcCall& call) { return TxStats(context, call); }};
}

std::chrono::milliseconds TimeoutArg(const RpcCall& call, size_t i)
{
    const int timeout = call.Int32(i, 0);
    if (timeout < 0) throw RpcError{RpcCode::kMisc, "Negative timeout"};
    return std::chrono::milliseconds(timeout);
}

UniValue TipJson(const TipInfo& tip)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("hash", tip.hash.ToHex());
    out.pushKV("height", Num(tip.height));
    return out;
}

const char* const kTipResult = "{\n  \"hash\": \"hex\",    (string) The tip then\n"
                               "  \"height\": n       (numeric) Its height\n}";

void AddWaitMethods(RpcTable& table, ChainContext& context)
{
    const RpcArg timeout{"timeout", RpcType::kNumber, false, "0",
                         "Milliseconds to wait at most; 0: no limit"};
    table.Add({"blockchain",
               "waitfornewblock",
               "Waits for the tip to change.",
               {timeout,
                {"current_tip", RpcType::kHex, false, "the current tip",
                 "Return when the tip differs from this block"}},
               kTipResult,
               "1000",
               [&context](const RpcCall& call) {
                   BlockHash old;
                   if (call.Has(1)) {
                       old = call.Hash(1, "current_tip");
                   } else {
                       old = context.Current().hash;
                   }
                   const auto changed = [&](const auto& tip) { return tip.hash != old; };
                   return TipJson(context.WaitForTip(changed, TimeoutArg(call, 0)));
               }});
    table.Add({"blockchain",
               "waitforblock",
               "Waits for a block to become the tip.",
               {{"blockhash", RpcType::kHex, true, "", "The block"}, timeout},
               kTipResult,
               "\"hash\" 1000",
               [&context](const RpcCall& call) {
                   const BlockHash wanted = call.Hash(0, "blockhash");
                   const auto there = [&](const auto& tip) { return tip.hash == wanted; };
                   return TipJson(context.WaitForTip(there, TimeoutArg(call, 1)));
               }});
    table.Add({"blockchain",
               "waitforblockheight",
               "Waits for the chain to reach a height.",
               {{"height", RpcType::kNumber, true, "", "The height"}, timeout},
               kTipResult,
               "100 1000",
               [&context](const RpcCall& call) {
                   const int32_t wanted = call.Int32(0);
                   const auto there = [&](const auto& tip) { return tip.height >= wanted; };
                   return TipJson(context.WaitForTip(there, TimeoutArg(call, 1)));
               }});
}

} // namespace

void AddChainInfoMethods(RpcTable& table, ChainContext& context)
{
    for (RpcMethod method :
         {GetBlockchainInfo(context), GetBlockCount(context), GetBestBlockHash(context),
          GetDifficulty(context), GetChainTips(context), GetChainStates(context),
          GetChainTxStats(context)}) {
        method.since = RpcPhase::kNetwork;
        table.Add(std::move(method));
    }
    AddWaitMethods(table, context);
}

} // namespace ibd
