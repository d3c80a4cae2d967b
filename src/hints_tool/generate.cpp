// generate: makes hints from block files, with a snapshot of the coins at their terminal block
// (snapshot_match.h) or without: then by a join (spend_join.h). Unfinished work stays in OUT.work
// when the tool is stopped or killed, and the same command resumes it. See tool.h.
#include "hints_tool/snapshot_match.h"
#include "join/join_state.h"
#include "join/spend_join.h"
#include "swiftsync/file_block_source.h"
#include "util/found.h"

#include <thread>

namespace ibd {

namespace {

constexpr uint64_t kDefaultMemory = 512; //!< MiB

/** The options of a command line. */
struct GenerateTask {
    Path out;
    HintsFormat format = HintsFormat::kContainer;
    uint64_t memory = kDefaultMemory << 20;
};

/** Whether an earlier run finished the file and was killed before renaming it. */
Result<bool> IsComplete(Env& env, const Path& part, const ChainBlocks& blocks, HintsFormat format)
{
    if (format != HintsFormat::kContainer && format != HintsFormat::kContainer1) return false;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(part));
    if (!there) return false;
    const auto hints = OpenHints(env, part);
    IBD_RETURN_IF_SYSTEM_ERROR(hints);
    return hints && (*hints)->Info().format == format &&
           (*hints)->Info().terminal_hash == blocks.Terminal().hash;
}

Result<> MakeByJoin(const ToolContext& context, const ChainBlocks& blocks, const OutputWork& work,
                    const GenerateTask& task)
{
    Env& env = context.env;
    IBD_RETURN_IF_ERROR(work.RemoveFiles(env, OutputWork::IsOfSnapshot));
    IBD_RETURN_IF_ERROR(work.RemoveFiles(env, OutputWork::IsPart));
    JoinOptions options;
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    options.memory_bytes = task.memory;
    options.directory = work.Folder();
    options.progress.line = &context.line;
    FileBlockSupply supply(env, blocks.Store(), blocks.Terminal(), PlanOrder::OfChain(),
                           &context.log);
    IBD_ASSIGN_OR_RETURN(const GeneratedHints made,
                         ibd::GenerateHints(env, context.log, blocks.Params(), blocks.Terminal(),
                                            supply, options, context.stop, work.Part(),
                                            task.format));
    switch (made.verdict.kind) {
    case VerdictKind::kDone: return {};
    case VerdictKind::kInterrupted: return context.Interrupted(work);
    case VerdictKind::kNoRoom: return SystemError("{}", made.verdict.reason);
    default: return BadData("no hints can be made: {}", made.verdict.reason);
    }
}

Result<> MakeFromSnapshot(const ToolContext& context, const ChainBlocks& blocks,
                          const OutputWork& work, SnapshotReader& snapshot, const Path& path,
                          const GenerateTask& task)
{
    IBD_RETURN_IF_ERROR(work.RemoveFiles(context.env, OutputWork::IsOfJoin));
    IBD_RETURN_IF_ERROR(work.RemoveFiles(context.env, OutputWork::IsPart));
    SnapshotMatch match(context, blocks, work, task.memory);
    IBD_RETURN_IF_ERROR(match.Split(snapshot, path));
    IBD_RETURN_IF_ERROR(match.Match());
    const HeaderNode& terminal = blocks.Terminal();
    const HintsTarget target{task.format, blocks.Params().magic,
                             static_cast<uint32_t>(terminal.height)};
    IBD_ASSIGN_OR_RETURN(const auto writer, StartHintsFile(context.env, work.Part(), target));
    IBD_RETURN_IF_ERROR(
        match.Write(*writer, FirstHeight(task.format) == 0, CountingOf(task.format)));
    return writer->Finish(terminal.hash);
}

/** Makes the file by `make` unless it is complete, renames it and reports it. Removes the results
 *  of a bad input, which a later run cannot use. Damage in a block file is no such input: the user
 *  can put back a sound copy. */
template <typename Make>
Result<> Generate(const ToolContext& context, const ChainBlocks& blocks, const GenerateTask& task,
                  const std::vector<Path>& inputs, Make make)
{
    IBD_ASSIGN_OR_RETURN(const OutputWork work,
                         OutputWork::Begin(context.env, task.out, inputs));
    IBD_ASSIGN_OR_RETURN(const bool complete,
                         IsComplete(context.env, work.Part(), blocks, task.format));
    if (!complete) {
        const Result<> made = make(work);
        const bool useless = IsBadData(made) && blocks.Store().TakeSuspects().empty();
        if (useless) IBD_RETURN_IF_ERROR(work.Remove(context.env));
        if (!made) return made;
    }
    IBD_RETURN_IF_ERROR(context.Publish(work.Part(), task.out));
    return work.Remove(context.env);
}

Result<> GenerateFromSnapshot(const ToolContext& context, ChainBlocks& blocks, const Path& path,
                              const GenerateTask& task)
{
    IBD_ASSIGN_OR_RETURN(const auto snapshot, SnapshotReader::Open(context.env, path));
    if (snapshot->Header().magic != blocks.Params().magic) {
        return BadData("{}: a snapshot of another network than the blocks", path.string());
    }
    IBD_RETURN_IF_ERROR(blocks.EndAt(snapshot->Header().base));
    return Generate(context, blocks, task, {path, context.arguments.words[0]},
                    [&](const OutputWork& work) {
                        return MakeFromSnapshot(context, blocks, work, *snapshot, path, task);
                    });
}

Result<> GenerateFromBlocks(const ToolContext& context, ChainBlocks& blocks,
                            std::optional<uint64_t> height, const GenerateTask& task)
{
    if (CountingOf(task.format) != HintsCounting::kSpendable || FirstHeight(task.format) != 1) {
        return BadData("{} is not made from blocks alone: make a container and convert it",
                       NameOf(task.format));
    }
    IBD_RETURN_IF_ERROR(height ? blocks.EndAt(static_cast<uint32_t>(*height)) : blocks.EndAtBest());
    return Generate(
        context, blocks, task, {context.arguments.words[0]},
        [&](const OutputWork& work) { return MakeByJoin(context, blocks, work, task); });
}

} // namespace

Result<> GenerateHints(const ToolContext& context)
{
    const ToolArguments& arguments = context.arguments;
    const auto snapshot = arguments.Get("snapshot");
    IBD_ASSIGN_OR_RETURN(const auto format, arguments.Format("format"));
    IBD_ASSIGN_OR_RETURN(const auto memory, arguments.Number("mem", 16, 1 << 20));
    IBD_ASSIGN_OR_RETURN(const auto height, arguments.Number("height", 1, kMaxHintedHeight));
    GenerateTask task;
    IBD_ASSIGN_OR_RETURN(task.out, context.Target(arguments.words[1]));
    if (format) task.format = *format;
    if (memory) task.memory = *memory << 20;
    if (task.format == HintsFormat::kSwifthints) {
        return BadData("generate does not make swifthints: make a container and convert it");
    }
    std::optional<Network> network;
    if (const auto name = arguments.Get("network")) {
        network = NetworkFromName(*name);
        if (!network) return BadData("--network={}: no such network", *name);
    }
    if (snapshot && height) {
        return BadData("--height and --snapshot exclude each other: the hints end at the block of "
                       "the snapshot");
    }
    IBD_ASSIGN_OR_RETURN(const auto blocks, ChainBlocks::Open(context.env, context.log,
                                                              arguments.words[0], network,
                                                              context.stop));
    return snapshot ? GenerateFromSnapshot(context, *blocks, *snapshot, task)
                    : GenerateFromBlocks(context, *blocks, height, task);
}

} // namespace ibd
