// GivenSync with swifthints, which can be read only together with the blocks: if the blocks are
// stored, converts the hints to a container first. See given_sync.h.
#include "booster/given_sync.h"

#include "swiftsync/convert_hints.h"
#include "util/found.h"
#include "util/progress.h"

namespace ibd {

Result<> GivenSync::Convert()
{
    const auto terminal = FindEndOfWaiting();
    if (terminal) {
        m_plan.Set({WorkStep::kConvertHints, WorkStep::kFold, WorkStep::kLoad}, **terminal);
    }
    const Result<> made = terminal ? MakeContainer(**terminal) : terminal.GetError();
    if (made || m_named || SystemFailed(made)) return made;
    m_parts.log.Info("IBD Booster: left out: {}", made.Message());
    m_waiting.reset();
    return {};
}

Result<const HeaderNode*> GivenSync::FindEndOfWaiting() const
{
    const HintsInfo& info = m_waiting->info;
    const int64_t now = m_parts.env.UnixTime();
    const HeaderNode* there = nullptr;
    HintsStanding standing;
    {
        const ChainReader reader = m_parts.chain->Read();
        there = reader.Tree().BestHeader()->Ancestor(static_cast<int>(info.terminal_height));
        standing = JudgeHints(info, reader.Tree(), m_parts.chain->Options(),
                              m_parts.Booster().full_validation, now);
    }
    if (!there || m_plan.CountMissing(*there) > 0) {
        return BadData("hints file {}: swifthints can be read only together with the blocks up to "
                       "height {}, and not all of them are stored here; convert the file with "
                       "bitcoin-hints convert --from=swifthints --blocks=DIR on a machine that "
                       "has them",
                       info.path.string(), info.terminal_height);
    }
    if (!standing.terminal) return m_parts.Refuse(standing);
    return standing.terminal;
}

// Written under a temporary name, so that the start after a kill converts again.
Result<> GivenSync::MakeContainer(const HeaderNode& terminal)
{
    Env& env = m_parts.env;
    const Path container = m_waiting->container;
    const Path part = container.string() + std::string(kHintsPartExtension);
    m_parts.log.Info("IBD Booster: converting the swifthints {} with the blocks up to height {}",
                     m_waiting->info.path.string(), terminal.height);
    IBD_RETURN_IF_ERROR(env.CreateDirectories(container.parent_path()));
    const auto whole = WriteContainer(terminal, part);
    if (!whole || !*whole) {
        (void)env.Remove(part);
        return whole ? Result<>() : whole.GetError();
    }
    IBD_RETURN_IF_ERROR(env.Rename(part, container));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(container.parent_path()));
    IBD_ASSIGN_OR_RETURN(m_parts.hints, OpenHints(env, container, HintsFormat::kContainer));
    m_parts.watch.ShowHints(m_parts.hints.get());
    m_waiting.reset();
    LogHints();
    return {};
}

/** False: interrupted. */
Result<bool> GivenSync::WriteContainer(const HeaderNode& terminal, const Path& to) const
{
    const HintsInfo& info = m_waiting->info;
    HintsSource source;
    IBD_ASSIGN_OR_RETURN(source.swifthints, SwifthintsReader::Open(m_parts.env, info.path));
    HintsSink sink{{HintsFormat::kContainer, m_parts.params.magic, info.terminal_height}, {}, {}};
    IBD_RETURN_IF_ERROR(sink.Start(m_parts.env, to));
    ProgressMeter meter(m_parts.env, m_parts.log,
                        {.label = "IBD Booster: converting hints",
                         .unit = "blocks",
                         .total = info.terminal_height,
                         .to = m_parts.Booster().progress,
                         .step = WorkStep::kConvertHints});
    const auto note = [&](uint32_t height) {
        meter.Update(height);
        return !m_parts.watch.IsInterrupted();
    };
    const BlockWalk walk(m_parts.Blocks(), terminal, m_parts.params.consensus);
    IBD_ASSIGN_OR_RETURN(const bool all, ConvertBeside(walk, source, sink, note));
    if (!all) return false;
    IBD_RETURN_IF_ERROR(sink.Finish(terminal.hash));
    return true;
}

} // namespace ibd
