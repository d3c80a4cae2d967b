// See read_phase.h.
#include "join/read_phase.h"

#include "join/join_threads.h"
#include "util/found.h"
#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint64_t kBytesPerRecord = 110; //!< of blocks
/** Share of the work of checking spent coins that remains if all outputs met their inputs. */
constexpr double kCheckOfMet = 0.18;

uint64_t ExpectedInputs(uint64_t block_bytes) { return block_bytes / kBytesPerRecord / 2; }

/** Bytes of output, per spilled event, when the partitions of a join are joined. */
uint64_t BytesOfPartitions(const JoinState& state)
{
    const uint64_t spends = SizeOf(state.spills) / state.RecordBytes() / 2;
    return spends *
           ((state.pairs ? SpendPair::kBytes : 0) + (state.values ? ValueRecord::kCoinBytes : 0));
}

} // namespace

uint64_t ExpectedSpillBytes(uint64_t block_bytes, bool ordered)
{
    const uint64_t all = block_bytes / kBytesPerRecord * sizeof(JoinRecord);
    return ordered ? all : all / 2;
}

uint64_t ExpectedPairedBytes(uint64_t block_bytes, bool ordered)
{
    const uint64_t events = ExpectedSpillBytes(block_bytes, ordered);
    // Most coins are spent in the portion that makes them (undo_portions.h), so they are soon
    // removed.
    return ExpectedInputs(block_bytes) * SpendPair::kBytes +
           std::max(events, ExpectedCoinBytes(block_bytes) / 2);
}

uint64_t ExpectedValueBytes(uint64_t block_bytes, bool ordered)
{
    constexpr uint64_t kAccount = 11; // for each transaction; there are fewer of them than inputs
    const uint64_t inputs = ExpectedInputs(block_bytes);
    const uint64_t missing = ordered ? inputs : inputs / 2;
    return missing * (ValueRecord::kCoinBytes + kAccount) +
           ExpectedSpillBytes(block_bytes, ordered) / 2; // events are half as large again
}

uint64_t ExpectedCoinBytes(uint64_t block_bytes)
{
    constexpr uint64_t kEach = 46; // as spilled, on average
    return ExpectedInputs(block_bytes) * kEach;
}

uint64_t ExpectedUndoBytes(uint64_t block_bytes)
{
    constexpr uint64_t kEach = 36; // for each input, on average
    return ExpectedInputs(block_bytes) * kEach;
}

Result<ReadEnd> ReadPhase::Run(bool ordered, bool hints)
{
    IBD_ASSIGN_OR_RETURN(auto kept, Resume(ordered, hints));
    if (kept && kept->stage != JoinStage::kReading) return ReadEnd{.state = std::move(*kept)};
    IBD_RETURN_IF_ERROR(BeginSupply(kept));
    if (!kept) {
        IBD_ASSIGN_OR_RETURN(kept, StartNew(ordered));
    }
    std::string shortage = FindShortage(*kept);
    if (!shortage.empty())
        return ReadEnd{.state = std::move(*kept), .shortage = std::move(shortage)};
    m_job.partitions = kept->Owner().partitions;
    JoinLog log(m_job.env, m_job.options, std::move(*kept));
    IBD_ASSIGN_OR_RETURN(auto failure, ReadAll(log));
    IBD_RETURN_IF_ERROR(log.Finish());
    return ReadEnd{.state = log.State(), .failure = std::move(failure)};
}

/** The state to resume from, if it is of this join and its spills are complete; else nothing. An
 *  unreadable file (EIO, EMFILE) is an error, not damage: it is kept for a later start. */
