// convert: the same hints in another format. See tool.h.
#include "hints_tool/tool.h"
#include "swiftsync/convert_hints.h"

namespace ibd {

namespace {

bool NeedsOutputs(HintsFormat format)
{
    return format == HintsFormat::kContainer1 || format == HintsFormat::kBitmap ||
           format == HintsFormat::kIndexed;
}

Result<HintsSource> OpenSource(const ToolContext& context)
{
    HintsSource source;
    IBD_ASSIGN_OR_RETURN(const auto from, context.arguments.Format("from"));
    const Path path = context.arguments.words[0];
    if (from != HintsFormat::kSwifthints) {
        IBD_ASSIGN_OR_RETURN(source.hints, OpenHints(context.env, path, from));
        return source;
    }
    IBD_ASSIGN_OR_RETURN(source.swifthints, SwifthintsReader::Open(context.env, path));
    return source;
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

Result<> ConvertWithBlocks(const ToolContext& context, const ChainBlocks& blocks,
                           const HintsSource& source, HintsSink& target)
{
    auto progress = context.Progress("Converting", source.Info().terminal_height);
    const auto note = [&](uint32_t height) {
        progress.Update(height);
        return true;
    };
    const auto done = ConvertBeside(blocks.Walk(), source, target, note);
    return done ? Result<>() : done.GetError();
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
    IBD_ASSIGN_OR_RETURN(const HintsSource source, OpenSource(context));
    const HintsInfo& info = source.Info();
    IBD_ASSIGN_OR_RETURN(const auto blocks, context.BlocksFor(info));
    if (const char* why = WhyBlocks(info, format); why && !blocks) {
        return BadData("{}: give the blocks with --blocks=DIR",
                       fmt::format(fmt::runtime(why), NameOf(info.format), NameOf(format)));
    }
    HintsSink target{{format, {}, info.terminal_height}, {}, {}};
    if (info.network_magic) target.hints_target.network_magic = *info.network_magic;
    if (blocks) target.hints_target.network_magic = blocks->Params().magic;
    IBD_RETURN_IF_ERROR(target.Start(context.env, part));
    IBD_RETURN_IF_ERROR(blocks ? ConvertWithBlocks(context, *blocks, source, target)
                               : ConvertAlone(context, *source.hints, *target.hints));
    IBD_RETURN_IF_ERROR(
        target.Finish(blocks ? blocks->Terminal().hash : info.terminal_hash.value_or(BlockHash())));
    return context.Publish(part, out);
}

} // namespace ibd
