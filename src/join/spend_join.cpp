// See spend_join.h.
#include "join/spend_join.h"

#include "script/coin.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

/** The transaction that has input number `input` of the block. */
const TxView& SpenderOf(const BlockView& block, size_t input)
{
    for (const TxView& tx : block.Txs()) {
        if (input < tx.inputs.size()) return tx;
        input -= tx.inputs.size();
    }
    return block.Txs().front();
}

/** The output with this number, as hints count. */
OutPoint OutputAt(const BlockView& block, uint32_t index)
{
    for (const TxView& tx : block.Txs()) {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            if (index-- == 0) return {tx.txid, i};
        }
    }
    return {};
}

std::string DescribeIn(const BlockView& block, const JoinRecord& problem)
{
    if (problem.Kind() != JoinKind::kSpent) {
        const OutPoint made = OutputAt(block, problem.Index());
        return fmt::format("bad-txns-BIP30, {}:{} is made while another of this name is unspent",
                           made.txid.ToHex(), made.vout);
    }
    const OutPoint spent = block.Inputs()[problem.Index()].Prevout();
    return fmt::format("bad-txns-inputs-missingorspent, {} spends {}:{}, which is not there or was "
                       "spent before",
                       SpenderOf(block, problem.Index()).txid.ToHex(), spent.txid.ToHex(),
                       spent.vout);
}

/** Fails if the file cannot be opened for writing. */
Result<> OpenToWrite(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const auto file, env.OpenWrite(path, true));
    return {};
}

JoinOptions Normalized(JoinOptions options)
{
    options.threads = options.background ? std::max(1u, options.threads) : 1;
    return options;
}

} // namespace

SpendJoin::SpendJoin(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                     BlockSupply& supply, JoinOptions options, const std::atomic<bool>& stop)
    : m_job(env, log, params, terminal, Normalized(std::move(options)), stop), m_supply(supply)
{
    CHECK(terminal.height >= 1 && static_cast<uint32_t>(terminal.height) <= JoinRecord::kMaxHeight);
}

JoinProgress SpendJoin::Progress() const { return m_job.Progress(); }

Result<JoinVerdict> SpendJoin::Run(const MakeHintsWriter& make_writer, const Publish& publish)
{
    IBD_RETURN_IF_ERROR(m_job.env.CreateDirectories(m_job.options.directory));
    IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(m_job.env, m_job.options.directory));
    bool ordered = false;
    for (bool damaged = false;;) {
        IBD_ASSIGN_OR_RETURN(Outcome outcome, Try(make_writer, publish, ordered));
        if (outcome.damaged) {
            if (std::exchange(damaged, true)) {
                return SystemError("{} does not keep written data",
                                   m_job.options.directory.string());
            }
            m_job.log.Warning("Join: starting over from the blocks");
        } else if (!outcome.problem) {
            return Conclude(std::move(outcome.verdict));
        } else if (outcome.ordered) {
            return Refuse(*outcome.problem);
        } else {
            m_job.log.Warning("Join: an outpoint occurs more than once, or a block is invalid: "
                              "starting over with all events in the order of the chain");
            ordered = true;
        }
        IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, m_job.options.directory));
    }
}

Result<SpendJoin::Outcome> SpendJoin::Try(const MakeHintsWriter& make_writer,
                                          const Publish& publish, bool ordered)
{
    const auto hints = static_cast<bool>(make_writer);
    for (JoinCounters& counters : m_job.counters) counters.blocks = counters.bytes = 0;
    m_job.joined = 0;
    IBD_ASSIGN_OR_RETURN(ReadEnd read, ReadPhase(m_job, m_supply).Run(ordered, hints));
    if (read.failure && read.failure->kind == FoldFailure::Kind::kMachine) {
        return read.failure->error;
    }
    if (!read.shortage.empty()) {
        if (read.state.ordered) return Undecided(read.shortage);
        return Outcome{.verdict = {{.kind = VerdictKind::kNoRoom, .reason = read.shortage}}};
    }
    const bool all = read.state.BlocksRead() == read.state.outputs.size();
    if (read.failure || !all) return Early(read);
    if (read.state.stage == JoinStage::kReading) return Join(read.state, make_writer, publish);
    Outcome outcome;
    outcome.verdict = Done(read.state);
    return outcome;
}

