// verify: checks hints against the blocks by a node's criteria: every output hinted spent has an
// input that spends it, and coinbase ids are unique where no rule enforces that yet. See tool.h.
#include "hints_tool/tool.h"
#include "swiftsync/terminal.h"
#include "util/process.h"

namespace ibd {

Result<> VerifyHints(const ToolContext& context)
{
    if (!context.arguments.Has("blocks")) return BadData("verify needs --blocks=DIR");
    IBD_ASSIGN_OR_RETURN(const auto hints, context.Open(context.arguments.words[0]));
    const HintsInfo& info = hints->Info();
    IBD_ASSIGN_OR_RETURN(const auto blocks, context.BlocksFor(info));
    const BlockWalk walk = blocks->Walk();
    const HeaderNode& terminal = walk.Terminal();
    const FoldRules rules = walk.Rules(info.counting);
    const ConsensusParams& params = blocks->Params().consensus;
    const HeaderNode* const at_bip34 = terminal.Ancestor(params.bip34_height);
    const UniqueCoinbases unique = MakeUniqueCoinbases(
        params, terminal.height, at_bip34 ? std::optional(at_bip34->hash) : std::nullopt);

    AggregateSalt salt;
    context.env.RandomBytes(salt);
    const auto sum = MakeAggregate(AggregateKind::kSha256, salt);
    std::vector<CoinbaseId> coinbases;
    uint64_t outputs = 0;
    uint64_t coins = 0;
    auto progress = context.Progress("Verifying", info.terminal_height);
    const auto work = [&](uint32_t height, BlockSlot& slot) -> Result<> {
        IBD_RETURN_IF_ERROR(hints->Read(height, slot.hints));
        IBD_RETURN_IF_ERROR(Fold(slot.view, height, slot.hints, rules, slot.delta));
        if (!slot.sum) slot.sum = MakeAggregate(AggregateKind::kSha256, salt);
        slot.sum->Clear();
        slot.sum->AddCreated(slot.delta.created.data(), slot.delta.created.size());
        slot.sum->AddSpent(slot.delta.spent.data(), slot.delta.spent.size());
        return {};
    };
    const auto take = [&](uint32_t height, BlockSlot& slot) -> Result<> {
        sum->Combine(*slot.sum);
        outputs += slot.delta.counted_outputs;
        coins += slot.delta.coins.size();
        if (unique.Contains(height) && !rules.IsOverwritten(height)) {
            coinbases.push_back({height, slot.view.Txs()[0].txid});
        }
        progress.Update(height);
        return {};
    };
    IBD_RETURN_IF_ERROR(walk.ForEach(1, work, take));
    progress.Finish();
    if (const auto repeated = JudgeCoinbases(std::move(coinbases))) return BadData("{}", *repeated);
    if (!sum->IsZero()) {
        return BadData("{}: the hints are wrong: the outputs that they mark as spent are not those "
                       "that blocks 1 to {} spend",
                       info.path.string(), info.terminal_height);
    }
    Print(stdout, "right: {} coins of {} outputs after block {}, {}\n", coins, outputs,
               info.terminal_height, terminal.hash.ToHex());
    return {};
}

} // namespace ibd
