// BoosterRun without a hints file: decides whether and up to which block, and runs the join before
// the booster. See booster_run.h.
#include "booster/booster_run.h"
#include "booster/full_mark.h"
#include "booster/reindex_supply.h"
#include "swiftsync/full_validation.h"
#include "swiftsync/terminal.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr auto kNoneFolded = [](int32_t) { return false; };

/** The join's result for the rules about coins; nothing: not checked, or under other rules. */
std::optional<bool> RulesKept(const FirstPass& first, const HeaderNode& terminal,
                              const ConsensusParams& params)
{
    const Uint256 now = FoldRulesIdOf(terminal, HintsCounting::kSpendable, params);
    return first.rules == now ? first.rules_kept : std::nullopt;
}

/** Resumes an earlier start's work, even if a higher block is possible by now; but not for less
 *  than half of the chain. */
const HeaderNode* PreferKept(const OwnHints::Kept& kept, const HeaderNode& terminal)
{
    for (const HeaderNode* node = &terminal; node->height * 2 >= terminal.height;
         node = node->prev) {
        if (node->hash == kept.terminal) return node;
        if (node->height == 0) break;
    }
    return nullptr;
}

Path BlocksDir(const BlockStore& blocks) { return blocks.BlockPath(0).parent_path(); }

} // namespace

bool BoosterRun::MayRun(const ChainManagerOptions& trust) const
{
    using Mode = OwnHintsOptions::Mode;
    if (m_hints || m_own_options.mode == Mode::kAsked) return true;
    return m_own_options.mode == Mode::kDefault && !trust.assume_valid.IsNull() &&
           trust.prune_target == 0;
}

HintsStanding BoosterRun::JudgeOwn(const ChainManager& chain, bool full_validation,
                                   bool stored) const
{
    const int64_t now = m_env.UnixTime();
    const auto has_data = [](const HeaderNode& node) { return node.HasData(); };
    const ChainReader reader = chain.Read();
    return FindOwnTerminal(reader.Tree(), chain.Options(), full_validation, now,
                           stored ? std::function<bool(const HeaderNode&)>(has_data) : nullptr);
}

void BoosterRun::LogOwnStart(const ChainManagerOptions& trust, const BoosterOptions& options,
                             int32_t height, bool checks)
{
    if (!m_told && trust.assume_valid.IsNull() && !options.full_validation) {
        m_log.Warning("IBD Booster: there is no assumed-valid block: up to height {}, the best "
                      "stored block, scripts are not run only because -ibdbooster was given",
                      height);
    }
    LogStart(options, height, checks);
}

BoosterRun::BlockBytes BoosterRun::BytesUpTo(const ChainManager& chain,
                                             const HeaderNode& terminal) const
{
    const BlockPlan plan(terminal, kNoneFolded);
    return {plan.EstimatedBytes(), plan.Missing().size() * UsualBlockBytes(chain)};
}

bool BoosterRun::HasRoom(const BoosterOptions& options, const BlockBytes& bytes,
                         const BlockStore& blocks, const JoinBesides& besides) const
{
    const Path place = BlocksDir(blocks);
    std::vector<RoomNeed> needs =
        OwnHintsRoom(options, place, bytes.stored + bytes.missing, besides);
    needs.push_back({place, bytes.missing});
    return !FindShortage(m_env, needs);
}

/** The default, without a request by the user. */
bool BoosterRun::IsWorthIt(const BoosterOptions& options, const BlockBytes& bytes,
                           const BlockStore& blocks) const
{
    return bytes.stored + bytes.missing > m_own_options.least_bytes &&
           HasRoom(options, bytes, blocks,
                   {.pairs = MustKeepPairs(options), .values = JoinsValues(options)});
}

bool BoosterRun::MustKeepPairs(const BoosterOptions& options) const
{
    return (options.check_rules && !JoinsValues(options)) || m_own_options.undo == UndoWanted::kYes;
}

/** If undo data is made before the chainstate, it is used to check the rules. */
bool BoosterRun::JoinsValues(const BoosterOptions& options) const
{
    return m_own_options.checks && !options.full_validation && !m_own_options.undo_first;
}

/** Unfinished work continues unchanged: undo data can also be made without its pairs, and unneeded
 *  pairs do no harm. */
bool BoosterRun::KeepsPairs(const BoosterOptions& options, const OwnStart& start) const
{
    if (start.begun) return start.pairs;
    return MustKeepPairs(options) || (start.pairs && m_own_options.undo == UndoWanted::kIfRoom);
}

