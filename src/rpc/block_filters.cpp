// getblockfilter and scanblocks; see blockchain.h.
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "rpc/descriptors.h"
#include "rpc/index_use.h"
#include "rpc/no_filter.h"
#include "rpc/scan_turn.h"
#include "util/hex.h"

#include <algorithm>
#include <set>

namespace ibd {

namespace {

/** The index of the type at argument `i`; an error if there is none. */
const FilterIndex& IndexOf(const ChainContext& context, const RpcCall& call, size_t i)
{
    const std::string type = call.String(i, kBasicFilter);
    if (type != kBasicFilter) throw RpcError{RpcCode::kInvalidAddressOrKey, "Unknown filtertype"};
    const FilterIndex* const index = FindIndex(context, &Indexes::Filters);
    if (!index) ThrowRpc(RpcCode::kMisc, "Index is not enabled for filtertype {}", type);
    return *index;
}

UniValue BlockFilter(const ChainContext& context, const RpcCall& call)
{
    const BlockHash hash = call.Hash(0, "blockhash");
    const FilterIndex& index = IndexOf(context, call, 1);
    const HeaderNode* const node = context.Headers().Read().Find(hash);
    if (!node) throw RpcError{RpcCode::kInvalidAddressOrKey, "Block not found"};
    const bool indexed = WaitForTip(context, index);
    const auto entry = LogIfUnreadable(context, index.Find(*node));
    const auto filter = LogIfUnreadable(context, index.Filter(*node));
    if (!entry || !filter) throw NoFilter(WasConnected(context, *node), indexed);
    UniValue out(UniValue::VOBJ);
    out.pushKV("filter", ToHex(*filter));
    out.pushKV("header", entry->header.ToHex());
    return out;
}

/** The blocks of a scan: both ends are in the active chain. */
struct ScanRange {
    const HeaderNode* first = nullptr;
    const HeaderNode* last = nullptr;
};

ScanRange RangeOf(const ChainContext& context, const RpcCall& call)
{
    const ChainReader chain = context.Read();
    ScanRange range{chain.Active().Genesis(), chain.Tip()};
    if (call.Has(2)) {
        range.first = chain.Active()[call.Int32(2)];
        if (!range.first) throw RpcError{RpcCode::kMisc, "Invalid start_height"};
    }
    if (call.Has(3)) {
        range.last = chain.Active()[call.Int32(3)];
        if (!range.last || range.last->height < range.first->height) {
            throw RpcError{RpcCode::kMisc, "Invalid stop_height"};
        }
    }
    return range;
}

using Scripts = std::set<Bytes>;

Scripts CollectScripts(const UniValue& objects, const ChainParams& params)
{
    Scripts scripts;
    for (const UniValue& object : objects.getValues()) {
        for (WatchedScript& one : ExpandScanObject(object, params)) {
            scripts.insert(std::move(one.script));
        }
    }
    return scripts;
}

/** Whether the block itself has one of the scripts, created or spent. */
bool BlockHas(const ChainContext& context, const HeaderNode& node, const Scripts& scripts)
{
    const ChainManager& manager = context.Headers();
    const auto block = ReadBlockData(manager.Blocks(), manager.Where(node),
                                     node.height > 0 ? UndoUse::kRequired : UndoUse::kNone);
    const auto wanted = [&](ByteSpan script) {
        return scripts.contains(Bytes(script.begin(), script.end()));
    };
    for (const OutputView& output : block->view.Outputs()) {
        if (wanted(output.script_pubkey)) return true;
    }
    if (!block->undo) return false;
    return std::ranges::any_of(block->undo->txs, [&](const TxUndo& tx) {
        return std::ranges::any_of(tx.spent, [&](const Coin& coin) { return wanted(coin.script); });
    });
}

/** The nodes of the range, from the first. */
std::vector<const HeaderNode*> NodesOf(const ScanRange& range)
{
    std::vector<const HeaderNode*> nodes;
    for (const HeaderNode* node = range.last; node && node->height >= range.first->height;
         node = node->prev) {
        nodes.push_back(node);
    }
    std::ranges::reverse(nodes);
    return nodes;
}

UniValue Scan(const ChainContext& context, TurnState& state, const FilterIndex& index,
              const ScanRange& range, const Scripts& scripts, bool check)
{
    const FilterQuery query({scripts.begin(), scripts.end()});
    const std::vector<const HeaderNode*> nodes = NodesOf(range);
    UniValue relevant(UniValue::VARR);
    size_t done = 0;
    for (; done < nodes.size() && !state.abort; ++done) {
        if (context.interrupt) throw RpcError{RpcCode::kMisc, "Shutting down"};
        const HeaderNode& node = *nodes[done];
        state.height = node.height;
        state.percent = static_cast<int>(100 * done / nodes.size());
        const auto filter = OrThrow(index.Filter(node));
        if (!filter || !OrThrow(query.MayMatch(node.hash, *filter))) continue;
        if (!check || BlockHas(context, node, scripts)) relevant.push_back(node.hash.ToHex());
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("from_height", range.first->height);
    out.pushKV("to_height", nodes[done == 0 ? 0 : done - 1]->height);
    out.pushKV("relevant_blocks", relevant);
    out.pushKV("completed", Bool(done == nodes.size()));
    return out;
}

UniValue StartScan(const ChainContext& context, TurnState& state, const RpcCall& call)
{
    constexpr const char* kCheck = "filter_false_positives";
    const UniValue& options = call.At(5);
    const bool check = options.isObject() && options.exists(kCheck) && ParseBool(options[kCheck]);
    const FilterIndex& index = IndexOf(context, call, 4);
    const ScanRange range = RangeOf(context, call);
    const Scripts scripts = CollectScripts(ScanObjects(call), context.Chain().Params());
    state.height = range.first->height;
    return Scan(context, state, index, range, scripts, check);
}

UniValue ScanBlocks(const ChainContext& context, TurnState& state, const RpcCall& call)
{
    return AnswerScan(
        call, state, [&] { return StartScan(context, state, call); },
        [&](UniValue& out) { out.pushKV("current_height", state.height.load()); });
}

RpcMethod GetBlockFilter(ChainContext& context)
{
    return {"blockchain",
            "getblockfilter",
            "The compact filter of a block (BIP158), from the index of -blockfilterindex.",
            {{"blockhash", RpcType::kHex, true, "", "The block"},
             {"filtertype", RpcType::kString, false, "\"basic\"", "The type of filter"}},
            "{ \"filter\": \"hex\", \"header\": \"hex\" }    (json object) The filter and its "
            "header (BIP157)",
            "\"00000000c937983704a73af28acdec37b049d214adbda81d7e2a3dd146f6ed09\" \"basic\"",
            [&context](const RpcCall& call) { return BlockFilter(context, call); }};
}

RpcMethod ScanBlocksMethod(ChainContext& context)
{
    const auto state = std::make_shared<TurnState>();
    std::vector<RpcArg> args = ScanArgs();
    args.push_back({"start_height", RpcType::kNumber, false, "0", "The first block"});
    args.push_back({"stop_height", RpcType::kNumber, false, "chain tip", "The last block"});
    args.push_back({"filtertype", RpcType::kString, false, "\"basic\"", "The type of filter"});
    args.push_back({"options",
                    RpcType::kNamedOptions,
                    false,
                    "",
                    "",
                    {{"filter_false_positives", RpcType::kBool, false, "false",
                      "Whether to leave out blocks that have no such script, by reading each. "
                      "Without it a filter names its block wrongly once in 784,931 scripts"}},
                    "options"});
    return {
        "blockchain",
        "scanblocks",
        "Finds the blocks that may be relevant to descriptors, by the filters of "
        "-blockfilterindex.",
        std::move(args),
        "{\n  \"from_height\": n, \"to_height\": n,   (numeric) The first and the last block\n"
        "  \"relevant_blocks\": [ \"hex\", ... ],  (array) Hashes of the blocks\n"
        "  \"completed\": bool                    (boolean) Whether the scan came to its end\n}",
        "start '[\"raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy\"]' 0\n"
        "status\nabort",
        [&context, state](const RpcCall& call) { return ScanBlocks(context, *state, call); }};
}

} // namespace

void AddBlockFilterMethods(RpcTable& table, ChainContext& context)
{
    table.Add(GetBlockFilter(context));
    table.Add(ScanBlocksMethod(context));
}

} // namespace ibd
