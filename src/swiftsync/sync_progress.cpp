// See sync_progress.h.
#include "swiftsync/sync_progress.h"

#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

double Rate(uint64_t done, int64_t micros)
{
    return micros > 0 ? static_cast<double>(done) * 1e6 / static_cast<double>(micros) : 0;
}

} // namespace

void SyncProgress::BeginTry()
{
    SetState(FoldState::kFolding);
    m_load_micros = 0;
    for (WorkerCounters& c : m_workers) {
        for (auto* n : {&c.blocks, &c.outputs, &c.inputs, &c.bytes, &c.checked_bytes, &c.coins}) {
            n->store(0);
        }
    }
}

void SyncProgress::Resume(const FoldTotals& totals, uint64_t blocks)
{
    const Lock lock(m_mutex);
    m_resumed = totals;
    m_resumed_blocks = blocks;
}

void SyncProgress::BeginFold(uint64_t bytes)
{
    m_total_bytes = bytes;
    m_fold_micros = m_job.env.MonotonicMicros();
}

void SyncProgress::BeginLoad()
{
    m_coins_loaded = 0;
    m_load_micros = m_job.env.MonotonicMicros();
}

void SyncProgress::Conclude(FoldState state, std::string verdict)
{
    m_end_micros = m_job.env.MonotonicMicros();
    SetState(state);
    const Lock lock(m_mutex);
    m_verdict = std::move(verdict);
}

uint64_t SyncProgress::Sum(std::atomic<uint64_t> WorkerCounters::*counter) const
{
    uint64_t sum = 0;
    for (const WorkerCounters& c : m_workers) sum += (c.*counter).load(std::memory_order_relaxed);
    return sum;
}

uint64_t SyncProgress::ResumedBytes() const
{
    const Lock lock(m_mutex);
    return m_resumed.bytes;
}

uint64_t SyncProgress::ResumedBlocks() const
{
    const Lock lock(m_mutex);
    return m_resumed_blocks;
}

uint64_t SyncProgress::BytesDone() const
{
    return ResumedBytes() + Sum(&WorkerCounters::bytes) + Sum(&WorkerCounters::checked_bytes);
}

std::string SyncProgress::FoldDetail(uint64_t all_blocks) const
{
    const FoldProgress now = Snapshot();
    return fmt::format("{} of {} blocks, {} outputs, {}", now.blocks, all_blocks, now.outputs,
                       MemoryDetail());
}

std::string SyncProgress::MemoryDetail() const
{
    return FormatBytes(m_job.env.ResidentBytes()) + " memory";
}

void SyncProgress::AddRates(FoldProgress& to, uint64_t read_bytes) const
{
    const int64_t end = m_end_micros.load();
    const int64_t now = end ? end : m_job.env.MonotonicMicros();
    if (to.state != FoldState::kIdle) {
        to.seconds_elapsed = static_cast<double>(now - m_start_micros.load()) / 1e6;
    }
    const int64_t fold_start = m_fold_micros.load();
    const int64_t load_start = m_load_micros.load();
    if (fold_start) {
        to.bytes_per_second = Rate(read_bytes, (load_start ? load_start : now) - fold_start);
    }
    if (load_start) to.coins_per_second = Rate(to.coins_loaded, now - load_start);
}

FoldProgress SyncProgress::Snapshot() const
{
    const HintsInfo& hints = m_job.hints.Info();
    FoldProgress p;
    p.state = m_state.load(std::memory_order_relaxed);
    p.terminal_height = m_job.terminal.height;
    p.terminal_hash = m_job.terminal.hash;
    p.aggregate = m_job.options.aggregate;
    p.full_validation = m_job.options.full_validation;
    p.hints_id = hints.id;
    p.threads = m_job.options.threads;
    p.coins_expected = hints.unspent;
    p.coins_loaded = m_coins_loaded.load(std::memory_order_relaxed);
    p.memory_bytes = m_job.env.ResidentBytes();
    p.disk_bytes = m_disk_bytes.load(std::memory_order_relaxed);
    p.disk_bytes_needed = p.coins_expected * (kRunBytesPerCoin + kTableBytesPerCoin);
    const uint64_t fresh_bytes = Sum(&WorkerCounters::bytes);
    AddRates(p, fresh_bytes + Sum(&WorkerCounters::checked_bytes));
    const Lock lock(m_mutex);
    p.resumed_blocks = m_resumed_blocks;
    p.blocks = m_resumed_blocks + Sum(&WorkerCounters::blocks);
    p.outputs = m_resumed.outputs + Sum(&WorkerCounters::outputs);
    p.inputs = m_resumed.inputs + Sum(&WorkerCounters::inputs);
    p.coins = m_resumed.coins + Sum(&WorkerCounters::coins);
    p.bytes = m_resumed.bytes + fresh_bytes;
    p.total_bytes = m_resumed.bytes + m_total_bytes.load();
    p.verdict = m_verdict;
    return p;
}

} // namespace ibd
