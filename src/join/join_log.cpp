// See join_log.h.
#include "join/join_log.h"

#include <algorithm>

namespace ibd {

namespace {

/** While a step is under way, one may wait until it can be handed over, another to be synced, and a
 *  fourth be at it; a crash costs all four. */
constexpr uint64_t kStepsAtStake = 4;
/** Reading the clock may cost more than a small block. */
constexpr uint64_t kBytesPerLook = 256 << 10;

} // namespace

JoinLog::JoinLog(Env& env, const JoinOptions& options, JoinState state)
    : m_env(env), m_options(options), m_state(std::move(state)), m_met_before(m_state.met),
      m_keeps_checksums(m_state.KeepsChecksums()), m_aggregate(m_state.aggregate),
      m_salt(m_state.salt),
      m_ranges(m_state.pairs ? std::optional(m_state.MakingRanges()) : std::nullopt),
      m_next_spill(m_state.NextSpillNumber())
{
    const size_t gathered = CollectorBytes(options.memory_bytes / options.threads / 8);
    for (size_t i = 0; i < options.threads && m_ranges; ++i) {
        m_pairs.push_back(std::make_unique<PairCollector>(*m_ranges, gathered));
    }
    const size_t table =
        options.memory_bytes - std::min(gathered * m_pairs.size(), options.memory_bytes / 2);
    m_table.emplace(TableShape::Fit(table, m_state.partition_bits), !m_state.ordered);
    m_step.sum = NewSum();
}

JoinLog::~JoinLog()
{
    m_queue.Abort();
    m_thread.Join();
}

Result<> JoinLog::Begin(std::span<const std::unique_ptr<BlockSource>> sources)
{
    m_sources = sources;
    IBD_RETURN_IF_ERROR(OpenSpill());
    m_step_began = m_env.MonotonicMicros();
    if (m_options.background) m_thread = NamedThread("join-commit", [this] { Work(); });
    return {};
}

Result<> JoinLog::OpenSpill()
{
    IBD_ASSIGN_OR_RETURN(
        m_writer, SpillWriter::Create(m_env, m_options.directory, m_next_spill, m_state.Owner()));
    ++m_next_spill;
    m_table->SetWriter(m_writer.get());
    return m_ranges ? OpenPairs() : Result<>();
}

Result<> JoinLog::OpenPairs()
{
    const SpillOwner owner = m_state.OwnerOf(m_ranges->Count());
    IBD_ASSIGN_OR_RETURN(m_pair_writer,
                         SpillWriter::Create(m_env, m_options.directory, m_next_spill, owner));
    ++m_next_spill;
    for (const auto& pairs : m_pairs) pairs->SetSink(m_pair_writer.get());
    return {};
}

Result<std::optional<WrittenSpill>> JoinLog::ClosePairs()
{
    if (!m_pair_writer) return std::nullopt;
    for (const auto& pairs : m_pairs) (void)pairs->Flush(); // Finish() says why not
    IBD_ASSIGN_OR_RETURN(WrittenSpill written, m_pair_writer->Finish());
    m_pair_writer.reset();
    return std::optional(std::move(written));
}

std::unique_ptr<Aggregate> JoinLog::NewSum() const
{
    return m_aggregate ? MakeAggregate(*m_aggregate, m_salt) : nullptr;
}

Result<> JoinLog::Record(size_t worker, const BlockRead& block, uint64_t bytes,
                         ShardedRecords& records, const Aggregate* sum)
{
    {
        {
            const Lock door(m_door);
        }
        const SharedLock open(m_gate);
        IBD_RETURN_IF_ERROR(FirstError()); // then there may be no spills to write to
        const uint64_t count = records.Size();
        if (!m_table->Take(records, m_pairs.empty() ? nullptr : m_pairs[worker].get())) {
            return WriteError();
        }
        for (SpillWriter* writer : {m_writer.get(), m_pair_writer.get()}) {
            if (!writer) continue;
            writer->WriteGathered();
            if (writer->Pages() >= SpillWriter::kMaxPages) m_step_full = true;
        }
        const Lock lock(m_mutex);
        m_step.blocks.push_back(block);
        m_step.bytes += bytes;
        m_step.records += count;
        if (sum) m_step.sum->Combine(*sum);
    }
    const uint64_t before = m_step_bytes.fetch_add(bytes, std::memory_order_relaxed);
    const bool look_at_clock = before / kBytesPerLook != (before + bytes) / kBytesPerLook;
    return IsDue(look_at_clock) ? Cut(false) : Result<>();
}

/** Why a spill could not be written on. */
Error JoinLog::WriteError()
{
    if (const Result<> known = FirstError(); !known) return known.GetError();
    if (const auto events = m_writer->Finish(); !events) return events.GetError();
    return m_pair_writer->Finish().GetError();
}

bool JoinLog::IsDue(bool look_at_clock) const
{
    if (m_step_full || m_step_bytes >= m_options.checkpoint_bytes / kStepsAtStake) return true;
    if (!look_at_clock) return false;
    const int64_t micros = m_env.MonotonicMicros() - m_step_began;
    return micros >= m_options.checkpoint_seconds * 1'000'000 / int64_t{kStepsAtStake};
}

/** Whoever comes second while a step is being cut finds that none is due any more. */
Result<> JoinLog::Cut(bool last)
{
    const Lock cutting(m_cutting);
    IBD_RETURN_IF_ERROR(FirstError());
    if (!last && !IsDue(true)) return {};
    auto step = Close(last);
    if (step && m_options.background) {
        m_queue.Push(std::move(*step), 1); // waits while the one before is not yet begun
        return {};
    }
    Result<> done = step ? Commit(std::move(*step)) : Result<>(step.GetError());
    if (!done) Fail(done.GetError());
    return done;
}

Result<JoinLog::Step> JoinLog::Close(bool last)
{
    const Lock door(m_door);
    const Lock closed(m_gate);
    auto step = CloseStep(last);
    if (!step) Fail(step.GetError()); // before others come through the gate
    return step;
}

Result<JoinLog::Step> JoinLog::CloseStep(bool last)
{
    (void)m_table->Flush(); // Finish() says why not
    IBD_ASSIGN_OR_RETURN(WrittenSpill spill, m_writer->Finish());
    IBD_ASSIGN_OR_RETURN(auto pairs, ClosePairs());
    if (last) {
        m_writer.reset();
        m_table->SetWriter(nullptr);
    } else {
        IBD_RETURN_IF_ERROR(OpenSpill());
    }
    m_step_bytes = 0;
    m_step_full = false;
    m_step_began = m_env.MonotonicMicros();
    const Lock lock(m_mutex);
    Step step = std::exchange(m_step, Step());
    m_step.sum = NewSum();
    step.met = m_met_before + 2 * m_table->Met();
    step.spill = std::move(spill);
    step.pairs = std::move(pairs);
    return step;
}

void JoinLog::Work()
{
    while (auto step = m_queue.Pop()) {
        const Result<> done = Commit(std::move(*step));
        if (!done) return Fail(done.GetError());
    }
}

Result<> JoinLog::Commit(Step step)
{
    if (step.blocks.empty()) return {};
    for (const auto& source : m_sources) IBD_RETURN_IF_ERROR(source->Sync());
    IBD_RETURN_IF_ERROR(step.spill.file->Sync());
    step.spill.file.reset();
    if (step.pairs) {
        IBD_RETURN_IF_ERROR(step.pairs->file->Sync());
        step.pairs->file.reset();
        m_state.pair_spills.push_back(step.pairs->info);
    }
    // The name too must be durable before the state says it.
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_options.directory));
    for (const BlockRead& block : step.blocks) {
        CHECK(!m_state.IsRead(block.height));
        m_state.outputs[block.height] = block.outputs;
        if (m_keeps_checksums) m_state.checksums[block.height] = block.checksum;
    }
    m_state.bytes += step.bytes;
    m_state.records += step.records;
    m_state.met = step.met;
    if (step.sum) {
        CHECK(step.sum->Kind() == *m_aggregate);
        const auto before = NewSum();
        CHECK(before->Load(m_state.sum).Ok());
        step.sum->Combine(*before);
        m_state.sum = step.sum->Serialize();
    }
    m_state.spills.push_back(step.spill.info);
    return SaveJoinState(m_env, m_options.directory, m_state);
}

Result<> JoinLog::Finish()
{
    const Result<> cut = Cut(true);
    m_queue.Close();
    m_thread.Join();
    IBD_RETURN_IF_ERROR(FirstError());
    return cut;
}

Result<> JoinLog::FirstError() const
{
    const Lock lock(m_mutex);
    return m_error ? Result<>(*m_error) : Result<>();
}

void JoinLog::Fail(const Error& error)
{
    {
        const Lock lock(m_mutex);
        if (!m_error) m_error = error;
    }
    m_queue.Abort(); // nobody is to wait for room
}

} // namespace ibd
