// See booster_run.h.
#include "booster/booster_run.h"

#include "booster/headers_watch.h"
#include "booster/reindex_supply.h"
#include "swiftsync/sync_progress.h"
#include "swiftsync/terminal.h"
#include "util/strings.h"
#include "validation/pruning.h"

#include <unordered_map>

namespace ibd {

namespace {

/** The name of the check in a log line that scripts search for. */
const char* CheckName(AggregateKind kind)
{
    return kind == AggregateKind::kMuHash ? "MuHash" : "SHA256";
}

/** When the data for making undo data is checked. */
const char* WhenChecked(UndoWanted undo)
{
    switch (undo) {
    case UndoWanted::kNo: return "This will not be checked later, as no undo data is made";
    case UndoWanted::kIfRoom: return "This is checked later, with the undo data, if it has room";
    case UndoWanted::kYes: return "This is checked later, with the undo data";
    }
    return "";
}

/** The places of the last blocks up to `terminal` in the survey. */
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

/** Interval of checking for new headers. */
constexpr auto kHeaderLook = std::chrono::milliseconds(200);

} // namespace

Result<> BoosterRun::OpenHints(const HintsChoice& choice, const BlockHash& assumed_valid)
{
    IBD_ASSIGN_OR_RETURN(ChosenHints chosen,
                         ChooseHints(m_env, m_log, m_params, choice, assumed_valid));
    m_hints = std::move(chosen.hints);
    m_waiting = std::move(chosen.waiting);
    m_hints_named = choice.file.has_value();
    if (m_hints) LogHints();
    return {};
}

void BoosterRun::LogHints() const
{
    const HintsInfo& info = m_hints->Info();
    m_log.Info("IBD Booster: hints {}: terminal height {}, {}{} outputs unspent",
               info.path.string(), info.terminal_height, info.unspent,
               info.outputs ? fmt::format(" of {}", *info.outputs) : std::string());
}

size_t BoosterRun::CountMissing(const ChainManager& chain, const HeaderNode& terminal)
{
    const ChainReader reader = chain.Read();
    size_t missing = 0;
    for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
        missing += !node->HasData();
    }
    return missing;
}

std::string BoosterRun::DescribeMissing(const ChainManager& chain, const HeaderNode& terminal)
{
    const HeaderNode* first = nullptr;
    {
        const ChainReader reader = chain.Read();
        for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
            if (!node->HasData()) first = node;
        }
    }
    CHECK(first);
    return fmt::format("{} blocks are missing, and there is no network (-connect=0). The first is "
                       "{}. Start with a network, or put a sound copy of the block files in their "
                       "place and start again",
                       CountMissing(chain, terminal), chain.DescribeMissing(*first));
}

HintsStanding BoosterRun::Judge(const ChainManager& chain, bool full_validation) const
{
    const int64_t now = m_env.UnixTime();
    const ChainReader reader = chain.Read();
    return JudgeHints(m_hints->Info(), reader.Tree(), chain.Options(), full_validation, now);
}

Result<Verdict> BoosterRun::RunEngine(std::unique_ptr<SyncEngine> engine)
{
    SyncEngine* at_work = engine.get();
    {
        const Lock lock(m_mutex);
        m_engine = std::move(engine);
        if (m_interrupted) m_engine->Interrupt();
    }
    return at_work->Run();
}

Result<> BoosterRun::FoldSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                                const BlockStore& blocks, const BoosterOptions& options)
{
    // Unsuitable hints are refused by Run(), when the index knows the blocks.
    const HeaderNode* const terminal =
        JudgeHints(m_hints->Info(), survey.Tree(), trust, options.full_validation, m_env.UnixTime())
            .terminal;
    if (!terminal) return {};
    LogStart(options, terminal->height);
    BoosterOptions folding = options;
    folding.fold_only = true;
    m_surveyed = true;
    const auto observer = ObserverOf({.terminal = *terminal, .place = PlacesIn(survey, *terminal)});
    if (observer) folding.observers.push_back(observer.get());
    ReindexSupply supply(m_env, blocks, survey, *terminal);
    Plan({WorkStep::kFold, WorkStep::kIndex, WorkStep::kLoad},
         AmountsOf(survey, *terminal, options), options);
    const Result<Verdict> verdict = RunEngine(std::make_unique<SyncEngine>(
        m_env, m_log, m_params, *terminal, blocks, supply, *m_hints, std::move(folding)));
    const Lock lock(m_mutex);
    DropEngine();
    if (!verdict) return verdict.GetError();
    if (verdict->kind == VerdictKind::kIncomplete) {
        m_log.Info("IBD Booster: not all blocks could be folded at once: {}", verdict->reason);
    }
    return {};
}

