// See undo_rebuild.h.
#include "join/undo_rebuild.h"

#include "join/join_threads.h"
#include "join/undo_portions.h"

namespace ibd {

namespace {

UndoOptions Normalized(UndoOptions options)
{
    JoinOptions& join = options.join;
    join.threads = join.background ? std::max(1u, join.threads) : 1;
    join.pairs = true;
    join.leave_events = true;
    options.first_height = std::max(1, options.first_height);
    return options;
}

/** Remembers the last record that the consumer took, in case the rest must be done again. */
class Remembering final : public UndoConsumer {
public:
    Remembering(UndoConsumer& consumer, int32_t next) : m_consumer(consumer), m_next(next) {}

    /** The lowest height whose record was not taken; do not call it while other threads work. */
    int32_t Next() const { return m_next; }

    Result<> Take(const HeaderNode& node, const UndoRecord& undo) override
    {
        IBD_RETURN_IF_ERROR(m_consumer.Take(node, undo));
        m_next = node.height + 1;
        return {};
    }
    Result<> End() override { return m_consumer.End(); }

private:
    UndoConsumer& m_consumer;
    int32_t m_next;
};

} // namespace

UndoRebuild::UndoRebuild(Env& env, Logger& log, const ChainParams& params,
                         const HeaderNode& terminal, const BlockStore& store, BlockSupply& supply,
                         UndoOptions options, const std::atomic<bool>& stop)
    : m_options(Normalized(std::move(options))),
      m_job(env, log, params, terminal, m_options.join, stop), m_store(store), m_supply(supply),
      m_join(env, log, params, terminal, supply, m_options.join, stop),
      m_removal(env, m_options.join.background)
{
}

JoinProgress UndoRebuild::Progress() const
{
    return m_joined ? m_job.Progress() : m_join.Progress();
}

Result<JoinVerdict> UndoRebuild::Run(UndoConsumer& consumer)
{
    if (m_options.first_height > m_job.terminal.height) {
        // A process was killed after the last record, before it removed its files.
        IBD_RETURN_IF_ERROR(m_job.env.CreateDirectories(m_job.options.directory));
        IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(m_job.env, m_job.options.directory));
        IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, m_job.options.directory));
        return JoinVerdict{{.kind = VerdictKind::kDone, .height = m_job.terminal.height}};
    }
    Remembering remembering(consumer, m_options.first_height);
    for (bool again = false;; again = true) {
        m_joined = false;
        IBD_ASSIGN_OR_RETURN(JoinVerdict joined, m_join.Run({}));
        if (joined.kind != VerdictKind::kDone) return joined;
        m_joined = true;
        IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(m_job.env, m_job.options.directory));
        if (joined.rules_kept && m_options.checks == UndoChecks::kRules && !m_options.records) {
            if (!m_options.keep_pairs) {
                IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, m_job.options.directory));
            }
            return joined;
        }
        auto verdict = Try(remembering);
        m_options.first_height = remembering.Next();
        m_job.Enter(JoinProgress::Phase::kIdle);
        const Result<> removed = m_removal.Wait();
        if (verdict && verdict->kind == VerdictKind::kInterrupted) return verdict;
        if (!removed && verdict) return removed.GetError();
        const bool damaged = IsBadData(verdict);
        if (!verdict && !damaged) return verdict;
        IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, m_job.options.directory));
        if (verdict) {
            joined.totals.coin_bytes = verdict->totals.coin_bytes;
            verdict->totals = joined.totals;
            return verdict;
        }
        if (again) {
            return SystemError("{} does not keep written data", m_job.options.directory.string());
        }
        m_job.log.Warning("Undo: {}: starting over from the blocks", verdict.Message());
    }
}

Result<JoinVerdict> UndoRebuild::RunLast(UndoConsumer& consumer, std::optional<FoundCoins> found)
{
    constexpr int kTries = 4; // with kept or found coins, with a scan, with a join, with a new join
    IBD_RETURN_IF_ERROR(m_job.env.CreateDirectories(m_job.options.directory));
    Remembering remembering(consumer, m_options.first_height);
    bool use_kept = true;
    for (int tries = 0; tries < kTries; ++tries) {
        m_joined = true;
        const auto made = TryLast(remembering, use_kept, std::exchange(found, std::nullopt));
        m_options.first_height = remembering.Next();
        m_job.Enter(JoinProgress::Phase::kIdle);
        if (made && *made) return **made;
        if (made) {
            m_job.log.Info("Undo: an outpoint occurs more than once: the blocks are joined");
            m_joined = false;
            IBD_ASSIGN_OR_RETURN(JoinVerdict joined, m_join.Run({}));
            if (joined.kind != VerdictKind::kDone) return joined;
        } else if (IsBadData(made)) {
            m_job.log.Warning("Undo: {}: starting over from the blocks", made.Message());
        } else {
            return made.GetError();
        }
        use_kept = made.Ok();
    }
    return SystemError("{} does not keep written data", m_job.options.directory.string());
}

