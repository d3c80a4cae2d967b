// See fold_run.h.
#include "booster/fold_run.h"

#include "booster/block_refetch.h"
#include "booster/known_blocks.h"
#include "booster/reindex_supply.h"
#include "swiftsync/sync_progress.h"
#include "validation/pruning.h"

#include <algorithm>
#include <unordered_map>

namespace ibd {

namespace {

/** The name of the check in a log line that scripts search for. */
const char* CheckName(AggregateKind kind)
{
    return kind == AggregateKind::kMuHash ? "MuHash" : "SHA256";
}

/** The positions of the last blocks up to `terminal` in the survey. */
FoldSearch::PlaceOf PlacesIn(const BlockSurvey& survey, const HeaderNode& terminal)
{
    std::unordered_map<const HeaderNode*, FilePos> places;
    for (const SurveyedBlock& block : survey.Blocks()) {
        if (!block.node || block.node->height <= terminal.height - kMinBlocksToKeep) continue;
        places.emplace(block.node, block.pos); // emplace ignores a second copy
    }
    return [places = std::move(places)](const HeaderNode& node) {
        const auto found = places.find(&node);
        return found == places.end() ? FilePos() : found->second;
    };
}

FoldSearch::PlaceOf PlacesIn(const ChainManager& chain)
{
    return [&chain](const HeaderNode& node) { return chain.Where(node).data; };
}

} // namespace

BoosterOptions FoldRun::OptionsFor(const HeaderNode& terminal, bool full,
                                   FoldObserver* observer) const
{
    BoosterOptions options = m_parts.Booster();
    options.full_validation = full;
    if (full) {
        options.known_height = m_parts.chain->KnownHeightOf(terminal);
        LogKnownBlocks(*m_parts.chain, terminal, options.known_height, options.signature_lanes);
    }
    if (observer) {
        options.observers.push_back(observer);
        options.memory_bytes = FoldSearch::FoldShare(options.memory_bytes);
    }
    return options;
}

/** Undo data of the last blocks is made after the fold, so the fold looks for its coins. */
std::unique_ptr<FoldObserver> FoldRun::ObserverOf(FoldTask fold)
{
    if (!m_parts.MakesUndoLater()) return nullptr;
    fold.coins = m_parts.hints->Info().unspent;
    return m_parts.undo.WatchFold(fold);
}

Result<Verdict> FoldRun::RunGiven(const HeaderNode& terminal, bool full, BlockFetcher* peers)
{
    return peers ? RunFromPeers(terminal, full, *peers) : RunStored(terminal, full);
}

Result<Verdict> FoldRun::RunStored(const HeaderNode& terminal, bool full)
{
    const auto observer = ObserverOf({.terminal = terminal, .place = PlacesIn(*m_parts.chain)});
    return m_parts.watch.Run(std::make_unique<SyncEngine>(
        m_parts.env, m_parts.log, m_parts.params, terminal, m_parts.Blocks(), *m_parts.hints,
        OptionsFor(terminal, full, observer.get())));
}

Result<Verdict> FoldRun::RunFromPeers(const HeaderNode& terminal, bool full, BlockFetcher& peers)
{
    ChainManager& chain = *m_parts.chain;
    const uint64_t usual_bytes = m_plan.UsualBlockBytes();
    const bool shared =
        m_parts.env.SameFileSystem(m_parts.BlocksDir(), m_parts.Booster().chainstate.parent_path());
    const uint64_t per_coin = shared ? kRunBytesPerCoin + kTableBytesPerCoin : 0;
    m_plan.WarnIfRoomIsShort(terminal, m_parts.hints->Info().unspent * per_coin);
    const int32_t first_stored =
        chain.IsPruneMode() ? std::max(terminal.height - kMinBlocksToKeep + 1, 0) : 0;
    if (first_stored > 0) {
        m_parts.log.Info("IBD Booster: blocks below height {} are not stored (-prune)",
                         first_stored);
    }
    m_parts.discards = first_stored > 0;
    IBD_RETURN_IF_ERROR(BlockRefetch(m_parts).FetchRead(terminal, peers, first_stored));
    if (m_parts.watch.IsInterrupted()) return Verdict{.kind = VerdictKind::kInterrupted};
    ChainKeeper keeper(chain, first_stored);
    PeerBlockSupply supply(m_parts.env, m_parts.Blocks(), terminal, keeper, peers);
    supply.LogTo(m_parts.log);
    supply.Expect(m_plan.Expect(terminal));
    const auto observer = ObserverOf({.terminal = terminal,
                                      .place = PlacesIn(chain),
                                      .missing = m_plan.CountMissing(terminal),
                                      .usual_bytes = usual_bytes});
    if (observer) supply.Prefer(std::max(terminal.height - kMinBlocksToKeep + 1, 1));
    BoosterOptions options = OptionsFor(terminal, full, observer.get());
    options.coins_supplied = full && chain.IsPruneMode(); // else the blocks have undo data
    if (options.coins_supplied) supply.FetchWithSpentCoins();
    m_parts.watch.ShowSupply(&supply);
    Result<Verdict> verdict = m_parts.watch.Run(
        std::make_unique<SyncEngine>(m_parts.env, m_parts.log, m_parts.params, terminal,
                                     m_parts.Blocks(), supply, *m_parts.hints, std::move(options)));
    peers.StopFetching();
    if (verdict && verdict->kind == VerdictKind::kIncomplete && supply.GaveUp()) {
        const DownloadProgress at_end = supply.Progress();
        verdict->reason =
            fmt::format("for {} minutes no peer has sent one of the {} missing blocks "
                        "with the coins that it spends",
                        PeerBlockSupply::kPatience / 60'000'000, at_end.blocks - at_end.received);
    }
    m_parts.watch.Release();
    return verdict;
}

Result<Verdict> FoldRun::RunOwn(const HeaderNode& terminal, bool full, const Hints& hints,
                                const FirstPass* first)
{
    BoosterOptions options = OptionsFor(terminal, full, nullptr);
    options.remember_bad = false; // a single bit flip in memory would disable them forever
    Result<Verdict> verdict = m_parts.watch.Run(
        std::make_unique<SyncEngine>(m_parts.env, m_parts.log, m_parts.params, terminal,
                                     m_parts.Blocks(), hints, std::move(options), first));
    m_parts.watch.Release();
    return verdict;
}

Result<> FoldRun::RunSurvey(const HeaderNode& terminal, BlockSurvey& survey)
{
    const auto observer = ObserverOf({.terminal = terminal, .place = PlacesIn(survey, terminal)});
    // Not full validation: a new index has no undo data.
    BoosterOptions options = OptionsFor(terminal, false, observer.get());
    options.fold_only = true;
    ReindexSupply supply(m_parts.env, m_parts.log, m_parts.Blocks(), survey, terminal);
    m_plan.Set({WorkStep::kFold, WorkStep::kIndex, WorkStep::kLoad}, survey, terminal);
    const Result<Verdict> verdict = m_parts.watch.Run(
        std::make_unique<SyncEngine>(m_parts.env, m_parts.log, m_parts.params, terminal,
                                     m_parts.Blocks(), supply, *m_parts.hints, std::move(options)));
    m_parts.watch.Release();
    if (!verdict) return verdict.GetError();
    if (verdict->kind == VerdictKind::kIncomplete) {
        m_parts.log.Info("IBD Booster: not all blocks could be folded in this pass: {}",
                         verdict->reason);
    }
    return {};
}

void FoldRun::LogRefusal(const HeaderNode& terminal, const Verdict& verdict) const
{
    std::string what = "no hints can be checked";
    if (verdict.kind == VerdictKind::kHintsWrong) {
        what = verdict.doubtful ? "the hints or the spent coins are wrong" : "the hints are wrong";
    }
    if (verdict.suspect)
        what += fmt::format(", or a block up to height {} is invalid", terminal.height);
    m_parts.log.Error("IBD Booster: {}: {}. Nothing was written; {}", what, verdict.reason,
                      m_parts.discards ? m_parts.FallbackText()
                                       : "the sync continues without them");
}

VerdictKind FoldRun::Conclude(const HeaderNode& terminal, const Verdict& verdict)
{
    switch (verdict.kind) {
    case VerdictKind::kDone:
        m_parts.log.Info("*** IBD Booster: {} check at block height {} succeeded. ***",
                         CheckName(m_parts.Booster().aggregate), verdict.height);
        m_parts.trust.Accepted();
        if (m_parts.hints) m_parts.suspects.Clear(m_parts.hints->Info().id);
        m_parts.suspects.Proven(terminal);
        return VerdictKind::kDone;
    case VerdictKind::kHintsWrong:
    case VerdictKind::kUnprovable: LogRefusal(terminal, verdict); return VerdictKind::kSerial;
    case VerdictKind::kNoUndo:
        m_parts.log.Error("IBD Booster: {}. Use it without -ibdboosterfullvalidation, below an "
                          "assumed-valid block. Validating serially, which makes the missing undo "
                          "data",
                          verdict.reason);
        return VerdictKind::kSerial;
    case VerdictKind::kBlockInvalid:
        m_parts.log.Error("IBD Booster: block at height {} is invalid: {}; {}", verdict.height,
                          verdict.reason, m_parts.FallbackText());
        return VerdictKind::kSerial;
    case VerdictKind::kInterrupted: return VerdictKind::kInterrupted;
    case VerdictKind::kIncomplete: // of blocks with coins; another missing block is an error
        m_parts.log.Error("IBD Booster: {}; {}", verdict.reason, m_parts.FallbackText());
        return VerdictKind::kSerial;
    case VerdictKind::kFolded:     // only for RunSurvey()
    case VerdictKind::kUndecided:  // of joins
    case VerdictKind::kNoRoom:
    case VerdictKind::kSerial: break;
    }
    CHECK(false);
    return VerdictKind::kSerial;
}

} // namespace ibd
