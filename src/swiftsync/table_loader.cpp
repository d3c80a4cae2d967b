// See table_loader.h.
#include "swiftsync/table_loader.h"

#include "script/coin.h"
#include "storage/chainstate_builder.h"
#include "swiftsync/coin_merge.h"
#include "util/threads.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** Ranges for each thread, so that little work is left when the first threads are done. */
constexpr unsigned kRangesPerThread = 4;
constexpr uint64_t kCountEvery = 4096;

uint64_t RunBytes(const LoadTask& task)
{
    uint64_t bytes = 0;
    for (const RunReader& run : task.runs) bytes += run.Info().size;
    return bytes;
}

/** Twice the number of cores, because half of the threads wait for a sync. Fewer if the mergers'
 *  pages would not fit in the memory, but at least two, for which LoadPhase has limited the number
 *  of runs. */
unsigned ThreadCount(const LoadTask& task, uint64_t ranges)
{
    const size_t merger = std::max<size_t>(1, task.runs.size()) * kRunPageBytes + (4 << 20);
    const size_t fit = std::max<size_t>(2, task.memory_bytes / merger);
    return static_cast<unsigned>(std::min({uint64_t{2} * task.threads, uint64_t{fit}, ranges}));
}

/** The part of a load that its threads share. */
class TableLoad {
public:
    TableLoad(const LoadTask& task, ChainstateBuilder& builder, uint64_t ranges)
        : m_task(task), m_builder(builder), m_ranges(ranges)
    {
    }

    /** Writes ranges until none is left or an error occurs; any number of threads. */
    void Work()
    {
        for (uint64_t i; (i = m_next.fetch_add(1)) < m_ranges && !ShouldStop();) {
            auto tables = WriteRange(i);
            const Lock lock(m_mutex);
            if (tables) {
                m_tables.insert(m_tables.end(), std::make_move_iterator(tables->begin()),
                                std::make_move_iterator(tables->end()));
            } else {
                m_stop = true;
                if (!m_error) m_error = tables.GetError();
            }
        }
    }

    /** After all threads ended. */
    Result<LoadReport> Finish()
    {
        const Lock lock(m_mutex);
        if (m_error) return *m_error;
        if (m_report.duplicate || m_report.interrupted) return m_report;
        CHECK(m_coins == m_task.coins);
        IBD_RETURN_IF_ERROR(m_builder.Complete(std::move(m_tables), m_task.best_block));
        m_report.coins = m_coins;
        return m_report;
    }

private:
    /** First prefix of range i; ids are uniform, so equal ranges hold about equally many coins. */
    uint64_t Start(uint64_t i) const { return std::numeric_limits<uint64_t>::max() / m_ranges * i; }

    Result<std::vector<TableFile>> WriteRange(uint64_t i)
    {
        const uint64_t last =
            i + 1 == m_ranges ? std::numeric_limits<uint64_t>::max() : Start(i + 1) - 1;
        CoinMerger merger(m_task.runs, Start(i), last);
        const auto writer = m_builder.NewWriter();
        Bytes key;
        uint64_t coins = 0; // not yet counted
        for (;; ++coins) {
            IBD_ASSIGN_OR_RETURN(const bool more, merger.Next());
            if (!more) break;
            const CoinRecord record = merger.Record();
            const ByteSpan tail = record.Key();
            if (!key.empty() && std::equal(tail.begin(), tail.end(), key.begin() + 1, key.end())) {
                SetDuplicate(record);
                break;
            }
            key.assign(1, CoinKey::kPrefix);
            Append(key, tail);
            IBD_RETURN_IF_ERROR(writer->Add(key, record.Value()));
            if (coins == kCountEvery) {
                Count(std::exchange(coins, 0));
                if (ShouldStop()) break;
            }
        }
        Count(coins);
        return writer->Finish();
    }

    bool ShouldStop()
    {
        if (!m_task.stop->load(std::memory_order_relaxed)) return m_stop;
        const Lock lock(m_mutex);
        m_report.interrupted = true;
        m_stop = true;
        return true;
    }
    void Count(uint64_t coins)
    {
        m_coins += coins;
        // Counted once at the end, so that it never decreases.
        m_task.loaded->fetch_add(coins, std::memory_order_relaxed);
    }
    void SetDuplicate(const CoinRecord& record)
    {
        const Lock lock(m_mutex);
        m_report.duplicate = DuplicateCoin(OutPointOf(record));
        m_stop = true;
    }

    const LoadTask& m_task;
    ChainstateBuilder& m_builder;
    const uint64_t m_ranges;
    std::atomic<uint64_t> m_next = 0;
    std::atomic<uint64_t> m_coins = 0;
    std::atomic<bool> m_stop = false;
    Mutex m_mutex;
    std::vector<TableFile> m_tables IBD_GUARDED_BY(m_mutex);
    LoadReport m_report IBD_GUARDED_BY(m_mutex);
    std::optional<Error> m_error IBD_GUARDED_BY(m_mutex);
};

} // namespace

Result<LoadReport> LoadByTables(Env& env, const LoadTask& task)
{
    ChainstateBuilderOptions options;
    options.chainstate = task.chainstate;
    options.obfuscate = task.obfuscate;
    IBD_ASSIGN_OR_RETURN(const auto builder, ChainstateBuilder::Create(env, options));
    const uint64_t ranges = std::clamp<uint64_t>(RunBytes(task) / task.min_range_bytes, 1,
                                                 uint64_t{kRangesPerThread} * task.threads);
    TableLoad load(task, *builder, ranges);
    const unsigned threads = ThreadCount(task, ranges);
    if (threads == 1) {
        load.Work();
    } else {
        std::vector<NamedThread> workers;
        for (unsigned i = 0; i < threads; ++i) {
            workers.emplace_back(fmt::format("booster-load{}", i), [&load] { load.Work(); });
        }
    }
    return load.Finish();
}

} // namespace ibd
