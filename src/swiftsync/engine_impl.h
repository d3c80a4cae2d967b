// The booster's inner state, shared by the three parts of its work: engine.cpp folds, from
// checkpoint to the last block; engine_conclude.cpp judges, loads and publishes;
// engine_progress.cpp tells how far it is. Owned by SyncEngine. One thread runs it; Snapshot and
// `stop` may be used from any.
#pragma once

#include "storage/chainstate_builder.h"
#include "swiftsync/chainstate_loader.h"
#include "swiftsync/engine.h"
#include "swiftsync/file_block_source.h"
#include "swiftsync/fold_worker.h"
#include "util/progress.h"

#include <condition_variable>

namespace ibd {

/** A usual coin in a run and in a table. */
constexpr uint64_t kRunBytesPerCoin = 64;
constexpr uint64_t kTableBytesPerCoin = 70;
/** How often progress is shown while others work. */
constexpr auto kMonitorInterval = std::chrono::milliseconds(500);

struct SyncEngine::Impl {
    /** Full validation is not bound by the disk; short stretches keep all threads busy to the
     *  end. */
    static constexpr uint64_t kFullStretchBytes = 512 << 10;

    /** `s`: null for the stored blocks that the index names. */
    Impl(Env& e, Logger& l, const ChainParams& p, const HeaderNode& t, const BlockStore& b,
         BlockSupply* s, const Hints& h, BoosterOptions o)
        : env(e), log(l), params(p), terminal(t), blocks(b),
          stored(e, b, t, o.full_validation ? kFullStretchBytes : BlockPlan::kStretchBytes),
          supply(s ? *s : stored), hints(h), options(std::move(o)),
          counters(std::max(1u, options.threads))
    {
        options.threads = static_cast<unsigned>(counters.size());
        CHECK(hints.Info().terminal_height == static_cast<uint32_t>(terminal.height));
        CHECK(terminal.height >= 1);
    }

    /** What a try ended with; `restart` when the disk holds damaged runs. */
    struct Outcome {
        Verdict verdict;
        bool restart = false;
    };

    Result<Verdict> Run();
    Result<Outcome> RunOnce();
    Result<Outcome> FoldAndConclude(Committer& at_work);
    Result<Outcome> GiveUp(const FoldFailure& why);
    Result<std::optional<Verdict>> FinishPublished();
    Result<> CheckReplaceable();
    void WarnIfDiskIsSmall();
    Result<Checkpoint> Resume();
    Result<> OpenRunsOf(const Checkpoint& state);
    size_t MostRuns() const;
    bool BelongsHere(const Checkpoint& state) const;
    Result<Checkpoint> StartNew();
    Result<std::optional<FoldFailure>> FoldAll(Committer& committer, const FoldRules& rules);
    std::optional<FoldFailure> RunWorkers(const FoldContext& context);
    void MonitorFolding();
    void MonitorLoading(ProgressMeter& meter);
    std::string FoldDetail(uint64_t all_blocks) const;
    std::string MemoryDetail() const;
    Result<Outcome> Conclude(const Committer& committer);
    Result<std::optional<std::string>> Judge(const Committer& committer);
    Result<> LimitRuns(Checkpoint accepted);
    Result<Outcome> Load(const Checkpoint& accepted);
    Result<LoadReport> LoadAndShow(const LoadTask& task);
    Result<> Publish(Checkpoint done);
    enum class Memory { kRemember, kForget };
    /** Of hints that lead to a wrong whole: undo data may be at fault and may be made anew; then
     *  the same hints deserve another try. */
    Memory MemoryOfTotals() const
    {
        return options.full_validation ? Memory::kForget : Memory::kRemember;
    }
    Result<Verdict> Refuse(std::string reason, Memory memory = Memory::kRemember);
    void SetVerdict(BoosterState final_state, std::string text);
    Result<Verdict> RefuseWithoutUndo(const std::string& reason, int32_t height);
    Verdict Accepted(uint64_t coins);
    std::optional<BlockHash> HashAt(int height) const;
    FoldRules Rules() const;
    UniqueCoinbases Unique() const;
    Uint256 RulesId() const { return FoldRulesId(Rules(), Unique().below, params.consensus); }
    void SetState(BoosterState s) { state.store(s, std::memory_order_relaxed); }
    BoosterProgress Snapshot() const;

    Env& env;
    Logger& log;
    const ChainParams& params;
    const HeaderNode& terminal;
    const BlockStore& blocks; //!< for undo data
    FileBlockSupply stored;
    BlockSupply& supply;
    std::vector<std::unique_ptr<BlockSource>> sources; //!< by worker; until all is durable
    const Hints& hints;
    BoosterOptions options;

    std::atomic<bool> stop = false;
    std::atomic<BoosterState> state = BoosterState::kIdle;
    std::vector<WorkerCounters> counters;
    std::atomic<uint64_t> coins_loaded = 0;
    std::atomic<uint64_t> total_bytes = 0; //!< still to read when this run started
    std::atomic<int64_t> start_micros = 0;
    std::atomic<int64_t> fold_start_micros = 0;
    std::atomic<int64_t> load_start_micros = 0; //!< 0 while folding
    std::atomic<int64_t> end_micros = 0;        //!< 0 while at work
    std::vector<RunReader> runs;

    mutable std::mutex mutex;
    std::condition_variable finished;     //!< a worker, or loading, ended
    size_t running = 0;                   //!< workers; guarded by mutex
    bool loading = false;                 //!< guarded by mutex
    FoldTotals resumed;                   //!< guarded by mutex
    uint64_t resumed_blocks = 0;          //!< guarded by mutex
    std::string verdict;                  //!< guarded by mutex
    const Committer* committer = nullptr; //!< guarded by mutex, for its disk use
};

} // namespace ibd
