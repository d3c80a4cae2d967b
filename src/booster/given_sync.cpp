// See given_sync.h.
#include "booster/given_sync.h"

#include "booster/block_refetch.h"
#include "swiftsync/full_validation.h"
#include "validation/pruning.h"

#include <algorithm>

namespace ibd {

Result<> GivenSync::Open(HintsChoice choice)
{
    choice.rank = [this](const HintsInfo& info) { return RankOf(info); };
    IBD_ASSIGN_OR_RETURN(ChosenHints chosen, ChooseHints(m_parts.env, m_parts.log, m_parts.params,
                                                         choice, m_parts.options.assume_valid));
    m_parts.hints = std::move(chosen.hints);
    m_parts.watch.ShowHints(m_parts.hints.get());
    m_waiting = std::move(chosen.waiting);
    m_named = choice.file.has_value();
    if (m_parts.hints) LogHints();
    return {};
}

/** Hints that end at an unknown block cannot be compared with the record of bad hints yet: see
 *  EarlierVerdict(). */
Result<HintsRank> GivenSync::RankOf(const HintsInfo& info) const
{
    if (m_parts.watch.WasDropped(info.id)) return HintsRank::kRefused; // the reason was logged
    if (info.terminal_hash) {
        IBD_ASSIGN_OR_RETURN(const auto bad, m_parts.kept.KnownBad(info.id, *info.terminal_hash));
        if (bad) {
            m_parts.log.Info("IBD Booster: left out: {}: failed in an earlier sync: {}",
                             info.path.string(), *bad);
            return HintsRank::kRefused;
        }
    }
    if (info.terminal_hash && m_parts.suspects.Suspicion(info.id, *info.terminal_hash)) {
        return HintsRank::kSuspect;
    }
    const auto fold = m_parts.kept.Fold();
    IBD_RETURN_IF_SYSTEM_ERROR(fold);
    const bool begun = fold && *fold && !(*fold)->published && (*fold)->hints_id == info.id;
    return begun ? HintsRank::kBegun : HintsRank::kUsual;
}

/** The verdict of an earlier sync, because of which these hints must not be used, or only when
 *  nothing else is left. */
Found<Verdict> GivenSync::EarlierVerdict(const HeaderNode& terminal) const
{
    const Uint256& id = m_parts.hints->Info().id;
    IBD_ASSIGN_OR_RETURN(std::optional<std::string> why, m_parts.kept.KnownBad(id, terminal.hash));
    const bool bad = why.has_value();
    if (!bad && !m_tries_suspects) why = m_parts.suspects.Suspicion(id, terminal.hash);
    if (!why) return std::nullopt;
    return Verdict{.kind = VerdictKind::kHintsWrong,
                   .reason = fmt::format("failed in an earlier sync: {}", *why),
                   .height = terminal.height,
                   .suspect = !bad};
}

void GivenSync::LogHints() const
{
    const HintsInfo& info = m_parts.hints->Info();
    m_parts.log.Info("IBD Booster: hints {}: terminal height {}, {}{} outputs unspent",
                     info.path.string(), info.terminal_height, info.unspent,
                     info.outputs ? fmt::format(" of {}", *info.outputs) : std::string());
}

HintsStanding GivenSync::Judge() const
{
    const int64_t now = m_parts.env.UnixTime();
    const ChainReader reader = m_parts.chain->Read();
    return JudgeHints(m_parts.hints->Info(), reader.Tree(), m_parts.chain->Options(),
                      m_parts.Booster().full_validation, now);
}

Result<> GivenSync::FoldSurvey(BlockSurvey& survey)
{
    // Run() refuses unsuitable hints, once the index is loaded.
    const HeaderNode* const terminal =
        JudgeHints(m_parts.hints->Info(), survey.Tree(), m_parts.chain->Options(),
                   m_parts.Booster().full_validation, m_parts.env.UnixTime())
            .terminal;
    if (!terminal) return {};
    IBD_ASSIGN_OR_RETURN(const auto earlier, EarlierVerdict(*terminal));
    if (earlier) return {};
    m_parts.trust.Start(terminal->height, true);
    m_surveyed = true;
    return m_fold.RunSurvey(*terminal, survey);
}

Result<VerdictKind> GivenSync::Run()
{
    HintsStanding standing = Judge();
    const bool complete = standing.terminal && m_plan.CountMissing(*standing.terminal) == 0;
    BlockFetcher* const peers = complete ? nullptr : m_parts.StartFetcher();
    if (peers && !standing.terminal && standing.may_change) standing = WaitForEnd(*peers);
    if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
    if (!standing.terminal) return Refuse(standing, peers != nullptr);
    if (!complete && !peers && m_plan.CountMissing(*standing.terminal) > 0) {
        return BadData("the hints end at height {}, up to which {}", standing.terminal->height,
                       m_plan.DescribeMissing(*standing.terminal));
    }
    return RunTo(*standing.terminal, peers);
}

/** Hints of a folder were not requested by the user, so their refusal is less important. */
Result<VerdictKind> GivenSync::Refuse(const HintsStanding& standing, bool has_peers)
{
    if (!has_peers && m_named) return m_parts.Refuse(standing);
    if (m_named) {
        m_parts.log.Error(
            "IBD Booster: the hints are refused, and the sync continues without them: "
            "{}",
            standing.refusal);
    } else {
        m_parts.log.Info("IBD Booster: left out: {}", standing.refusal);
    }
    m_failed = true;
    m_failure = standing.refusal;
    return VerdictKind::kSerial;
}

Result<VerdictKind> GivenSync::RunTo(const HeaderNode& terminal, BlockFetcher* peers)
{
    IBD_ASSIGN_OR_RETURN(const auto earlier, EarlierVerdict(terminal));
    if (earlier && earlier->suspect) m_suspects.push_back(m_parts.hints->Info().path);
    if (earlier) return Conclude(terminal, *earlier); // before it drops the work of other hints
    m_parts.trust.Start(terminal.height, true);
    IBD_ASSIGN_OR_RETURN(const bool needs_coins, m_check.MustJoinCoins(terminal));
    const bool joins = needs_coins && !m_parts.chain->IsPruneMode();
    if (needs_coins && !joins) {
        IBD_ASSIGN_OR_RETURN(peers, FindSpentCoins(terminal, peers));
        if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
        if (!peers) return RefusePruned();
    }
    m_plan.Set(m_surveyed ? std::vector{WorkStep::kLoad} : m_plan.GivenSteps(joins), terminal);
    if (!joins) {
        IBD_ASSIGN_OR_RETURN(const VerdictKind end,
                             Fold(terminal, m_parts.Booster().full_validation, peers));
        if (end == VerdictKind::kDone) IBD_RETURN_IF_ERROR(DiscardBegunJoin(terminal));
        return end;
    }
    IBD_ASSIGN_OR_RETURN(const VerdictKind end, CheckAndFold(terminal, peers));
    if (end != VerdictKind::kInterrupted) IBD_RETURN_IF_ERROR(m_steps.CleanUpAfter(end));
    return end;
}

/** Waits for a peer that sends spent coins. Null: there is none, the node shuts down, or coins from
 *  peers would not serve. */
Result<BlockFetcher*> GivenSync::FindSpentCoins(const HeaderNode& terminal, BlockFetcher* peers)
{
    if (!m_parts.Booster().full_validation) return nullptr;
    if (!peers) peers = m_parts.StartFetcher();
    if (!peers || peers->CountSpentCoinsPeers() > 0) return peers;
    IBD_ASSIGN_OR_RETURN(const std::vector<bool> read, m_parts.kept.BlocksRead(terminal));
    const bool begun = std::ranges::find(read, true) != read.end();
    const int64_t wait =
        std::max(m_parts.options.wait_micros, begun ? PeerBlockSupply::kPatience : 0);
    m_parts.log.Info("IBD Booster: waiting up to {} s for a peer that sends spent coins "
                     "(-peerspentcoins), with which a pruned node validates fully",
                     wait / 1'000'000);
    int64_t end = m_parts.env.MonotonicMicros() + wait;
    while (m_parts.watch.Pause() && m_parts.env.MonotonicMicros() < end) {
        if (peers->CountSpentCoinsPeers() > 0) return peers;
        if (begun && peers->PeerCount() == 0) end = m_parts.env.MonotonicMicros() + wait;
    }
    return nullptr;
}

/** Rules about spent coins cannot be checked by a join, which reads blocks again. */
VerdictKind GivenSync::RefusePruned() const
{
    if (m_parts.Booster().full_validation) {
        m_parts.log.Error("IBD Booster: full validation with -prune needs a peer that sends spent "
                          "coins (-peerspentcoins), and there is none: validating serially");
    } else {
        m_parts.log.Error("IBD Booster: these checks read all blocks again, and -prune does not "
                          "keep them: validating serially");
    }
    return VerdictKind::kSerial;
}

Result<VerdictKind> GivenSync::CheckAndFold(const HeaderNode& terminal, BlockFetcher* peers)
{
    IBD_ASSIGN_OR_RETURN(const VerdictKind checked, m_check.Run(terminal, peers, nullptr));
    if (checked != VerdictKind::kDone) return checked;
    // Blocks that an earlier start checked may since be missing from the files.
    if (peers) IBD_RETURN_IF_ERROR(BlockRefetch(m_parts).FetchMissing(terminal, *peers));
    if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
    return Fold(terminal, false, nullptr);
}

Result<VerdictKind> GivenSync::Fold(const HeaderNode& terminal, bool full, BlockFetcher* peers)
{
    IBD_ASSIGN_OR_RETURN(const Verdict verdict, m_fold.RunGiven(terminal, full, peers));
    return Conclude(terminal, verdict);
}

/** Notes hints that failed. */
VerdictKind GivenSync::Conclude(const HeaderNode& terminal, const Verdict& verdict)
{
    const VerdictKind end = m_fold.Conclude(terminal, verdict);
    if (verdict.kind != VerdictKind::kHintsWrong && verdict.kind != VerdictKind::kUnprovable) {
        return end;
    }
    const bool coins_may_lie = verdict.kind == VerdictKind::kHintsWrong && verdict.doubtful;
    if (coins_may_lie && m_parts.chain->IsPruneMode()) return end; // other hints could not help
    m_wrong = !verdict.doubtful;
    m_failed = true;
    m_failure = verdict.reason;
    if (verdict.suspect) {
        m_parts.suspects.Add({.id = m_parts.hints->Info().id,
                              .terminal = terminal.hash,
                              .height = terminal.height,
                              .why = verdict.reason});
    }
    return end;
}

/** Removes an unfinished join for hints: the chainstate exists, made with given hints. Its pairs
 *  may serve undo data, and the fold stores its results for that beside it. */
Result<> GivenSync::DiscardBegunJoin(const HeaderNode& terminal)
{
    const HeaderNode* bare = nullptr;
    if (m_parts.options.own.undo != UndoWanted::kNo) {
        IBD_ASSIGN_OR_RETURN(bare, FirstWithoutUndo(m_parts.env, m_parts.Blocks(), terminal));
    }
    return m_parts.kept.Discard(bare ? KeptWork::kOwnHints
                                     : KeptWork::kOwnHints | KeptWork::kPairs);
}

HintsStanding GivenSync::WaitForEnd(BlockFetcher& peers)
{
    const HintsInfo& hints = m_parts.hints->Info();
    const BoosterOptions& options = m_parts.Booster();
    const bool full_pruned = options.full_validation && m_parts.chain->IsPruneMode();
    m_parts.log.Info("IBD Booster: waiting for headers: the best one must be {} above height {}, "
                     "where the hints end, before blocks are fetched",
                     full_pruned ? fmt::format("{} blocks", kMinBlocksToKeep) : "two weeks",
                     hints.terminal_height);
    const int64_t buried = kAssumeValidBuryTime / m_parts.params.consensus.pow_target_spacing;
    const uint64_t expected =
        hints.terminal_height + static_cast<uint64_t>(full_pruned ? kMinBlocksToKeep : buried);
    return HeadersWait(m_parts, m_plan)
        .Wait([&] { return Judge(); }, expected,
              m_plan.GivenSteps(options.full_validation || options.check_rules), peers,
              [&](const HeaderNode& best) {
                  // Peers with a longer chain may come, but the blocks of this chain are known.
                  if (int64_t{hints.terminal_height} <= best.height) return std::string();
                  return fmt::format("the best header is at height {}, and the hints end above it, "
                                     "at height {}: waiting for a peer with a longer chain, or "
                                     "start without -ibdboosterfile",
                                     best.height, hints.terminal_height);
              });
}

bool GivenSync::DropFailed()
{
    if (!m_failed || !m_parts.hints) return false;
    const HintsInfo& info = m_parts.hints->Info();
    m_parts.watch.DropHints(
        {info.id, info.path.string(), static_cast<int32_t>(info.terminal_height), m_failure});
    m_parts.hints.reset();
    m_failed = m_wrong = m_surveyed = false;
    m_parts.trust.Reset();
    return true;
}

bool GivenSync::TakeSuspects()
{
    m_tries_suspects = true;
    while (!m_suspects.empty()) {
        const Path file = std::move(m_suspects.back());
        m_suspects.pop_back();
        const Result<> opened = Open({.file = file, .folder = {}, .hash = {}});
        if (opened) return true;
        // Of peers, and removed by now.
        m_parts.log.Info("IBD Booster: left out: {}", opened.Message());
    }
    return false;
}

} // namespace ibd