Result<BoosterRun::OwnStart> BoosterRun::PlanOwnHints(const ChainManager& chain,
                                                      const BoosterOptions& options,
                                                      const StartFetcher& start_fetcher)
{
    OwnStart start;
    const bool full = options.full_validation;
    IBD_ASSIGN_OR_RETURN(auto kept, m_own.Look(options.directory));
    start.standing = JudgeOwn(chain, full, true);
    const HeaderNode* const stored = start.standing.terminal;
    const HeaderNode* begun = kept && stored ? PreferKept(*kept, *stored) : nullptr;
    const HintsStanding reach = JudgeOwn(chain, full, false);
    const bool complete = stored && stored == reach.terminal && !reach.may_change;
    // Without an assumed-valid block the end of the download is undefined.
    const bool assumes = !chain.Options().assume_valid.IsNull() &&
                         (IsAsked() || kept || FetchingMayBeWorthIt(chain, options));
    const bool may_fetch = start_fetcher && (full || assumes);
    if (!complete && !(begun && kept->hints) && may_fetch) start.peers = start_fetcher();
    if (start.peers) {
        const Judging judge = [&] {
            return full ? JudgeBuried(chain) : JudgeOwn(chain, full, false);
        };
        HintsStanding there = judge();
        if (there.may_change) {
            there = WaitForOwnTerminal(std::move(there), judge, chain, options, *start.peers);
        }
        const bool lower =
            full && stored && (!there.terminal || there.terminal->height <= stored->height);
        if (!lower) start.standing = std::move(there);
        const HeaderNode* const terminal = start.standing.terminal;
        begun = kept && terminal ? PreferKept(*kept, *terminal) : nullptr;
    }
    if (!begun && !start.peers && kept && !kept->hints && reach.terminal) {
        const HeaderNode* const further = PreferKept(*kept, *reach.terminal);
        // Unfinished work determines the end of the download.
        if (further && start_fetcher) start.peers = start_fetcher();
        if (start.peers) {
            begun = start.standing.terminal = further;
        } else if (further) {
            start.standing = StandingWithoutPeers(chain, *further);
        }
    }
    if (!begun) return start;
    start.begun = true;
    start.standing.terminal = begun;
    start.hints = std::move(kept->hints);
    start.first = std::move(kept->first);
    start.pairs = kept->pairs;
    return start;
}

/** A join of fewer blocks would replace unfinished work, and leave all blocks above to the serial
 *  engine. */
HintsStanding BoosterRun::StandingWithoutPeers(const ChainManager& chain,
                                               const HeaderNode& terminal) const
{
    HintsStanding standing;
    standing.refusal = fmt::format(
        "a join up to height {} was begun, of which {}, or with -ibdbooster=0, which validates "
        "serially up to there",
        terminal.height, DescribeMissing(chain, terminal));
    if (!IsAsked()) m_log.Warning("IBD Booster: {}, as does this one", standing.refusal);
    return standing;
}

/** By the size in the network's parameters, before headers are known. */
bool BoosterRun::FetchingMayBeWorthIt(const ChainManager& chain,
                                      const BoosterOptions& options) const
{
    const HeaderNode* best = nullptr;
    {
        const ChainReader reader = chain.Read();
        best = reader.Tree().BestHeader();
    }
    const uint64_t stored = BlockPlan(*best, kNoneFolded).EstimatedBytes();
    const uint64_t all = m_params.assumed_blockchain_size_gb * 1'000'000'000;
    return IsWorthIt(options, {stored, all - std::min(all, stored)}, chain.Blocks());
}

HintsStanding BoosterRun::WaitForOwnTerminal(HintsStanding standing, const Judging& judge,
                                             const ChainManager& chain,
                                             const BoosterOptions& options, BlockFetcher& peers)
{
    m_log.Info("IBD Booster: waiting for headers: {}, before blocks are fetched",
               options.full_validation
                   ? "all must be there, and two weeks of them above the last block to fetch"
                   : "the assumed-valid block must be among them, and two weeks of them above it");
    uint64_t expected = 0;
    {
        const ChainReader reader = chain.Read();
        const HeaderNode& best = *reader.Tree().BestHeader();
        const int64_t seconds = std::max<int64_t>(m_env.UnixTime() - best.time, 0);
        expected =
            static_cast<uint64_t>(best.height + seconds / m_params.consensus.pow_target_spacing);
    }
    return WaitForHeaders(std::move(standing), judge, expected,
                          OwnSteps(JoinsValues(options), options.full_validation), chain, options,
                          peers);
}

