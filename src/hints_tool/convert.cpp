// convert: converts hints to another format. See tool.h.
#include "hints_tool/output_work.h"
#include "hints_tool/tool.h"
#include "swiftsync/convert_hints.h"
#include "util/process.h"
#include "util/strings.h"

namespace ibd {

namespace {

/** No unfinished work is kept, as a conversion takes at most minutes. */
Error Interrupted() { return SystemError("interrupted, nothing is written"); }

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
        if (context.stop) return Interrupted();
    }
    return {};
}

Result<> ConvertWithBlocks(const ToolContext& context, const ChainBlocks& blocks,
                           const HintsSource& source, HintsSink& target)
{
    auto progress = context.Progress("Converting", source.Info().terminal_height);
    const auto note = [&](uint32_t height) {
        progress.Update(height);
        return !context.stop;
    };
    IBD_ASSIGN_OR_RETURN(const bool all, ConvertBeside(blocks.Walk(), source, target, note));
    return all ? Result<>() : Interrupted();
}

/** Null, or the reason why this conversion needs the blocks. */
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

namespace {

/** The open inputs of a conversion. */
struct Conversion {
    HintsSource source;
    std::unique_ptr<ChainBlocks> blocks; //!< null: not needed
    HintsSink target;
};

Result<> WriteConverted(const ToolContext& context, Conversion& conversion, const Path& part)
{
    const HintsInfo& info = conversion.source.Info();
    const ChainBlocks* const blocks = conversion.blocks.get();
    HintsSink& target = conversion.target;
    IBD_RETURN_IF_ERROR(target.Start(context.env, part));
    IBD_RETURN_IF_ERROR(blocks
                            ? ConvertWithBlocks(context, *blocks, conversion.source, target)
                            : ConvertAlone(context, *conversion.source.hints, *target.hints));
    return target.Finish(blocks ? blocks->Terminal().hash
                                : info.terminal_hash.value_or(BlockHash()));
}

} // namespace

Result<> ConvertHints(const ToolContext& context)
{
    IBD_ASSIGN_OR_RETURN(const Path out, context.Target(context.arguments.words[1]));
    IBD_ASSIGN_OR_RETURN(const auto chosen, context.arguments.Format("format"));
    const HintsFormat format = chosen.value_or(HintsFormat::kContainer);
    Conversion conversion;
    IBD_ASSIGN_OR_RETURN(conversion.source, OpenSource(context));
    const HintsInfo& info = conversion.source.Info();
    IBD_ASSIGN_OR_RETURN(conversion.blocks, context.BlocksFor(info));
    const ChainBlocks* const blocks = conversion.blocks.get();
    if (const char* why = WhyBlocks(info, format); why && !blocks) {
        return BadData("{}: give the blocks with --blocks=DIR",
                       fmt::format(fmt::runtime(why), NameOf(info.format), NameOf(format)));
    }
    conversion.target.hints_target = {format, {}, info.terminal_height};
    if (info.network_magic) conversion.target.hints_target.network_magic = *info.network_magic;
    if (blocks) conversion.target.hints_target.network_magic = blocks->Params().magic;
    IBD_ASSIGN_OR_RETURN(const OutputWork work,
                         OutputWork::Begin(context.env, out, {context.arguments.words[0]}));
    IBD_RETURN_IF_ERROR(work.RemoveFiles(context.env, OutputWork::IsPart));
    const Result<> written = WriteConverted(context, conversion, work.Part());
    conversion.target = {};
    const Result<> named = written ? context.Publish(work.Part(), out) : written;
    IBD_RETURN_IF_ERROR(work.RemovePart(context.env));
    if (const uint64_t begun = work.Size(context.env)) {
        Print(stderr, "bitcoin-hints: {} keeps {} that a generate for this file has done\n",
                   work.Folder().string(), FormatBytes(begun));
    }
    return named;
}

} // namespace ibd
