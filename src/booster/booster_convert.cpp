// BoosterRun with swifthints, which can be read only with the blocks: if these are stored, first
// converts the hints to a container. See booster_run.h.
#include "booster/booster_run.h"

#include "swiftsync/convert_hints.h"

namespace ibd {

Result<> BoosterRun::ConvertHints(const ChainManager& chain, const BlockStore& blocks,
                                  const BoosterOptions& options)
{
    const auto terminal = FindEndOfWaiting(chain, options);
    if (terminal) {
        Plan({WorkStep::kConvertHints, WorkStep::kFold, WorkStep::kLoad},
             AmountsOf(chain, **terminal, options), options);
    }
    const Result<> made =
        terminal ? MakeContainer(**terminal, blocks, options.progress) : terminal.GetError();
    if (made || m_hints_named || made.GetError().kind != Error::Kind::kBadData) return made;
    m_log.Info("IBD Booster: left out: {}", made.Message());
    m_waiting.reset();
    return {};
}

Result<const HeaderNode*> BoosterRun::FindEndOfWaiting(const ChainManager& chain,
                                                       const BoosterOptions& options) const
{
    const HintsInfo& info = m_waiting->info;
    const int64_t now = m_env.UnixTime();
    const HeaderNode* there = nullptr;
    HintsStanding standing;
    {
        const ChainReader reader = chain.Read();
        there = reader.Tree().BestHeader()->Ancestor(static_cast<int>(info.terminal_height));
        standing = JudgeHints(info, reader.Tree(), chain.Options(), options.full_validation, now);
    }
    if (!there || CountMissing(chain, *there) > 0) {
        return BadData("hints file {}: swifthints can be read only beside the blocks up to height "
                       "{}, and these are not all stored here; make a container of it with "
                       "bitcoin-hints convert --from=swifthints --blocks=DIR where they are",
                       info.path.string(), info.terminal_height);
    }
    if (!standing.terminal) return BadData("{}", standing.refusal);
    return standing.terminal;
}

// Written under a temporary name, so that a start after a kill begins anew.
Result<> BoosterRun::MakeContainer(const HeaderNode& terminal, const BlockStore& blocks,
                                   const ProgressTargets& progress)
{
    const Path container = m_waiting->container;
    const Path part = container.string() + std::string(kHintsPartExtension);
    m_log.Info("IBD Booster: converting the swifthints {} beside the blocks up to height {}",
               m_waiting->info.path.string(), terminal.height);
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(container.parent_path()));
    const auto whole = WriteContainer(terminal, blocks, part, progress);
    if (!whole || !*whole) {
        (void)m_env.Remove(part);
        return whole ? Result<>() : whole.GetError();
    }
    IBD_RETURN_IF_ERROR(m_env.Rename(part, container));
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(container.parent_path()));
    IBD_ASSIGN_OR_RETURN(m_hints, ibd::OpenHints(m_env, container, HintsFormat::kContainer));
    m_waiting.reset();
    LogHints();
    return {};
}

/** False: interrupted. */
Result<bool> BoosterRun::WriteContainer(const HeaderNode& terminal, const BlockStore& blocks,
                                        const Path& to, const ProgressTargets& progress) const
{
    const HintsInfo& info = m_waiting->info;
    HintsSource source;
    IBD_ASSIGN_OR_RETURN(source.swifthints, SwifthintsReader::Open(m_env, info.path));
    HintsSink sink{{HintsFormat::kContainer, m_params.magic, info.terminal_height}, {}, {}};
    IBD_RETURN_IF_ERROR(sink.Start(m_env, to));
    ProgressMeter meter(m_env, m_log,
                        {.label = "IBD Booster: converting hints",
                         .unit = "blocks",
                         .total = info.terminal_height,
                         .to = progress,
                         .step = WorkStep::kConvertHints});
    const auto note = [&](uint32_t height) {
        meter.Update(height);
        return !IsInterrupted();
    };
    const BlockWalk walk(blocks, terminal, m_params.consensus);
    IBD_ASSIGN_OR_RETURN(const bool all, ConvertBeside(walk, source, sink, note));
    if (!all) return false;
    IBD_RETURN_IF_ERROR(sink.Finish(terminal.hash));
    return true;
}

} // namespace ibd