Result<BoosterRun::Outcome> BoosterRun::RunOnOwnHints(ChainManager& chain, const BlockStore& blocks,
                                                      const BoosterOptions& options,
                                                      const StartFetcher& start_fetcher,
                                                      const std::function<void()>& begins)
{
    if (m_own_refused || !MayRun(chain.Options())) return Outcome::kSerial;
    IBD_ASSIGN_OR_RETURN(OwnStart start, PlanOwnHints(chain, options, start_fetcher));
    if (IsInterrupted()) return Outcome::kInterrupted;
    const HeaderNode* const terminal = start.standing.terminal;
    if (!terminal) {
        if (!IsAsked()) return Outcome::kSerial;
        if (options.full_validation) { // the serial engine omits nothing either
            m_log.Info("IBD Booster: {}: validating serially", start.standing.refusal);
            return Outcome::kSerial;
        }
        if (!start.peers) return BadData("{}", start.standing.refusal);
        m_log.Error("IBD Booster: the sync goes on without it: {}", start.standing.refusal);
        return Outcome::kSerial;
    }
    if (!start.begun) {
        const BlockBytes bytes = BytesUpTo(chain, *terminal);
        if (!IsAsked() && !IsWorthIt(options, bytes, blocks)) return Outcome::kSerial;
        IBD_ASSIGN_OR_RETURN(const auto* bare, FirstWithoutUndo(m_env, blocks, *terminal));
        LookForRoom(start, options, bytes, blocks);
        start.pairs = start.pairs && bare;
    }
    IBD_ASSIGN_OR_RETURN(const bool joins, MustJoinCoins(*terminal, blocks, options));
    JoinBesides besides{.values = start.values && JoinsValues(options)};
    besides.pairs = (joins && !besides.values) || KeepsPairs(options, start);
    std::vector<WorkStep> steps = OwnSteps(besides.values, joins);
    if (start.hints) steps.erase(steps.begin(), steps.begin() + (besides.values ? 3 : 2));
    Plan(std::move(steps), AmountsOf(chain, *terminal, options), options);
    begins();
    LogOwnStart(chain.Options(), options, terminal->height, besides.values || joins);
    if (!start.hints) {
        OwnHints::Made made;
        IBD_RETURN_IF_ERROR(WithBlocks(chain, *terminal, blocks, options, start.peers, besides,
                                       [&](BlockSupply& supply) -> Result<> {
                                           IBD_ASSIGN_OR_RETURN(
                                               made, Join(*terminal, supply, options, besides));
                                           return {};
                                       }));
        if (made.verdict.kind == JoinVerdict::Kind::kInterrupted) return Outcome::kInterrupted;
        if (made.verdict.kind == JoinVerdict::Kind::kNoRoom) return NoRoom(options, made.verdict);
        if (made.verdict.kind != JoinVerdict::Kind::kDone) {
            IBD_RETURN_IF_ERROR(CleanUp(options, false));
            return GiveUp(*terminal, made.verdict);
        }
        start.hints = std::move(made.hints);
        start.first = std::move(made.first);
    }
    IBD_ASSIGN_OR_RETURN(std::optional<Outcome> outcome,
                         CheckOwn(chain, *terminal, blocks, options, start, besides.values, joins));
    if (!outcome) {
        BoosterOptions fold = options;
        fold.full_validation = options.full_validation && !joins;
        IBD_ASSIGN_OR_RETURN(outcome, FoldOwnHints(*terminal, blocks, fold, *start.hints,
                                                   start.first ? &*start.first : nullptr));
    }
    if (outcome == Outcome::kBuilt && m_own_hints_proven) {
        m_own_hints_proven(*start.hints, terminal->hash);
    }
    start.hints.reset();
    if (outcome == Outcome::kInterrupted) return *outcome;
    const bool keep = m_own_options.undo != UndoWanted::kNo && outcome == Outcome::kBuilt;
    IBD_RETURN_IF_ERROR(CleanUp(options, keep));
    return *outcome;
}

/** Checks have priority over pairs, since undo data can be made later. */
void BoosterRun::LookForRoom(OwnStart& start, const BoosterOptions& options,
                             const BlockBytes& bytes, const BlockStore& blocks) const
{
    const bool pairs = MustKeepPairs(options);
    start.values =
        JoinsValues(options) &&
        (options.check_rules || HasRoom(options, bytes, blocks, {.pairs = pairs, .values = true}));
    start.pairs = HasRoom(options, bytes, blocks, {.pairs = true, .values = start.values});
}

/** If the join should have checked the rules but has no result (lost, or started without values),
 *  or found a broken rule, reads the blocks once more to check. `joins`: that is done anyway.
 *  Nothing: the chainstate may be made. */