JoinVerdict SpendJoin::Done(const JoinState& state) const
{
    JoinVerdict verdict;
    verdict.kind = VerdictKind::kDone;
    verdict.height = m_job.terminal.height;
    verdict.totals = TotalsOf(state);
    verdict.rules_kept = state.rules_kept.value_or(false);
    return verdict;
}

/** The result when not all blocks were read. */
SpendJoin::Outcome SpendJoin::Early(const ReadEnd& end) const
{
    using Kind = VerdictKind;
    if (end.failure) {
        return {.verdict = {{.kind = Kind::kBlockInvalid,
                             .reason = end.failure->error.message,
                             .height = end.failure->height}}};
    }
    if (m_job.stop) return {.verdict = InterruptedVerdict()};
    return {.verdict = {{.kind = Kind::kIncomplete, .reason = "blocks are missing"}}};
}

/** The verdict when disk or memory is too small. */
SpendJoin::Outcome SpendJoin::Undecided(const std::string& want)
{
    return {.verdict = {{.kind = VerdictKind::kUndecided,
                         .reason = fmt::format("an outpoint occurs more than once, or a block is "
                                               "invalid; {} to find out in which block",
                                               want)}}};
}

Result<SpendJoin::Outcome> SpendJoin::Join(JoinState& state, const MakeHintsWriter& make_writer,
                                           const Publish& publish)
{
    Outcome outcome;
    outcome.ordered = state.ordered;
    const auto end = HintsPhase(m_job, state).Run(make_writer);
    IBD_RETURN_IF_SYSTEM_ERROR(end);
    if (!end) {
        m_job.log.Warning("Join: {}", end.Message());
        outcome.damaged = true;
        return outcome;
    }
    if (end->interrupted) return Outcome{.verdict = InterruptedVerdict()};
    if (end->crowded) {
        return Undecided("one occurs more often than there is memory (-ibdboostermem)");
    }
    outcome.problem = end->problem;
    if (state.values && !end->problem) {
        state.rules_kept = end->rules_kept;
        // Before hints exist: their presence implies that this state is saved.
        IBD_RETURN_IF_ERROR(SaveJoinState(m_job.env, m_job.options.directory, state));
    }
    outcome.verdict = Done(state);
    outcome.verdict.totals.unspent = end->unspent;
    outcome.verdict.totals.pair_bytes = SizeOf(state.pair_spills) + SizeOf(end->pairs);
    outcome.verdict.totals.value_bytes = SizeOf(state.value_spills) + SizeOf(end->values);
    if (!state.pairs || end->problem) return outcome;
    if (publish) IBD_RETURN_IF_ERROR(publish());
    IBD_RETURN_IF_ERROR(KeepPairs(state, end->pairs));
    return outcome;
}

/** Keeps the pairs and removes the events, which are no longer needed. */
Result<> SpendJoin::KeepPairs(JoinState& state, std::span<const SpillInfo> found)
{
    state.pair_spills.insert(state.pair_spills.end(), found.begin(), found.end());
    state.spills.clear();
    state.value_spills.clear();
    state.stage = JoinStage::kPaired;
    const auto save = m_job.options.leave_events ? SaveJoinState : SaveStage;
    return save(m_job.env, m_job.options.directory, state);
}

Result<JoinVerdict> SpendJoin::Refuse(const JoinRecord& problem)
{
    IBD_ASSIGN_OR_RETURN(std::string what, Describe(problem));
    return Conclude({{.kind = VerdictKind::kBlockInvalid,
                      .reason = std::move(what),
                      .height = static_cast<int32_t>(problem.Height())}});
}