void BoosterRun::LogStart(const BoosterOptions& options, int32_t height, bool checks)
{
    if (std::exchange(m_told, true)) return; // done in FoldSurvey()
    m_log.Info("IBD Booster: runs and checkpoint are kept in '{}'", options.directory.string());
    if (!options.full_validation && !options.check_rules && !checks) {
        if (m_hints) {
            m_trusted_height = height; // they may be refused at once
        } else {
            WarnOfTrust(height);
        }
    }
    if (m_stop_at <= 0 || m_stop_at >= height) return;
    m_log.Warning("-stopatheight={} is below the terminal block at height {}: the IBD Booster has "
                  "no chainstate before that, so the node stops there",
                  m_stop_at, height);
}

/** Warns that more is trusted than by Core's -assumevalid, and for how long. */
void BoosterRun::WarnOfTrust(int32_t height)
{
    m_log.Warning("IBD Booster: up to height {} not only scripts are assumed valid, as "
                  "-assumevalid has it, but also amounts against inputs, coinbase maturity{}. {}; "
                  "-ibdboosterchecks checks it first, -ibdboosterfullvalidation all",
                  height,
                  m_hints ? ", relative lock times, and that no block spends an output of a later "
                            "block"
                          : " and relative lock times", // the join has checked the rest
                  WhenChecked(m_own_options.undo));
}

Result<BoosterRun::Outcome> BoosterRun::Run(ChainManager& chain, const BlockStore& blocks,
                                            const BoosterOptions& options,
                                            const StartFetcher& start_fetcher,
                                            const std::function<void()>& begins)
{
    {
        const Lock lock(m_mutex);
        m_full = options.full_validation;
    }
    for (;;) {
        auto outcome = RunOnce(chain, blocks, options, start_fetcher, begins);
        if (outcome) return outcome;
        IBD_ASSIGN_OR_RETURN(const bool mended,
                             Mend(chain, blocks, outcome.GetError(), start_fetcher));
        if (IsInterrupted()) return Outcome::kInterrupted;
        if (!mended) return outcome;
    }
}

Result<BoosterRun::Outcome> BoosterRun::RunOnce(ChainManager& chain, const BlockStore& blocks,
                                                const BoosterOptions& options,
                                                const StartFetcher& start_fetcher,
                                                const std::function<void()>& begins)
{
    if (!m_hints) return RunOnOwnHints(chain, blocks, options, start_fetcher, begins);
    begins();
    return RunOnGivenHints(chain, blocks, options, start_fetcher);
}

