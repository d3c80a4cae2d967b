// See work_upkeep.h.
#include "booster/work_upkeep.h"

#include "storage/chainstate_builder.h"
#include "util/found.h"
#include "util/hex.h"
#include "util/strings.h"

namespace ibd {

void WorkUpkeep::WarnOnly(const Result<>& done) const
{
    if (done) return;
    m_parts.log.Warning("IBD Booster: files in '{}' that are no longer needed could not be read or "
                        "removed: {}",
                        FolderName(), done.Message());
}

Result<BlockHash> WorkUpkeep::BestBlock() const
{
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary there,
                         LookAtChainstate(m_parts.env, m_parts.log, m_parts.Booster().chainstate));
    return there.best;
}

// Spills take up to a sixth of the size of the blocks. No start can resume them once the chain is
// validated serially from its first block, or blocks are not kept. Runs before a reindex of hours,
// which may need the space.
void WorkUpkeep::AtStart(bool rebuilds, bool given)
{
    const Path& net = m_parts.options.net_dir;
    WarnOnly(m_parts.kept.Tend());
    WarnOnly(m_parts.kept.DescribeOthers(net / "ibdboosterdirs.txt", net / "ibdbooster"));
    const bool off = m_parts.options.own.mode == OwnHintsOptions::Mode::kOff;
    if (m_parts.chain->Options().prune_target != 0) {
        WarnOnly(DropBegun("with -prune blocks are not kept, so no start can use it", false));
    } else if (off && rebuilds && !given) {
        WarnOnly(DropBegun("the chainstate is rebuilt without (-ibdbooster=0)", true));
    }
}

// `all`: including blocks folded with given hints.
Result<> WorkUpkeep::DropBegun(const char* why, bool all)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, m_parts.kept.Size());
    if (bytes == 0) return {};
    const auto lock = m_parts.kept.Lock();
    if (!lock) return {}; // another node works there
    bool folded = all;
    IBD_ASSIGN_OR_RETURN(const auto kept, m_parts.kept.OwnHints());
    if (kept && kept->hints) {
        const auto checkpoint = m_parts.kept.Fold();
        folded = folded ||
                 (checkpoint && *checkpoint && (*checkpoint)->hints_id == kept->hints->Info().id);
    }
    IBD_ASSIGN_OR_RETURN(const auto begun, m_parts.kept.SizeOfOwnHints());
    if (!folded && !begun) return {}; // only of given hints, whose sync can be resumed
    m_parts.log.Info("IBD Booster: removing {} of unfinished work in '{}': {}",
                     FormatBytes(folded ? bytes : *begun), FolderName(), why);
    const unsigned parts = KeptWork::kMark | KeptWork::kOwnHints | KeptWork::kPairs;
    return m_parts.kept.Discard(folded ? parts | KeptWork::kFold : parts);
}

Result<> WorkUpkeep::BesideChainstate(bool may_run)
{
    if (may_run) return CleanUpWithBooster();
    WarnOnly(m_parts.kept.Discard(KeptWork::kMark));
    WarnOnly(CleanUpOwnHints(false));
    WarnOnly(CleanUpPublished());
    return {};
}

Result<> WorkUpkeep::CleanUpWithBooster()
{
    IBD_RETURN_IF_ERROR(m_parts.kept.Discard(KeptWork::kMark));
    const bool hinted = m_parts.hints != nullptr;
    if (hinted || m_parts.IsAsked()) {
        m_parts.log.Info("IBD Booster: not needed, there is a chainstate; -reindex-chainstate "
                         "rebuilds it{}",
                         m_parts.Booster().full_validation ? " with full validation" : "");
    }
    if (hinted) {
        IBD_ASSIGN_OR_RETURN(const bool described, CleanUpGivenHints());
        if (described) return {};
    }
    WarnOnly(CleanUpOwnHints(true));
    if (!hinted) WarnOnly(CleanUpPublished());
    return {};
}

// Removes a published run whose hints are not given to this start.
Result<> WorkUpkeep::CleanUpPublished()
{
    IBD_ASSIGN_OR_RETURN(const bool exists, m_parts.kept.IsThere());
    if (!exists) return {};
    const auto lock = m_parts.kept.Lock();
    if (!lock) return {};
    const auto checkpoint = m_parts.kept.Fold();
    if (SystemFailed(checkpoint)) {
        return checkpoint.GetError();
    }
    if (!checkpoint || !*checkpoint) return {};
    IBD_ASSIGN_OR_RETURN(const BlockHash best, BestBlock());
    IBD_ASSIGN_OR_RETURN(const FoldStanding kept,
                         m_parts.kept.StandingOfFold((*checkpoint)->hints_id, best));
    if (kept != FoldStanding::kPublished) return {};
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, m_parts.kept.Size());
    m_parts.log.Info("IBD Booster: removing {} in '{}' of the run that led to the chainstate",
                     FormatBytes(bytes), FolderName());
    return m_parts.kept.Discard(KeptWork::kFold);
}

