// See join_log.h.
#include "join/join_log.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

/** While a step is filled, one may wait to be handed over, one may wait for its sync, and one may
 *  be being synced; a crash loses all four. */
constexpr uint64_t kStepsAtStake = 4;
/** Bytes between two readings of the clock, because a reading may cost more than a small block. */
constexpr uint64_t kBytesPerLook = 256 << 10;

/** Null: no spill is open. */
template <typename Collector>
SpillWriter* WriterOf(const std::optional<StepSpill<Collector>>& spill)
{
    return spill ? spill->Writer() : nullptr;
}

} // namespace

JoinLog::JoinLog(Env& env, const JoinOptions& options, JoinState state)
    : m_env(env), m_options(options), m_state(std::move(state)), m_met_before(m_state.met),
      m_records(m_state.records), m_keeps_checksums(m_state.KeepsChecksums()),
      m_aggregate(m_state.aggregate), m_salt(m_state.salt),
      m_ranges(m_state.pairs || m_state.values ? std::optional(m_state.MakingRanges())
                                               : std::nullopt),
      m_next_spill(m_state.NextSpillNumber())
{
    const size_t each = options.memory_bytes / options.threads;
    size_t gathered = 0;
    if (m_state.pairs) {
        const size_t bytes = CollectorBytes(each / 6);
        m_pairs.emplace(options.threads, [&] { return PairCollector(*m_ranges, bytes); });
        gathered += bytes * options.threads;
    }
    if (m_state.values) { // most records are of the current block, so that pages are long
        const size_t bytes = CollectorBytes(each / 48);
        m_values.emplace(options.threads, [&] { return ValueCollector(*m_ranges, bytes); });
        gathered += bytes * options.threads;
    }
    const size_t table = options.memory_bytes - std::min(gathered, options.memory_bytes / 2);
    const auto make = [&]<typename Table>(std::optional<Table>& made) {
        made.emplace(TableShape::Fit(table, m_state.partition_bits, Table::kBucketBytes),
                     !m_state.ordered);
    };
    m_state.values ? make(m_valued_table) : make(m_table);
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
    OnTable([&](auto& table) { table.SetWriter(m_writer.get()); });
    if (!m_ranges) return {};
    const SpillOwner owner = m_state.OwnerOf(m_ranges->Count());
    const auto open = [&](auto& beside) {
        return beside ? beside->Open(m_env, m_options.directory, m_next_spill++, owner)
                      : Result<>();
    };
    IBD_RETURN_IF_ERROR(open(m_pairs));
    return open(m_values);
}

std::unique_ptr<BlockAccount> JoinLog::NewAccount(size_t worker, const ConsensusParams& params)
{
    if (!m_values) return nullptr;
    return std::make_unique<BlockAccount>(params, m_values->Of(worker),
                                          m_pairs ? &m_pairs->Of(worker) : nullptr);
}

std::unique_ptr<Aggregate> JoinLog::NewSum() const
{
    return m_aggregate ? MakeAggregate(*m_aggregate, m_salt) : nullptr;
}

Result<> JoinLog::Record(size_t worker, const BlockRead& block, uint64_t bytes,
                         ShardedRecords<JoinRecord>& records, const Aggregate* sum)
{
    const auto take = [&] {
        return m_table->Take(records, m_pairs ? &m_pairs->Of(worker) : nullptr);
    };
    return RecordBy(take, block, bytes, records.Size(), sum);
}

Result<> JoinLog::Record(size_t, const BlockRead& block, uint64_t bytes,
                         ShardedRecords<ValuedRecord>& records, BlockAccount& account,
                         const Aggregate* sum)
{
    const auto take = [&] {
        const bool taken = m_valued_table->Take(records, &account);
        return account.End() && taken;
    };
    return RecordBy(take, block, bytes, records.Size(), sum);
}

/** `take`: additional work within the same step. False: writing a spill has failed. */
template <typename Take>
Result<> JoinLog::RecordBy(const Take& take, const BlockRead& block, uint64_t bytes,
                           uint64_t records, const Aggregate* sum)
{
    {
        {
            const Lock door(m_door);
        }
        const SharedLock open(m_gate);
        IBD_RETURN_IF_ERROR(FirstError()); // after an error there may be no open spill
        if (!take()) return FailToWrite();
        for (SpillWriter* writer : {m_writer.get(), WriterOf(m_pairs), WriterOf(m_values)}) {
            if (!writer) continue;
            writer->WriteGathered();
            if (writer->Pages() >= SpillWriter::kMaxPages) m_step_full = true;
        }
        const Lock lock(m_mutex);
        m_step.blocks.push_back(block);
        m_step.bytes += bytes;
        m_step.records += records;
        m_records.fetch_add(records, std::memory_order_relaxed);
        if (sum) m_step.sum->Combine(*sum);
    }
    const uint64_t before = m_step_bytes.fetch_add(bytes, std::memory_order_relaxed);
    const bool look_at_clock = before / kBytesPerLook != (before + bytes) / kBytesPerLook;
    return IsDue(look_at_clock) ? Cut(false) : Result<>();
}