Result<BoosterRun::Outcome> BoosterRun::RunOnGivenHints(ChainManager& chain,
                                                        const BlockStore& blocks,
                                                        const BoosterOptions& options,
                                                        const StartFetcher& start_fetcher)
{
    HintsStanding standing = Judge(chain, options.full_validation);
    const bool complete = standing.terminal && CountMissing(chain, *standing.terminal) == 0;
    BlockFetcher* const peers = complete || !start_fetcher ? nullptr : start_fetcher();
    if (peers && !standing.terminal && standing.may_change) {
        standing = WaitForHintsEnd(std::move(standing), chain, options, *peers);
    }
    if (IsInterrupted()) return Outcome::kInterrupted;
    if (!standing.terminal) {
        if (!peers && m_hints_named) return BadData("{}", standing.refusal);
        LogRefusal(standing);
        m_hints_failed = true;
        m_failure = standing.refusal;
        return Outcome::kSerial;
    }
    const HeaderNode& terminal = *standing.terminal;
    if (!complete && !peers && CountMissing(chain, terminal) > 0) {
        return BadData("the hints end at height {}, up to which {}", terminal.height,
                       DescribeMissing(chain, terminal));
    }
    LogStart(options, terminal.height);
    IBD_ASSIGN_OR_RETURN(const bool joins, MustJoinCoins(terminal, blocks, options));
    Plan(m_surveyed ? std::vector{WorkStep::kLoad} : GivenSteps(joins),
         AmountsOf(chain, terminal, options), options);
    if (!joins) {
        IBD_ASSIGN_OR_RETURN(const Outcome folded,
                             FoldGivenHints(chain, terminal, blocks, options, peers));
        if (folded == Outcome::kBuilt) {
            IBD_RETURN_IF_ERROR(RemoveBegun(terminal, blocks, options));
        }
        return folded;
    }
    if (chain.IsPruneMode()) {
        m_log.Error("IBD Booster: these checks read all blocks again, and -prune keeps them "
                    "not: validating serially");
        return Outcome::kSerial;
    }
    IBD_ASSIGN_OR_RETURN(std::optional<Outcome> outcome,
                         Validate(chain, terminal, blocks, options, peers, nullptr));
    if (!outcome) {
        BoosterOptions fold = options;
        fold.full_validation = false;
        IBD_ASSIGN_OR_RETURN(outcome, FoldGivenHints(chain, terminal, blocks, fold, nullptr));
    }
    if (outcome == Outcome::kInterrupted) return *outcome;
    const bool keep = m_own_options.undo != UndoWanted::kNo && outcome == Outcome::kBuilt;
    IBD_RETURN_IF_ERROR(CleanUp(options, keep));
    return *outcome;
}

/** Hints of a folder were not requested by the user, so their refusal is less important. */
void BoosterRun::LogRefusal(const HintsStanding& standing) const
{
    if (!m_hints_named) return m_log.Info("IBD Booster: left out: {}", standing.refusal);
    m_log.Error("IBD Booster: the hints are refused, and the sync goes on without them: {}",
                standing.refusal);
}

Result<BoosterRun::Outcome> BoosterRun::FoldGivenHints(ChainManager& chain,
                                                       const HeaderNode& terminal,
                                                       const BlockStore& blocks,
                                                       const BoosterOptions& options,
                                                       BlockFetcher* peers)
{
    const Result<Verdict> verdict = peers ? FoldFromPeers(chain, terminal, blocks, options, *peers)
                                          : FoldStored(chain, terminal, blocks, options);
    if (!verdict) return verdict.GetError();
    return Conclude(terminal, *verdict, options);
}

Result<Verdict> BoosterRun::FoldStored(const ChainManager& chain, const HeaderNode& terminal,
                                       const BlockStore& blocks, const BoosterOptions& options)
{
    const auto observer = ObserverOf({.terminal = terminal, .place = PlacesIn(chain)});
    BoosterOptions folding = options;
    if (observer) folding.observers.push_back(observer.get());
    return RunEngine(std::make_unique<SyncEngine>(m_env, m_log, m_params, terminal, blocks,
                                                  *m_hints, std::move(folding)));
}

std::unique_ptr<FoldObserver> BoosterRun::ObserverOf(FoldTask fold) const
{
    fold.coins = m_hints->Info().unspent;
    return m_watcher ? m_watcher(fold) : nullptr;
}

HintsStanding BoosterRun::WaitForHintsEnd(HintsStanding standing, const ChainManager& chain,
                                          const BoosterOptions& options, BlockFetcher& peers)
{
    const HintsInfo& hints = m_hints->Info();
    m_log.Info("IBD Booster: waiting for headers: the best one must be two weeks above height {}, "
               "where the hints end, before blocks are fetched",
               hints.terminal_height);
    const int64_t buried = kAssumeValidBuryTime / m_params.consensus.pow_target_spacing;
    const uint64_t expected = hints.terminal_height + static_cast<uint64_t>(buried);
    return WaitForHeaders(
        std::move(standing), [&] { return Judge(chain, options.full_validation); }, expected,
        GivenSteps(options.full_validation || options.check_rules), chain, options, peers,
        [&](const HeaderNode& best) {
            // Peers with a longer chain may come, but the blocks of this chain are known.
            if (int64_t{hints.terminal_height} <= best.height) return std::string();
            return fmt::format("the best header is at height {}, and the hints end above it, at "
                               "height {}: waiting for a peer with a longer chain, or start "
                               "without -ibdboosterfile",
                               best.height, hints.terminal_height);
        });
}