Found<JoinState> ReadPhase::Resume(bool ordered, bool hints)
{
    const Path& directory = m_job.options.directory;
    auto loaded = LoadJoinState(m_job.env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(loaded);
    std::string unusable = loaded ? "" : loaded.Message();
    std::optional<JoinState> kept = loaded ? std::move(*loaded) : std::nullopt;
    if (kept && !Owns(*kept, ordered)) {
        unusable = "the kept work belongs to another join";
    } else if (kept && (kept->stage == JoinStage::kHinted ||
                        (hints && kept->stage != JoinStage::kReading))) {
        unusable = "the kept work has no events any more, which hints need";
    } else if (kept) {
        const Result<> opened = CheckSpills(m_job.env, directory, *kept);
        IBD_RETURN_IF_SYSTEM_ERROR(opened);
        if (!opened) unusable = opened.Message();
    }
    if (!unusable.empty()) m_job.log.Warning("Join: cannot resume: {}", unusable);
    if (!kept || !unusable.empty()) {
        IBD_RETURN_IF_ERROR(RemoveJoin(m_job.env, directory));
        return std::nullopt;
    }
    m_job.log.Info("Join: resuming: {} of {} blocks are read, {} bytes", kept->BlocksRead(),
                   kept->outputs.size(), kept->bytes);
    IBD_RETURN_IF_ERROR(RemoveOtherSpills(m_job.env, directory, kept->AllSpills()));
    m_job.resumed_bytes = kept->bytes;
    return kept;
}

bool ReadPhase::Owns(const JoinState& state, bool ordered) const
{
    return m_job.IsOfSameChain(state) && (state.ordered || !ordered) &&
           state.pairs == m_job.options.pairs &&
           state.partition_bits >= TableShape::kMinPartitionBits &&
           state.partition_bits <= TableShape::kMaxPartitionBits;
}

Result<> ReadPhase::BeginSupply(const std::optional<JoinState>& kept)
{
    IBD_RETURN_IF_ERROR(m_supply.Begin(
        [&](int32_t height) { return kept && kept->IsRead(static_cast<uint32_t>(height)); }));
    m_job.total_bytes =
        m_job.resumed_bytes + m_supply.NewEstimate().value_or(m_supply.BytesToFold());
    return {};
}

Result<JoinState> ReadPhase::StartNew(bool ordered)
{
    m_job.resumed_bytes = 0;
    JoinState fresh = m_job.NewState();
    fresh.ordered = ordered;
    // A partition should fit even if half more than expected is spilled; else it is read twice.
    const uint64_t spilled = ExpectedSpillBytes(m_supply.BytesToFold(), ordered) *
                             (m_job.options.values ? sizeof(ValuedRecord) : sizeof(JoinRecord)) /
                             sizeof(JoinRecord);
    fresh.partition_bits =
        static_cast<uint8_t>(TableShape::PartitionBits(spilled / 2 * 3, JoinBytes(m_job.options)));
    fresh.outputs.assign(size_t{fresh.terminal_height} + 1, JoinState::kNotRead);
    fresh.outputs[0] = 0; // genesis makes no coin
    fresh.pairs = m_job.options.pairs;
    fresh.values = m_job.options.values;
    fresh.aggregate = m_job.options.aggregate;
    if (fresh.aggregate) fresh.sum = MakeAggregate(*fresh.aggregate, fresh.salt)->Serialize();
    if (fresh.KeepsChecksums()) fresh.checksums.resize(fresh.outputs.size());
    IBD_RETURN_IF_ERROR(SaveJoinState(m_job.env, m_job.options.directory, fresh));
    return fresh;
}

/** Finds a shortage of disk space before hours of work; also if space has shrunk since an earlier
 *  start. */
std::string ReadPhase::FindShortage(const JoinState& state) const
{
    const uint64_t to_read = m_supply.BytesToFold();
    const uint64_t needed = (state.pairs ? ExpectedPairedBytes(to_read, state.ordered)
                                         : ExpectedSpillBytes(to_read, state.ordered)) +
                            (state.values ? ExpectedValueBytes(to_read, state.ordered) : 0) +
                            BytesOfPartitions(state);
    const auto room = m_job.env.SpaceAvailable(m_job.options.directory);
    m_job.log.Info("Join: reading {} blocks of {} MB up to height {} on {} threads; spills take "
                   "about {} MB in {}",
                   m_supply.BlocksToFold(), to_read / 1'000'000, m_job.terminal.height,
                   m_job.Threads(), needed / 1'000'000, m_job.options.directory.string());
    if (!room || *room >= needed) return {};
    return fmt::format("{} has {} MB free, but the join needs about {} MB",
                       m_job.options.directory.string(), *room / 1'000'000, needed / 1'000'000);
}

Found<FoldFailure> ReadPhase::ReadAll(JoinLog& log)
{
    for (size_t i = 0; i < m_job.Threads(); ++i) m_sources.push_back(m_supply.MakeSource());
    IBD_RETURN_IF_ERROR(log.Begin(m_sources));
    m_job.Enter(JoinProgress::Phase::kReading);
    // With events in the chain's order, repeated coinbases are judged by the time of their spend.
    const UniqueCoinbases unique = log.State().ordered ? UniqueCoinbases{} : m_job.unique;
    const JoinContext context{
        m_job.params, m_job.rules, unique, log.State().salt, log, m_job.options.connected,
        m_job.stop,
    };
    if (!m_job.options.background) {
        Work(context, 0);
        const Lock lock(m_mutex);
        return std::move(m_failure);
    }
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Join: reading",
                         .unit = "bytes",
                         .total = m_job.total_bytes,
                         .start = m_job.resumed_bytes,
                         .to = m_job.options.progress,
                         .step = WorkStep::kReadBlocks});
    const auto watch = [&] {
        ExpectBytes(meter);
        meter.Update(m_job.BytesRead(), m_supply.Detail());
        ExpectSpills(log);
        if (m_job.stop) m_supply.Stop(); // a source may be waiting for a block
    };
    RunWatched(
        "join", m_sources.size(), [&](size_t i) { Work(context, i); }, watch);
    const Lock lock(m_mutex);
    return std::move(m_failure);
}

/** The received blocks may show that the first estimate was wrong. */
void ReadPhase::ExpectBytes(ProgressMeter& meter) const
{
    const auto bytes = m_supply.NewEstimate();
    if (!bytes) return;
    const uint64_t total = m_job.resumed_bytes + *bytes;
    m_job.total_bytes = total;
    meter.SetTotal(total);
    if (OverallProgress* const overall = m_job.options.progress.overall) overall->SetBytes(total);
}

/** Records matched in memory need no work in later steps. */
void ReadPhase::ExpectSpills(JoinLog& log) const
{
    OverallProgress* const overall = m_job.options.progress.overall;
    if (!overall) return;
    const double unmet = log.UnmetShare();
    overall->Weigh(WorkStep::kJoin, unmet);
    overall->Weigh(WorkStep::kCheckRules, kCheckOfMet + (1 - kCheckOfMet) * unmet);
}

void ReadPhase::Work(const JoinContext& context, size_t number)
{
    auto failure = JoinWorker(context, number, m_job.counters[number]).Run(*m_sources[number]);
    if (!failure) return;
    m_supply.Stop(); // the other workers finish their stretch
    const Lock lock(m_mutex);
    if (!m_failure) m_failure = std::move(failure);
}

} // namespace ibd
