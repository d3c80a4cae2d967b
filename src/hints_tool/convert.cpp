// convert: the same hints in another format. Formats number outputs differently: all, or spendable
// ones; between those the block's scripts are asked. See tool.h.
#include "hints/swifthints.h"
#include "hints_tool/tool.h"

namespace ibd {

namespace {

/** Of every network: one transaction with one output. */
constexpr std::array<uint32_t, 1> kGenesisShape = {1};

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

/** Where hints come from: swifthints say theirs only in order, beside the blocks' shapes. */
struct Source {
    std::unique_ptr<Hints> hints;
    std::unique_ptr<SwifthintsReader> swifthints;

    const HintsInfo& Info() const { return hints ? hints->Info() : swifthints->Info(); }
};

/** Where they go to. */
struct Target {
    HintsTarget hints_target;
    std::unique_ptr<HintsWriter> hints;
    std::unique_ptr<SwifthintsWriter> swifthints;

    Result<> Start(Env& env, const Path& path)
    {
        if (hints_target.format == HintsFormat::kSwifthints) {
            IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
            swifthints = std::make_unique<SwifthintsWriter>(std::move(file));
            return swifthints->Add(0, kGenesisShape, {});
        }
        IBD_ASSIGN_OR_RETURN(hints, StartHintsFile(env, path, hints_target));
        return FirstHeight(hints_target.format) == 0 ? hints->Add(0, 1, {}) : Result<>();
    }
    Result<> Add(uint32_t height, const BlockSlot& slot, BlockShape shape)
    {
        if (swifthints) return swifthints->Add(height, shape, slot.unspent);
        return hints->Add(height, slot.outputs, slot.unspent);
    }
    Result<> Finish(const BlockHash& terminal)
    {
        return swifthints ? swifthints->Finish() : hints->Finish(terminal);
    }
};

Result<Source> OpenSource(const ToolContext& context)
{
    Source source;
    IBD_ASSIGN_OR_RETURN(const auto from, context.arguments.Format("from"));
    const Path path = context.arguments.words[0];
    if (from != HintsFormat::kSwifthints) {
        IBD_ASSIGN_OR_RETURN(source.hints, OpenHints(context.env, path, from));
        return source;
    }
    IBD_ASSIGN_OR_RETURN(HintsFile file, HintsFile::Open(context.env, path));
    IBD_ASSIGN_OR_RETURN(source.swifthints, SwifthintsReader::Open(std::move(file)));
    return source;
}

void TakeShape(const BlockView& block, std::vector<uint32_t>& shape)
{
    shape.clear();
    for (const TxView& tx : block.Txs()) shape.push_back(static_cast<uint32_t>(tx.outputs.size()));
}

Result<> ConvertAlone(const ToolContext& context, const Hints& hints, HintsWriter& writer)
{
    const uint32_t last = hints.Info().terminal_height;
    auto progress = context.Progress("Converting", last);
    BlockHints block;
    for (uint32_t height = 1; height <= last; ++height) {
        IBD_RETURN_IF_ERROR(hints.Read(height, block));
        IBD_RETURN_IF_ERROR(writer.Add(height, block.outputs, block.unspent));
        progress.Update(height);
    }
    return {};
}

Result<> ConvertBeside(const ToolContext& context, const ChainBlocks& blocks, const Source& source,
                       Target& target)
{
    auto progress = context.Progress("Converting", source.Info().terminal_height);
    const HintsCounting to = CountingOf(target.hints_target.format);
    const HintsCounting from = source.Info().counting;
    const FoldRules rules = blocks.Rules(to);
    std::vector<uint32_t> shape;
    if (source.swifthints) {
        BlockHints none;
        IBD_RETURN_IF_ERROR(source.swifthints->Next(kGenesisShape, none));
    }
    return blocks.ForEach(
        1,
        [&](uint32_t height, BlockSlot& slot) -> Result<> {
            if (!source.hints) return {};
            IBD_RETURN_IF_ERROR(source.hints->Read(height, slot.hints));
            return Renumber(height, rules, from, to, slot);
        },
        [&](uint32_t height, BlockSlot& slot) -> Result<> {
            TakeShape(slot.view, shape);
            if (source.swifthints) {
                IBD_RETURN_IF_ERROR(source.swifthints->Next(shape, slot.hints));
                IBD_RETURN_IF_ERROR(Renumber(height, rules, from, to, slot));
            }
            progress.Update(height);
            return target.Add(height, slot, shape);
        });
}

/** Null, or why it takes the blocks to make this format of that file. */
const char* WhyBlocks(const HintsInfo& from, HintsFormat to)
{
    if (from.format == HintsFormat::kSwifthints || to == HintsFormat::kSwifthints) {
        return "{1} of {0} takes the shapes of all transactions";
    }
    if (from.counting != CountingOf(to) || (NeedsOutputs(to) && !from.outputs)) {
        return "{1} counts other outputs than {0}";
    }
    const bool holds_terminal = to == HintsFormat::kContainer || to == HintsFormat::kContainer1;
    if (holds_terminal && !from.terminal_hash) {
        return "{0} says neither network nor terminal block, which {1} holds";
    }
    return nullptr;
}

} // namespace

Result<> ConvertHints(const ToolContext& context)
{
    const Path out = context.arguments.words[1];
    IBD_ASSIGN_OR_RETURN(const auto chosen, context.arguments.Format("format"));
    const HintsFormat format = chosen.value_or(HintsFormat::kContainer);
    IBD_ASSIGN_OR_RETURN(const Path part, context.PartOf(out));
    IBD_ASSIGN_OR_RETURN(const Source source, OpenSource(context));
    const HintsInfo& info = source.Info();
    IBD_ASSIGN_OR_RETURN(const auto blocks, context.BlocksFor(info));
    if (const char* why = WhyBlocks(info, format); why && !blocks) {
        return BadData("{}: give the blocks with --blocks=DIR",
                       fmt::format(fmt::runtime(why), NameOf(info.format), NameOf(format)));
    }
    Target target{{format, {}, info.terminal_height}, {}, {}};
    if (info.network_magic) target.hints_target.network_magic = *info.network_magic;
    if (blocks) target.hints_target.network_magic = blocks->Params().magic;
    IBD_RETURN_IF_ERROR(target.Start(context.env, part));
    IBD_RETURN_IF_ERROR(blocks ? ConvertBeside(context, *blocks, source, target)
                               : ConvertAlone(context, *source.hints, *target.hints));
    IBD_RETURN_IF_ERROR(
        target.Finish(blocks ? blocks->Terminal().hash : info.terminal_hash.value_or(BlockHash())));
    return context.Publish(part, out);
}

} // namespace ibd