/** The reason for waiting for headers although the peers have no more. */
std::string BoosterRun::WhyStillWaiting(const ChainManager& chain, const StillWaiting& waits) const
{
    const HeaderNode* const best = chain.Read().Tree().BestHeader();
    if (best->chain_work < chain.Options().minimum_work) {
        return fmt::format("the best header, at height {}, has less work than this network's chain "
                           "must have (-minimumchainwork): waiting for a peer with more",
                           best->height);
    }
    return waits ? waits(*best) : std::string();
}

HintsStanding BoosterRun::WaitForHeaders(HintsStanding standing, const Judging& judge,
                                         uint64_t expected, std::vector<WorkStep> then,
                                         const ChainManager& chain, const BoosterOptions& options,
                                         BlockFetcher& peers, const StillWaiting& waits)
{
    then.insert(then.begin(), WorkStep::kHeaders);
    Plan(std::move(then), AssumedAmounts(chain, expected, options), options);
    ProgressMeter meter(m_env, m_log,
                        {.label = "IBD Booster: waiting for headers",
                         .unit = "headers",
                         .total = expected,
                         .to = options.progress,
                         .step = WorkStep::kHeaders});
    HeadersWatch watch(m_env.MonotonicMicros());
    std::string why; // reason for waiting
    do {
        const int32_t height = chain.Read().Tree().BestHeader()->height;
        const size_t count = peers.PeerCount();
        const HeadersTold told = peers.AskForLastHeaders();
        std::string detail = count ? fmt::format("{} peers", count) : "no peers";
        if (told.told > 0) detail = Describe(told);
        meter.Update(static_cast<uint64_t>(height), detail);
        {
            const Lock lock(m_mutex);
            m_headers = height;
        }
        standing = judge();
        if (!standing.may_change || !watch.HaveEnded(height, told, m_env.MonotonicMicros()))
            continue;
        const std::string now = WhyStillWaiting(chain, waits);
        if (now.empty()) {
            standing.may_change = false;
            m_log.Info("IBD Booster: the headers end at height {}: {}", height, Describe(told));
        } else if (now != std::exchange(why, now)) {
            m_log.Warning("IBD Booster: {}: {}", Describe(told), now);
        }
    } while (standing.may_change && Pause());
    const Lock lock(m_mutex);
    m_headers = -1;
    return standing;
}

bool BoosterRun::Pause()
{
    const Lock lock(m_mutex);
    if (!m_interrupted) m_stop.wait_for(m_mutex, kHeaderLook);
    return !m_interrupted;
}

bool BoosterRun::IsInterrupted() const
{
    const Lock lock(m_mutex);
    return m_interrupted;
}