Result<std::optional<BoosterRun::Outcome>>
BoosterRun::CheckOwn(ChainManager& chain, const HeaderNode& terminal, const BlockStore& blocks,
                     const BoosterOptions& options, const OwnStart& start, bool values, bool joins)
{
    const auto kept =
        start.first ? RulesKept(*start.first, terminal, m_params.consensus) : std::nullopt;
    if (kept == true && !options.full_validation) {
        m_log.Info("IBD Booster: all blocks up to height {} keep every rule but scripts",
                   terminal.height);
        return std::optional<Outcome>();
    }
    // A probably broken rule is always investigated.
    if (!joins && !values && kept != false) return std::optional<Outcome>();
    const bool room = joins || kept.has_value() ||
                      HasRoom(options, BytesUpTo(chain, terminal), blocks, {.pairs = true});
    if (room) return Validate(chain, terminal, blocks, options, nullptr, &start);
    WarnOfTrust(terminal.height);
    return std::optional<Outcome>();
}

/** Removes the hints and the notes of a validation, which are not needed any more. */
Result<> BoosterRun::CleanUp(const BoosterOptions& options, bool keep_pairs)
{
    IBD_RETURN_IF_ERROR(m_own.Remove(options.directory, keep_pairs));
    return RemoveFullMark(m_env, options.directory);
}

/** Removes an unfinished join for hints: the chainstate exists, made with given hints. Its pairs
 *  may serve undo data, and the fold stores its results for that beside it. */
Result<> BoosterRun::RemoveBegun(const HeaderNode& terminal, const BlockStore& blocks,
                                 const BoosterOptions& options)
{
    bool keep_pairs = false;
    if (m_own_options.undo != UndoWanted::kNo) {
        IBD_ASSIGN_OR_RETURN(const auto* bare, FirstWithoutUndo(m_env, blocks, terminal));
        keep_pairs = bare != nullptr;
    }
    return m_own.Remove(options.directory, keep_pairs);
}

Result<> BoosterRun::WithBlocks(ChainManager& chain, const HeaderNode& terminal,
                                const BlockStore& blocks, const BoosterOptions& options,
                                BlockFetcher* peers, const JoinBesides& besides,
                                const std::function<Result<>(BlockSupply&)>& work)
{
    if (!peers) {
        FileBlockSupply supply(m_env, blocks, terminal, PlanOrder::OfChain());
        return work(supply);
    }
    uint64_t rest = 0;
    const uint64_t all = static_cast<uint64_t>(terminal.height) * UsualBlockBytes(chain);
    for (const RoomNeed& need : OwnHintsRoom(options, BlocksDir(blocks), all, besides)) {
        if (m_env.SameFileSystem(need.place, BlocksDir(blocks))) rest += need.bytes;
    }
    WarnIfRoomIsShort(chain, terminal, rest);
    ChainKeeper keeper(chain);
    PeerBlockSupply supply(m_env, blocks, terminal, keeper, *peers);
    supply.SetUsualBytes(UsualBlockBytes(chain));
    {
        const Lock lock(m_mutex);
        m_supply = &supply;
    }
    const Result<> done = work(supply);
    peers->StopFetching();
    const Lock lock(m_mutex);
    m_supply = nullptr;
    return done;
}

Result<OwnHints::Made> BoosterRun::Join(const HeaderNode& terminal, BlockSupply& supply,
                                        const BoosterOptions& options, const JoinBesides& besides)
{
    {
        const Lock lock(m_mutex);
        m_progress.reset(); // of wrong hints
        m_joining = {.height = terminal.height, .hash = terminal.hash};
    }
    return m_own.Make(terminal, supply, options, besides);
}

Result<BoosterRun::Outcome> BoosterRun::FoldOwnHints(const HeaderNode& terminal,
                                                     const BlockStore& blocks,
                                                     const BoosterOptions& options,
                                                     const Hints& hints, const FirstPass* first)
{
    BoosterOptions folding = options;
    folding.remember_bad = false; // a single bit flip in memory would disable them forever
    const Result<Verdict> verdict = RunEngine(std::make_unique<SyncEngine>(
        m_env, m_log, m_params, terminal, blocks, hints, std::move(folding), first));
    {
        const Lock lock(m_mutex);
        DropEngine();
    }
    if (!verdict) return verdict.GetError();
    return Conclude(terminal, *verdict, options);
}