/** Nothing: a join is necessary. Bad data: a spill is damaged. */
Found<JoinVerdict> UndoRebuild::TryLast(UndoConsumer& consumer, bool use_kept,
                                        std::optional<FoundCoins> found)
{
    IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(m_job.env, m_job.options.directory));
    auto loaded = LoadJoinState(m_job.env, m_job.options.directory);
    IBD_RETURN_IF_SYSTEM_ERROR(loaded);
    const JoinState kept =
        loaded && *loaded ? std::move(**loaded) : JoinState(); // a damaged state is left for Run()
                                                               // to report
    const auto remove_others = [&](const std::vector<SpillInfo>& wanted) {
        return RemoveOtherSpills(m_job.env, m_job.options.directory, wanted);
    };
    use_kept = use_kept && IsUsable(kept);
    if (found && (use_kept || !Fits(*found))) found.reset();
    std::vector<SpillInfo> wanted = kept.AllSpills();
    if (found) {
        const auto& coins = found->state.coin_spills;
        wanted.insert(wanted.end(), coins.begin(), coins.end());
    }
    IBD_RETURN_IF_ERROR(remove_others(wanted)); // left by a process that was killed
    auto made = found ? WriteFound(found->state, consumer) : MakeLast(kept, use_kept, consumer);
    const Result<> removed = remove_others(kept.AllSpills());
    return made && !removed ? removed.GetError() : std::move(made);
}

/** Whether the state names the output that each input of this chain spends. */
bool UndoRebuild::IsUsable(const JoinState& kept) const
{
    return kept.SaysWhatIsSpent() && m_job.IsOfSameChain(kept);
}

/** Whether the coins are of the same blocks. */
bool UndoRebuild::Fits(const FoundCoins& found) const
{
    return found.first == static_cast<uint32_t>(m_options.first_height) &&
           m_job.IsOfSameChain(found.state);
}

Found<JoinVerdict> UndoRebuild::WriteFound(const JoinState& found, UndoConsumer& consumer)
{
    IBD_ASSIGN_OR_RETURN(const BlockPlaces places, FindPlaces());
    IBD_ASSIGN_OR_RETURN(JoinVerdict verdict, Write(found, places, consumer));
    return std::optional(std::move(verdict));
}

Found<JoinVerdict> UndoRebuild::MakeLast(const JoinState& kept, bool use_kept,
                                         UndoConsumer& consumer)
{
    m_job.fetched_bytes = 0;
    m_job.undo_blocks = 0;
    const auto first = static_cast<uint32_t>(m_options.first_height);
    IBD_ASSIGN_OR_RETURN(const BlockPlaces places, FindPlaces());
    JoinState state = kept;
    if (use_kept) {
        m_job.total_bytes = kept.bytes;
        m_job.log.Info("Undo: fetching the coins of {} MB of pairs from the blocks",
                       SizeOf(kept.pair_spills) / 1'000'000);
        const uint32_t end = kept.terminal_height + 1;
        FetchPhase fetch(m_job, m_store, places, kept);
        IBD_ASSIGN_OR_RETURN(
            auto coins,
            fetch.RunAlone({0, end}, {first, end}, kept.NextSpillNumber(), SpillUse::kPassing));
        if (!coins) return std::optional(InterruptedVerdict());
        state.coin_spills = std::move(*coins);
    } else {
        ScanPhase scan(m_job, m_supply, first, kept.NextSpillNumber());
        IBD_ASSIGN_OR_RETURN(ScanEnd end, scan.Run());
        if (end.kind == ScanEnd::Kind::kRepeated) return std::optional<JoinVerdict>();
        if (end.kind == ScanEnd::Kind::kStopped) return std::optional(InterruptedVerdict());
        state = std::move(end.state);
    }
    IBD_ASSIGN_OR_RETURN(JoinVerdict verdict, Write(state, places, consumer));
    return std::optional(std::move(verdict));
}