/** Records why a spill could not be written, as the error of all later calls. */
Result<> JoinLog::FailToWrite()
{
    for (const SpillWriter* writer : {m_writer.get(), WriterOf(m_pairs), WriterOf(m_values)}) {
        const Result<> status = writer ? writer->Status() : Result<>();
        if (!status) Fail(status.GetError());
    }
    // Takes effect only if no writer reported an error.
    Fail(SystemError("{}: spills cannot be written", m_options.directory.string()));
    return FirstError();
}

bool JoinLog::IsDue(bool look_at_clock) const
{
    if (m_step_full || m_step_bytes >= m_options.checkpoint_bytes / kStepsAtStake) return true;
    if (!look_at_clock) return false;
    // A slow source would make many steps, and records in different steps are never matched in
    // memory.
    if (m_step_bytes < m_options.checkpoint_bytes / JoinOptions::kMostSteps) return false;
    const int64_t micros = m_env.MonotonicMicros() - m_step_began;
    return micros >= m_options.checkpoint_seconds * 1'000'000 / int64_t{kStepsAtStake};
}

/** Checks again under the lock: another thread may have cut the step meanwhile. */
Result<> JoinLog::Cut(bool last)
{
    const Lock cutting(m_cutting);
    IBD_RETURN_IF_ERROR(FirstError());
    if (!last && !IsDue(true)) return {};
    auto step = Close(last);
    if (step && m_options.background) {
        m_queue.Push(std::move(*step), 1); // waits while the previous step is still queued
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
    if (!step) Fail(step.GetError()); // before the gate opens for other threads
    return step;
}

Result<JoinLog::Step> JoinLog::CloseStep(bool last)
{
    OnTable([](auto& table) { (void)table.Flush(); }); // Finish() reports why a write failed
    IBD_ASSIGN_OR_RETURN(WrittenSpill spill, m_writer->Finish());
    const auto close = [](auto& beside) -> Found<WrittenSpill> {
        if (!beside) return std::nullopt;
        IBD_ASSIGN_OR_RETURN(WrittenSpill written, beside->Close());
        return std::optional(std::move(written));
    };
    IBD_ASSIGN_OR_RETURN(auto pairs, close(m_pairs));
    IBD_ASSIGN_OR_RETURN(auto values, close(m_values));
    if (last) {
        m_writer.reset();
        OnTable([](auto& table) { table.SetWriter(nullptr); });
    } else {
        IBD_RETURN_IF_ERROR(OpenSpill());
    }
    m_step_bytes = 0;
    m_step_full = false;
    m_step_began = m_env.MonotonicMicros();
    const Lock lock(m_mutex);
    Step step = std::exchange(m_step, Step());
    m_step.sum = NewSum();
    step.met = m_met_before;
    OnTable([&](auto& table) { step.met += 2 * table.Met(); });
    step.spill = std::move(spill);
    step.pairs = std::move(pairs);
    step.values = std::move(values);
    return step;
}

double JoinLog::UnmetShare()
{
    uint64_t met = m_met_before;
    OnTable([&](auto& table) { met += 2 * table.Met(); });
    const uint64_t records = std::max<uint64_t>(m_records, 1);
    return 1 - static_cast<double>(std::min(met, records)) / static_cast<double>(records);
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
    const auto sync = [](std::optional<WrittenSpill>& spill,
                         std::vector<SpillInfo>& list) -> Result<> {
        if (!spill) return {};
        IBD_RETURN_IF_ERROR(spill->file->Sync());
        spill->file.reset();
        list.push_back(spill->info);
        return {};
    };
    IBD_RETURN_IF_ERROR(sync(step.spill, m_state.spills));
    IBD_RETURN_IF_ERROR(sync(step.pairs, m_state.pair_spills));
    IBD_RETURN_IF_ERROR(sync(step.values, m_state.value_spills));
    // The spill's directory entry must be durable before the state names it.
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
    m_queue.Abort(); // wakes threads that wait for space
}

} // namespace ibd