// True: the folder has unfinished work, which was logged.
Result<bool> WorkUpkeep::CleanUpGivenHints()
{
    IBD_ASSIGN_OR_RETURN(const bool exists, m_parts.kept.IsThere());
    if (!exists) return false;
    const auto lock = m_parts.kept.Lock();
    if (!lock) return false; // another node uses the folder; this one needs no file in it
    const Uint256& id = m_parts.hints->Info().id;
    IBD_ASSIGN_OR_RETURN(const BlockHash best, BestBlock());
    IBD_ASSIGN_OR_RETURN(const FoldStanding kept, m_parts.kept.StandingOfFold(id, best));
    if (kept == FoldStanding::kNone) return false;
    if (kept == FoldStanding::kPublished) {
        m_parts.log.Info("IBD Booster: removing the work in '{}' of the run that built the "
                         "chainstate",
                         FolderName());
        IBD_RETURN_IF_ERROR(m_parts.kept.Discard(KeptWork::kFold));
        return false;
    }
    const auto checkpoint = m_parts.kept.Fold();
    const bool of_others = checkpoint && *checkpoint && (*checkpoint)->hints_id != id;
    if (of_others) return false; // for DescribeRest()
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, m_parts.kept.Size());
    m_described = true;
    m_parts.log.Warning("IBD Booster: '{}' keeps an unfinished rebuild ({}); "
                        "-reindex-chainstate continues it",
                        FolderName(), FormatBytes(bytes));
    return true;
}

// The same for hints of its own, which are kept in files of their own.
Result<> WorkUpkeep::CleanUpOwnHints(bool may_run)
{
    IBD_ASSIGN_OR_RETURN(const auto kept, m_parts.kept.OwnHints());
    if (!kept) return {};
    const auto lock = m_parts.kept.Lock();
    if (!lock) return {};
    IBD_ASSIGN_OR_RETURN(const BlockHash best, BestBlock());
    if (best != kept->terminal || !kept->hints) return DescribeBegun(kept->pairs, may_run);
    m_parts.log.Info("IBD Booster: removing the work in '{}' of the run that built the chainstate",
                     FolderName());
    const unsigned parts = KeptWork::kFold | KeptWork::kOwnHints;
    return m_parts.kept.Discard(WantsUndo() ? parts : parts | KeptWork::kPairs);
}

// If the options disable the booster, names the options for resuming.
Result<> WorkUpkeep::DescribeBegun(bool has_pairs, bool may_run)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, m_parts.kept.Size());
    const std::string size = FormatBytes(bytes);
    m_described = true;
    if (!may_run) {
        m_parts.log.Warning("IBD Booster: '{}' keeps an unfinished rebuild ({}); "
                            "-reindex-chainstate with -ibdbooster continues it, "
                            "-reindex-chainstate with -ibdbooster=0 removes it; while no node runs "
                            "you may delete the folder",
                            FolderName(), size);
        return {};
    }
    m_parts.log.Warning("IBD Booster: '{}' keeps an unfinished rebuild ({}); "
                        "-reindex-chainstate continues it{}",
                        FolderName(), size,
                        has_pairs && WantsUndo() ? ", unless undo data is made of it first" : "");
    return {};
}

void WorkUpkeep::DescribeRest(bool undo_needed)
{
    if (!m_described) WarnOnly(DescribeUnused(undo_needed));
}

// `undo_needed`: the pairs will soon be used.
Result<> WorkUpkeep::DescribeUnused(bool undo_needed)
{
    IBD_ASSIGN_OR_RETURN(auto files, m_parts.kept.Files());
    if (undo_needed) {
        std::erase_if(files, [&](const KeptFile& file) {
            return file.path.parent_path() == m_parts.kept.PairsFolder();
        });
    }
    const uint64_t bytes = BytesOf(files, KeptFile::Use::kWork);
    if (bytes == 0) return {};
    const auto checkpoint = m_parts.kept.Fold();
    const bool hinted = checkpoint && *checkpoint;
    m_parts.log.Warning(
        "IBD Booster: '{}' keeps {} of an unfinished rebuild that this start does not "
        "use: -reindex-chainstate with {} continues it, "
        "-reindex-chainstate with -ibdbooster=0 and without hints removes it; while no node runs "
        "you may delete the folder",
        FolderName(), FormatBytes(bytes),
        hinted ? fmt::format("the hints of id {} (-ibdboosterfile)",
                             ToHex((*checkpoint)->hints_id.Span()))
               : "the options of its first start");
    return {};
}

void WorkUpkeep::DiscardPairs() { WarnOnly(DiscardUnwantedPairs()); }

// Not if a rebuild has begun.
Result<> WorkUpkeep::DiscardUnwantedPairs()
{
    IBD_ASSIGN_OR_RETURN(const bool there, m_parts.env.IsThere(m_parts.kept.PairsFolder()));
    if (!there) return {};
    IBD_ASSIGN_OR_RETURN(const auto begun, m_parts.kept.OwnHints());
    if (begun) return {};
    const auto lock = m_parts.kept.LockPairs();
    return lock ? m_parts.kept.Discard(KeptWork::kBegunHints | KeptWork::kPairs) : Result<>();
}

} // namespace ibd