Result<Verdict> BoosterRun::FoldFromPeers(ChainManager& chain, const HeaderNode& terminal,
                                          const BlockStore& blocks, const BoosterOptions& options,
                                          BlockFetcher& peers)
{
    const Path place = chain.Blocks().BlockPath(0).parent_path();
    const bool shared = m_env.SameFileSystem(place, options.chainstate.parent_path());
    WarnIfRoomIsShort(chain, terminal,
                      shared ? m_hints->Info().unspent * (kRunBytesPerCoin + kTableBytesPerCoin)
                             : 0);
    const int32_t first_stored =
        chain.IsPruneMode() ? std::max(terminal.height - kMinBlocksToKeep + 1, 0) : 0;
    if (first_stored > 0) {
        m_log.Info("IBD Booster: blocks below height {} are not stored (-prune)", first_stored);
    }
    m_discards = first_stored > 0;
    ChainKeeper keeper(chain, first_stored);
    PeerBlockSupply supply(m_env, blocks, terminal, keeper, peers);
    supply.SetUsualBytes(UsualBlockBytes(chain));
    const auto observer = ObserverOf({.terminal = terminal,
                                      .place = PlacesIn(chain),
                                      .missing = CountMissing(chain, terminal),
                                      .usual_bytes = UsualBlockBytes(chain)});
    BoosterOptions folding = options;
    if (observer) folding.observers.push_back(observer.get());
    if (observer) supply.Prefer(std::max(terminal.height - kMinBlocksToKeep + 1, 1));
    {
        const Lock lock(m_mutex);
        m_supply = &supply;
    }
    const Result<Verdict> verdict = RunEngine(std::make_unique<SyncEngine>(
        m_env, m_log, m_params, terminal, blocks, supply, *m_hints, std::move(folding)));
    peers.StopFetching();
    const Lock lock(m_mutex);
    DropEngine();
    m_progress->download = supply.Progress();
    m_supply = nullptr;
    return verdict;
}

void BoosterRun::DropEngine()
{
    m_progress = m_engine->Progress();
    m_engine.reset();
}

/** Based on the assumed size of the whole chain in the network's parameters. */
uint64_t BoosterRun::UsualBlockBytes(const ChainManager& chain) const
{
    const int32_t height = chain.Read().Tree().BestHeader()->height;
    return m_params.assumed_blockchain_size_gb * 1'000'000'000 /
           static_cast<uint64_t>(std::max(height, 1));
}

/** Only warns: blocks may be smaller than assumed, and the user may make room meanwhile. */
void BoosterRun::WarnIfRoomIsShort(const ChainManager& chain, const HeaderNode& terminal,
                                   uint64_t rest) const
{
    const uint64_t missing = CountMissing(chain, terminal);
    const uint64_t bytes = missing * UsualBlockBytes(chain);
    const uint64_t stored =
        chain.IsPruneMode() ? std::min<uint64_t>(missing, kMinBlocksToKeep) : missing;
    const uint64_t blocks = stored * UsualBlockBytes(chain);
    const Path place = chain.Blocks().BlockPath(0).parent_path();
    m_log.Info("IBD Booster: {} of {} blocks are to be fetched from peers, about {}", missing,
               terminal.height, FormatBytes(bytes));
    const auto free = m_env.SpaceAvailable(place);
    if (!free || *free >= blocks + rest) return;
    m_log.Warning("IBD Booster: disk space may not suffice: {} has {} free, and what is still to "
                  "come takes about {}, {} of it blocks",
                  place.string(), FormatBytes(*free), FormatBytes(blocks + rest),
                  FormatBytes(blocks));
}

/** The consequence of a failure, for the log. */
const char* BoosterRun::FallbackText() const
{
    return m_discards ? "the blocks were not kept (-prune): all are fetched again, and validated "
                        "serially"
                      : "validating serially from the same blocks";
}

BoosterRun::Outcome BoosterRun::ConcludeRefused(const HeaderNode& terminal, const Verdict& verdict,
                                                const BoosterOptions& options)
{
    std::string what = "no hints can be checked";
    if (verdict.kind == VerdictKind::kHintsWrong) what = "the hints are wrong";
    if (verdict.suspect)
        what += fmt::format(", or a block up to height {} is invalid", terminal.height);
    m_log.Error("IBD Booster: {}: {}. Nothing was written; {}", what, verdict.reason,
                m_discards ? FallbackText() : "the sync goes on without them");
    m_hints_wrong = m_hints_failed = true;
    m_failure = verdict.reason;
    if (verdict.suspect && m_hints) {
        m_suspects.Add({.directory = options.directory,
                        .id = m_hints->Info().id,
                        .terminal = terminal.hash,
                        .height = terminal.height,
                        .why = verdict.reason});
    }
    return Outcome::kSerial;
}

