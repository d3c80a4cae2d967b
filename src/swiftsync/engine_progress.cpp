// How far the booster is: on the terminal, in the log, and for getboosterinfo. See engine_impl.h.
#include "swiftsync/engine_impl.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

const char* BoosterStateName(BoosterState state)
{
    switch (state) {
    case BoosterState::kIdle: return "idle";
    case BoosterState::kFolding: return "folding";
    case BoosterState::kJudging: return "judging";
    case BoosterState::kLoading: return "loading";
    case BoosterState::kPublishing: return "publishing";
    case BoosterState::kAccepted: return "accepted";
    case BoosterState::kRefused: return "refused";
    }
    return "unknown";
}

/** Shows progress until the workers are done. */
void SyncEngine::Impl::MonitorFolding()
{
    std::unique_lock lock(mutex);
    const uint64_t all_blocks = resumed_blocks + supply.BlocksToFold();
    ProgressMeter meter(env, log,
                        {.label = "Booster: folding",
                         .unit = "bytes",
                         .total = resumed.bytes + supply.EstimatedBytes(),
                         .start = resumed.bytes,
                         .terminal = options.terminal});
    const auto show = [&] {
        uint64_t done = resumed.bytes;
        for (const WorkerCounters& c : counters) {
            done += c.bytes.load(std::memory_order_relaxed);
            done += c.checked_bytes.load(std::memory_order_relaxed);
        }
        meter.Update(done, FoldDetail(all_blocks));
    };
    for (; running > 0; finished.wait_for(lock, kMonitorInterval)) {
        show();
        if (stop) supply.Stop(); // a source may be waiting for a block
    }
    show(); // they may have been done before this thread came to look
}

/** Shows progress until the chainstate is written. */
void SyncEngine::Impl::MonitorLoading(ProgressMeter& meter)
{
    const auto show = [&] {
        meter.Update(coins_loaded.load(std::memory_order_relaxed), MemoryDetail());
    };
    std::unique_lock lock(mutex);
    for (; loading; finished.wait_for(lock, kMonitorInterval)) show();
    show();
}

/** Needs the mutex. */
std::string SyncEngine::Impl::FoldDetail(uint64_t all_blocks) const
{
    uint64_t blocks_done = resumed_blocks;
    uint64_t outputs = resumed.outputs;
    for (const WorkerCounters& c : counters) {
        blocks_done += c.blocks.load(std::memory_order_relaxed);
        outputs += c.outputs.load(std::memory_order_relaxed);
    }
    return fmt::format("{} of {} blocks, {} outputs, {}", blocks_done, all_blocks, outputs,
                       MemoryDetail());
}

std::string SyncEngine::Impl::MemoryDetail() const
{
    return FormatBytes(env.ResidentBytes()) + " memory";
}

namespace {

double Rate(uint64_t done, int64_t micros)
{
    return micros > 0 ? static_cast<double>(done) * 1e6 / static_cast<double>(micros) : 0;
}

std::optional<double> SecondsLeft(uint64_t done, uint64_t total, double rate)
{
    if (rate <= 0) return std::nullopt;
    return static_cast<double>(total - std::min(done, total)) / rate;
}

} // namespace

BoosterProgress SyncEngine::Impl::Snapshot() const
{
    BoosterProgress p;
    p.state = state.load(std::memory_order_relaxed);
    p.terminal_height = terminal.height;
    p.terminal_hash = terminal.hash;
    p.aggregate = options.aggregate;
    p.full_validation = options.full_validation;
    p.hints_id = hints.Info().id;
    p.threads = options.threads;
    p.coins_expected = hints.Info().unspent;
    p.coins_loaded = coins_loaded.load(std::memory_order_relaxed);
    uint64_t fresh_bytes = 0;
    uint64_t read_bytes = 0;
    for (const WorkerCounters& c : counters) {
        p.blocks += c.blocks.load(std::memory_order_relaxed);
        p.outputs += c.outputs.load(std::memory_order_relaxed);
        p.inputs += c.inputs.load(std::memory_order_relaxed);
        p.coins += c.coins.load(std::memory_order_relaxed);
        fresh_bytes += c.bytes.load(std::memory_order_relaxed);
        read_bytes += c.checked_bytes.load(std::memory_order_relaxed);
    }
    read_bytes += fresh_bytes;
    p.memory_bytes = env.ResidentBytes();
    const int64_t now = end_micros.load() ? end_micros.load() : env.MonotonicMicros();
    if (p.state != BoosterState::kIdle) {
        p.seconds_elapsed = static_cast<double>(now - start_micros.load()) / 1e6;
    }
    const uint64_t total = total_bytes.load();
    const int64_t fold_start = fold_start_micros.load();
    const int64_t load_start = load_start_micros.load();
    if (fold_start) {
        const int64_t fold_end = load_start ? load_start : now;
        p.bytes_per_second = Rate(read_bytes, fold_end - fold_start);
    }
    if (load_start) p.coins_per_second = Rate(p.coins_loaded, now - load_start);
    if (p.state == BoosterState::kFolding) {
        p.seconds_left = SecondsLeft(read_bytes, total, p.bytes_per_second);
    } else if (p.state == BoosterState::kLoading) {
        p.seconds_left = SecondsLeft(p.coins_loaded, p.coins_expected, p.coins_per_second);
    }
    const std::lock_guard lock(mutex);
    p.blocks += resumed_blocks;
    p.resumed_blocks = resumed_blocks;
    p.outputs += resumed.outputs;
    p.inputs += resumed.inputs;
    p.coins += resumed.coins;
    p.bytes = resumed.bytes + fresh_bytes;
    p.total_bytes = resumed.bytes + total;
    p.verdict = verdict;
    if (committer) p.disk_bytes = committer->DiskBytes();
    p.disk_bytes_needed = p.coins_expected * (kRunBytesPerCoin + kTableBytesPerCoin);
    return p;
}

} // namespace ibd
