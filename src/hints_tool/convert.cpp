// convert: the same hints in another format. Formats number outputs differently: all, or spendable
// ones; between those the block's scripts are asked. See tool.h.
#include "hints_tool/tool.h"

namespace ibd {

namespace {

bool NeedsOutputs(HintsFormat format)
{
    return format == HintsFormat::kContainer1 || format == HintsFormat::kBitmap ||
           format == HintsFormat::kIndexed;
}

/** Renumbers the slot's hints, counted as `from`, to all or spendable outputs. */
Result<> Renumber(uint32_t height, const FoldRules& rules, HintsCounting from, HintsCounting to,
                  BlockSlot& slot)
{
    uint32_t in = 0;
    uint32_t out = 0;
    size_t next = 0;
    const auto& unspent = slot.hints.unspent;
    std::optional<Error> wrong;
    slot.unspent.clear();
    ForEachOutput(slot.view, height, rules, [&](const TxView& tx, uint32_t vout, bool spendable) {
        const bool hinted = (from == HintsCounting::kAll || spendable) && next < unspent.size() &&
                            unspent[next] == in;
        if (from == HintsCounting::kAll || spendable) ++in;
        if (hinted) ++next;
        if (hinted && spendable) slot.unspent.push_back(out);
        if (hinted && !spendable && to == HintsCounting::kSpendable &&
            !rules.IsOverwritten(height)) {
            wrong = BadData("hints mark the unspendable output {}:{} of block {} as unspent",
                            tx.txid.ToHex(), vout, height);
        }
        if (to == HintsCounting::kAll || spendable) ++out;
    });
    if (wrong) return *wrong;
    if (next != unspent.size() || slot.hints.outputs.value_or(in) != in) {
        return BadData("hints of block {} are for another number of outputs than its {}", height,
                       in);
    }
    slot.outputs = out;
    return {};
}

struct Conversion {
    const ToolContext& context;
    const Hints& hints;
    HintsWriter& writer;
    HintsCounting to;
};

Result<> ConvertAlone(const Conversion& c)
{
    const uint32_t last = c.hints.Info().terminal_height;
    auto progress = c.context.Progress("Converting", last);
    BlockHints block;
    for (uint32_t height = 1; height <= last; ++height) {
        IBD_RETURN_IF_ERROR(c.hints.Read(height, block));
        IBD_RETURN_IF_ERROR(c.writer.Add(height, block.outputs, block.unspent));
        progress.Update(height);
    }
    return {};
}

Result<> ConvertBeside(const Conversion& c, const ChainBlocks& blocks)
{
    auto progress = c.context.Progress("Converting", c.hints.Info().terminal_height);
    const FoldRules rules = blocks.Rules(c.to);
    const HintsCounting from = c.hints.Info().counting;
    return blocks.ForEach(
        1,
        [&](uint32_t height, BlockSlot& slot) -> Result<> {
            IBD_RETURN_IF_ERROR(c.hints.Read(height, slot.hints));
            return Renumber(height, rules, from, c.to, slot);
        },
        [&](uint32_t height, BlockSlot& slot) {
            progress.Update(height);
            return c.writer.Add(height, slot.outputs, slot.unspent);
        });
}

} // namespace

Result<> ConvertHints(const ToolContext& context)
{
    const Path out = context.arguments.words[1];
    IBD_ASSIGN_OR_RETURN(const auto chosen, context.arguments.Format("format"));
    const HintsFormat format = chosen.value_or(HintsFormat::kContainer);
    IBD_ASSIGN_OR_RETURN(const Path part, context.PartOf(out));
    IBD_ASSIGN_OR_RETURN(const auto hints, context.Open(context.arguments.words[0]));
    const HintsInfo& info = hints->Info();
    IBD_ASSIGN_OR_RETURN(const auto blocks, context.BlocksFor(info));
    const bool same_numbers = info.counting == CountingOf(format);
    if (!blocks && (!same_numbers || (NeedsOutputs(format) && !info.outputs))) {
        return BadData("{} counts other outputs than {}: give the blocks with --blocks=DIR",
                       NameOf(format), NameOf(info.format));
    }
    HintsTarget target{format, {}, info.terminal_height};
    BlockHash terminal;
    if (info.network_magic) target.network_magic = *info.network_magic;
    if (info.terminal_hash) terminal = *info.terminal_hash;
    if (blocks) {
        target.network_magic = blocks->Params().magic;
        terminal = blocks->Terminal().hash;
    } else if (!info.terminal_hash &&
               (format == HintsFormat::kContainer || format == HintsFormat::kContainer1)) {
        return BadData("{} says neither network nor terminal block, which {} holds: give the "
                       "blocks with --blocks=DIR",
                       NameOf(info.format), NameOf(format));
    }
    IBD_ASSIGN_OR_RETURN(auto writer, StartHintsFile(context.env, part, target));
    if (FirstHeight(format) == 0) IBD_RETURN_IF_ERROR(writer->Add(0, 1, {}));
    const Conversion conversion{context, *hints, *writer, CountingOf(format)};
    IBD_RETURN_IF_ERROR(blocks ? ConvertBeside(conversion, *blocks) : ConvertAlone(conversion));
    IBD_RETURN_IF_ERROR(writer->Finish(terminal));
    return context.Publish(part, out);
}

} // namespace ibd