/** Unrequested work gives way to the serial engine, which needs no room. */
Result<BoosterRun::Outcome> BoosterRun::NoRoom(const BoosterOptions& options,
                                               const JoinVerdict& verdict)
{
    if (IsAsked() || options.full_validation || m_hints) return SystemError("{}", verdict.reason);
    m_log.Warning("IBD Booster: {}; the begun work is dropped: validating serially",
                  verdict.reason);
    IBD_RETURN_IF_ERROR(CleanUp(options, false));
    return Outcome::kSerial;
}

/** The serial engine reports the error of the chain, and needs no room. */
BoosterRun::Outcome BoosterRun::GiveUp(const HeaderNode& terminal, const JoinVerdict& verdict)
{
    const bool undecided = verdict.kind == JoinVerdict::Kind::kUndecided;
    CHECK(undecided || verdict.kind == JoinVerdict::Kind::kBlockInvalid);
    const std::string block = fmt::format("block at height {} is invalid: ", verdict.height);
    m_log.Error("IBD Booster: {}{}; {}", undecided ? "" : block, verdict.reason, FallbackText());
    const Lock lock(m_mutex);
    m_progress.emplace();
    m_progress->state = BoosterState::kRefused;
    m_progress->terminal_height = terminal.height;
    m_progress->terminal_hash = terminal.hash;
    m_progress->verdict = verdict.reason;
    return Outcome::kSerial;
}

Result<bool> BoosterRun::JoinSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                                    const BlockStore& blocks, const BoosterOptions& options)
{
    std::vector<const HeaderNode*> there;
    for (const SurveyedBlock& block : survey.Blocks()) there.push_back(block.node);
    std::sort(there.begin(), there.end());
    const auto has = [&](const HeaderNode& node) {
        return std::binary_search(there.begin(), there.end(), &node);
    };
    const int64_t now = m_env.UnixTime();
    const bool full = options.full_validation; // a new index has no undo data
    const HeaderNode* terminal = FindOwnTerminal(survey.Tree(), trust, full, now, has).terminal;
    const HintsStanding reach = FindOwnTerminal(survey.Tree(), trust, full, now, nullptr);
    // Missing blocks may come from peers, once there is an index.
    if (!terminal || terminal != reach.terminal) return false;
    IBD_ASSIGN_OR_RETURN(const auto kept, m_own.Look(options.directory));
    const HeaderNode* const begun = kept ? PreferKept(*kept, *terminal) : nullptr;
    if (begun && kept->hints) return false;
    if (begun) terminal = begun;
    ReindexSupply supply(m_env, blocks, survey, *terminal);
    IBD_RETURN_IF_ERROR(supply.Begin(kNoneFolded));
    const BlockBytes bytes{.stored = supply.BytesToFold()};
    if (!IsAsked() && !begun && !IsWorthIt(options, bytes, blocks)) return false;
    OwnStart start;
    if (begun) {
        start.begun = true;
        start.pairs = kept->pairs;
    } else {
        LookForRoom(start, options, bytes, blocks);
    }
    const JoinBesides besides{.pairs = full || KeepsPairs(options, start),
                              .values = start.values && JoinsValues(options)};
    LogOwnStart(trust, options, terminal->height, besides.values || MustCheckRules(options));
    std::vector<WorkStep> steps = OwnSteps(besides.values, full);
    steps.insert(steps.begin() + (besides.values ? 3 : 2), WorkStep::kIndex);
    Plan(std::move(steps), AmountsOf(survey, *terminal, options), options);
    IBD_ASSIGN_OR_RETURN(const auto made, Join(*terminal, supply, options, besides));
    if (made.verdict.kind == JoinVerdict::Kind::kNoRoom) { // no block was read
        m_own_refused = true;
        IBD_RETURN_IF_ERROR(NoRoom(options, made.verdict));
        return false;
    }
    if (made.verdict.kind == JoinVerdict::Kind::kBlockInvalid ||
        made.verdict.kind == JoinVerdict::Kind::kUndecided) {
        m_own_refused = true;
        IBD_RETURN_IF_ERROR(CleanUp(options, false));
        (void)GiveUp(*terminal, made.verdict);
    } else if (made.verdict.kind == JoinVerdict::Kind::kIncomplete) {
        m_log.Info("IBD Booster: not all blocks could be joined at once");
    }
    return true;
}

BoosterProgress BoosterRun::ProgressOfJoin() const
{
    BoosterProgress progress;
    progress.terminal_height = m_joining->height;
    progress.terminal_hash = m_joining->hash;
    progress.memory_bytes = m_env.ResidentBytes();
    progress.join = m_own.Progress();
    if (progress.join) progress.state = BoosterState::kJoining;
    if (m_supply) progress.download = m_supply->Progress();
    return progress;
}

} // namespace ibd