/** Bad data: a spill is damaged. */
Result<JoinVerdict> UndoRebuild::Try(UndoConsumer& consumer)
{
    m_job.fetched_bytes = 0;
    m_job.undo_blocks = 0;
    IBD_ASSIGN_OR_RETURN(auto state, LoadJoinState(m_job.env, m_job.options.directory));
    if (!state || state->stage == JoinStage::kReading) return BadData("the join's state is "
                                                                      "missing");
    IBD_ASSIGN_OR_RETURN(const uint32_t next_spill, RemoveUseless(*state));
    IBD_ASSIGN_OR_RETURN(const BlockPlaces places, FindPlaces());
    m_job.total_bytes = state->bytes;
    m_job.log.Info("Undo: {} blocks {} to {} from {} MB of pairs{}",
                   m_options.records ? "making that of" : "checking", m_options.first_height,
                   m_job.terminal.height, SizeOf(state->pair_spills) / 1'000'000,
                   m_options.checks == UndoChecks::kScripts ? ", checking every rule and script"
                                                            : "");
    UndoPortions portions(m_job, m_options, m_store, places, *state, next_spill, consumer);
    IBD_ASSIGN_OR_RETURN(auto broken, portions.Run());
    JoinTotals totals = TotalsOf(*state);
    totals.coin_bytes = portions.CoinBytes();
    return End(totals, std::move(broken), consumer);
}

Result<BlockPlaces> UndoRebuild::FindPlaces() const
{
    BlockPlaces places(m_job.terminal, m_options.place);
    if (const uint32_t missing = places.Missing()) {
        return SystemError("block at height {} is not in the block files: put a sound copy of "
                           "them in their place and start again",
                           missing);
    }
    return places;
}

/** Removes useless spills while the next phase works. Returns the first number for the next phase's
 *  spills; files being removed have lower numbers. */
Result<uint32_t> UndoRebuild::RemoveUseless(const JoinState& state)
{
    const Path& directory = m_job.options.directory;
    IBD_RETURN_IF_ERROR(m_removal.Wait()); // files being removed may still be listed
    IBD_ASSIGN_OR_RETURN(const auto others, OtherSpills(m_job.env, directory, state.AllSpills()));
    uint32_t next = state.NextSpillNumber();
    std::vector<Path> files;
    for (const uint32_t number : others) {
        if (number >= UndoPortions::kNearSpills) continue; // they will be overwritten
        next = std::max(next, number + 1);
        files.push_back(SpillPath(directory, number));
    }
    IBD_RETURN_IF_ERROR(m_removal.Begin(std::move(files)));
    return next;
}

/** Makes the undo data; the state has all coins that the blocks spend. */
Result<JoinVerdict> UndoRebuild::Write(const JoinState& state, const BlockPlaces& places,
                                       UndoConsumer& consumer)
{
    m_job.Enter(JoinProgress::Phase::kUndo);
    const auto first = static_cast<uint64_t>(m_options.first_height);
    const uint64_t blocks = static_cast<uint64_t>(m_job.terminal.height) + 1 - first;
    m_job.log.Info("Undo: making that of {} blocks from {} MB of coins", blocks,
                   SizeOf(state.coin_spills) / 1'000'000);
    JoinMeter meter(
        m_job,
        {.label = "Undo: writing", .unit = "blocks", .total = blocks, .step = WorkStep::kWriteUndo},
        [this] { return uint64_t{m_job.undo_blocks}; });
    UndoPhase records(m_job, m_options, m_store, places, state, consumer);
    const RangeSpan all{0, state.SpendingRanges().Count()};
    IBD_ASSIGN_OR_RETURN(auto broken, records.Run(all, state.coin_spills, meter));
    return End(TotalsOf(state), std::move(broken), consumer);
}

Result<JoinVerdict> UndoRebuild::End(const JoinTotals& totals, std::optional<BrokenRule> broken,
                                     UndoConsumer& consumer)
{
    JoinVerdict verdict{{.kind = VerdictKind::kDone, .height = m_job.terminal.height}, totals};
    if (broken) {
        verdict.kind = VerdictKind::kBlockInvalid;
        verdict.reason = std::move(broken->reason);
        verdict.height = broken->height;
    } else if (m_job.stop) {
        return InterruptedVerdict();
    }
    const Result<> ended = consumer.End();
    // Bad data would mean a damaged spill.
    if (!ended) return Error{ended.Message(), Error::Kind::kSystem};
    return verdict;
}

} // namespace ibd