BoosterRun::Outcome BoosterRun::Conclude(const HeaderNode& terminal, const Verdict& verdict,
                                         const BoosterOptions& options)
{
    switch (verdict.kind) {
    case VerdictKind::kAccepted:
        m_log.Info("*** IBD Booster: {} check at block height {} succeeded. ***",
                   CheckName(options.aggregate), verdict.height);
        if (m_trusted_height) WarnOfTrust(*std::exchange(m_trusted_height, std::nullopt));
        m_suspects.Proven(terminal);
        return Outcome::kBuilt;
    case VerdictKind::kHintsWrong:
    case VerdictKind::kUnprovable: return ConcludeRefused(terminal, verdict, options);
    case VerdictKind::kNoUndo:
        m_log.Error("IBD Booster: {}. Use it without -ibdboosterfullvalidation, below an "
                    "assumed-valid block. Validating serially, which makes the missing undo data",
                    verdict.reason);
        return Outcome::kSerial;
    case VerdictKind::kBlockInvalid:
        m_log.Error("IBD Booster: block at height {} is invalid: {}; {}", verdict.height,
                    verdict.reason, FallbackText());
        return Outcome::kSerial;
    case VerdictKind::kInterrupted: return Outcome::kInterrupted;
    case VerdictKind::kFolded:     // only for FoldSurvey()
    case VerdictKind::kIncomplete: // a missing stored block is an error
        break;
    }
    CHECK(false);
    return Outcome::kSerial;
}

bool BoosterRun::DropFailedHints()
{
    if (!m_hints_failed || !m_hints) return false;
    const Lock lock(m_mutex); // other threads read them for progress
    if (m_engine) DropEngine();
    const HintsInfo& info = m_hints->Info();
    m_refused.push_back(
        {info.id, info.path.string(), static_cast<int32_t>(info.terminal_height), m_failure});
    m_hints.reset();
    m_hints_failed = m_hints_wrong = m_told = m_surveyed = false;
    m_trusted_height.reset();
    return true;
}

std::vector<Uint256> BoosterRun::RefusedIds() const
{
    const Lock lock(m_mutex);
    std::vector<Uint256> out;
    for (const RefusedHints& hints : m_refused) out.push_back(hints.id);
    return out;
}

void BoosterRun::Interrupt()
{
    const Lock lock(m_mutex);
    m_interrupted = true;
    m_stop.notify_all();
    m_own.Interrupt();
    m_validation.Interrupt();
    if (m_engine) m_engine->Interrupt();
    if (m_mending) m_mending->Stop();
}

BoosterProgress BoosterRun::ProgressAtRest() const
{
    BoosterProgress progress;
    progress.terminal_height = static_cast<int32_t>(m_hints->Info().terminal_height);
    progress.terminal_hash = m_hints->Info().terminal_hash.value_or(BlockHash{});
    progress.hints_id = m_hints->Info().id;
    return progress;
}

std::optional<BoosterProgress> BoosterRun::Progress() const
{
    const Lock lock(m_mutex);
    std::optional<BoosterProgress> progress;
    const auto validation = m_validation.Progress();
    if (m_engine) {
        progress = m_engine->Progress();
    } else if (m_progress) {
        progress = m_progress;
    } else if (m_joining && m_headers < 0) {
        progress = ProgressOfJoin();
    } else if (m_hints || m_headers >= 0) {
        progress = m_hints ? ProgressAtRest() : BoosterProgress{};
        if (m_headers >= 0) progress->state = BoosterState::kWaiting;
        progress->headers = m_headers;
    }
    if (!progress && !m_refused.empty()) {
        progress.emplace();
        progress->state = BoosterState::kRefused;
        progress->terminal_height = m_refused.back().height;
        progress->hints_id = m_refused.back().id;
        progress->verdict = m_refused.back().why;
    }
    if (!progress) return progress;
    if (progress->verdict.empty() && !m_refused.empty()) {
        const RefusedHints& last = m_refused.back(); // until the next attempt has a verdict
        progress->verdict = fmt::format("refused {}: {}", last.file, last.why);
    }
    if (m_supply) progress->download = m_supply->Progress();
    progress->full_validation = m_full;
    if (!validation) return progress;
    progress->state = BoosterState::kValidating;
    progress->undo = validation;
    return progress;
}

} // namespace ibd