/** Reads the block once more, because records identify outpoints by hashes only. */
Result<std::string> SpendJoin::Describe(const JoinRecord& problem)
{
    const auto height = static_cast<int32_t>(problem.Height());
    const HeaderNode& node = *m_job.terminal.Ancestor(height);
    const std::string where = fmt::format("block {} at height {}: ", node.hash.ToHex(), height);
    IBD_RETURN_IF_ERROR(m_supply.Begin([&](int32_t other) { return other != height; }));
    const auto source = m_supply.MakeSource();
    BlockTaker taker(m_job.params, 0);
    SuppliedBlock block;
    while (true) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more || m_job.stop) return where + "bad-txns-inputs-missingorspent";
        if (!block.fold) continue;
        bool kept = false;
        if (const auto failure = taker.Take(*source, block, kept)) return failure->error;
        if (kept && block.node == &node) return where + DescribeIn(taker.View(), problem);
    }
}

/** Leaves only files that the next join, or a rebuild of undo data, can use. */
Result<JoinVerdict> SpendJoin::Conclude(JoinVerdict verdict)
{
    using Kind = VerdictKind;
    m_job.Enter(JoinProgress::Phase::kIdle);
    const bool keep =
        verdict.kind == Kind::kInterrupted || verdict.kind == Kind::kIncomplete ||
        verdict.kind == Kind::kNoRoom ||
        (verdict.kind == Kind::kDone && (m_job.options.pairs || m_job.options.aggregate));
    if (!keep) IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, m_job.options.directory));
    return verdict;
}

Result<GeneratedHints> GenerateHints(Env& env, Logger& log, const ChainParams& params,
                                     const HeaderNode& terminal, BlockSupply& supply,
                                     const JoinOptions& options, const std::atomic<bool>& stop,
                                     const Path& path, HintsFormat format,
                                     const JoinObserver& observer)
{
    CHECK(CountingOf(format) == HintsCounting::kSpendable && FirstHeight(format) == 1);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (there) return SystemError("{} exists already and is not overwritten", path.string());
    Path incomplete = path;
    incomplete += ".incomplete";
    // Only the last step needs it, but a failure must show before hours of work.
    IBD_RETURN_IF_ERROR(OpenToWrite(env, incomplete));
    const HintsTarget target{format, params.magic, static_cast<uint32_t>(terminal.height)};
    const auto make_writer = [&] { return StartHintsFile(env, incomplete, target); };
    GeneratedHints made;
    const auto publish = [&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(incomplete));
        IBD_ASSIGN_OR_RETURN(made.file_size, file->Size());
        IBD_RETURN_IF_ERROR(env.Rename(incomplete, path));
        return env.SyncDirectory(FolderOf(path));
    };
    SpendJoin join(env, log, params, terminal, supply, options, stop);
    if (observer) observer(&join);
    auto verdict = join.Run(make_writer, publish);
    if (observer) observer(nullptr);
    IBD_ASSIGN_OR_RETURN(made.verdict, std::move(verdict));
    if (made.verdict.kind != VerdictKind::kDone) {
        IBD_RETURN_IF_ERROR(env.Remove(incomplete));
        return made;
    }
    if (!options.pairs) IBD_RETURN_IF_ERROR(publish()); // with pairs Run() has called it
    if (options.aggregate && !options.pairs) { // with pairs there are no other spills by now
        IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(env, options.directory));
        IBD_ASSIGN_OR_RETURN(auto state, LoadJoinState(env, options.directory));
        if (state) IBD_RETURN_IF_ERROR(KeepFirstPass(env, options.directory, std::move(*state)));
    }
    const JoinTotals& totals = made.verdict.totals;
    log.Info("Join: hints of {} outputs, {} unspent, at block {} (height {}) are in {}",
             totals.outputs, totals.unspent, terminal.hash.ToHex(), terminal.height, path.string());
    return made;
}

} // namespace ibd
