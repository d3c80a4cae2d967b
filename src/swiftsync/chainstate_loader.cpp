// The reference loader, and the code that both loaders share. See chainstate_loader.h.
#include "swiftsync/chainstate_loader.h"

#include "storage/chainstate_builder.h"
#include "storage/coins_db.h"
#include "swiftsync/coin_merge.h"
#include "swiftsync/table_loader.h"

#include <limits>

namespace ibd {

namespace {

/** Writes all records through the database's own interface. */
Result<LoadReport> PutAll(const LoadTask& task, CoinsDb& db)
{
    CoinMerger merger(task.runs, 0, std::numeric_limits<uint64_t>::max());
    IBD_ASSIGN_OR_RETURN(CoinsWriter writer, db.StartWrite(task.best_block));
    LoadReport report;
    OutPoint previous;
    for (;; ++report.coins) {
        IBD_ASSIGN_OR_RETURN(const bool more, merger.Next());
        if (!more) break;
        const OutPoint outpoint = OutPointOf(merger.Record());
        if (report.coins > 0 && outpoint == previous) {
            report.duplicate = DuplicateCoin(outpoint);
            return report;
        }
        previous = outpoint;
        writer.PutRaw(outpoint, merger.Record().Value());
        if (report.coins % 4096) continue;
        IBD_RETURN_IF_ERROR(writer.Status());
        task.loaded->store(report.coins, std::memory_order_relaxed);
        report.interrupted = task.stop->load(std::memory_order_relaxed);
        if (report.interrupted) return report;
    }
    CHECK(report.coins == task.coins);
    IBD_RETURN_IF_ERROR(writer.Commit());
    task.loaded->store(report.coins, std::memory_order_relaxed);
    return report;
}

/** Builds under another name, because a LevelDB directory looks complete from its first moment. */
Result<LoadReport> LoadByBatches(Env& env, Logger& log, const LoadTask& task)
{
    CoinsDbOptions options;
    options.directory = WorkFolder(task.chainstate).Batch();
    options.cache_bytes = task.memory_bytes / 2;
    options.batch_bytes = task.memory_bytes / 4;
    options.obfuscate = task.obfuscate;
    options.wipe = true;
    LoadReport report;
    {
        IBD_ASSIGN_OR_RETURN(const auto db, CoinsDb::Open(env, log, options));
        IBD_ASSIGN_OR_RETURN(report, PutAll(task, *db));
    }
    if (report.duplicate || report.interrupted) return report;
    // Opening moves the database's log into a synced table, so that no write is pending afterwards.
    options.wipe = false;
    {
        IBD_ASSIGN_OR_RETURN(const auto db, CoinsDb::Open(env, log, options));
    }
    IBD_RETURN_IF_ERROR(env.SyncDirectory(options.directory));
    IBD_RETURN_IF_ERROR(env.Rename(options.directory, WorkFolder(task.chainstate).New()));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(options.directory.parent_path()));
    return report;
}

} // namespace

Result<LoadReport> LoadChainstate(Env& env, Logger& log, const LoadTask& task)
{
    const WorkFolder work(task.chainstate);
    IBD_RETURN_IF_ERROR(work.Make(env));
    IBD_RETURN_IF_ERROR(work.RemoveNew(env));
    IBD_RETURN_IF_ERROR(env.RemoveAll(work.Batch()));
    IBD_ASSIGN_OR_RETURN(const LoadReport report, task.kind == LoaderKind::kTable
                                                      ? LoadByTables(env, task)
                                                      : LoadByBatches(env, log, task));
    if (report.duplicate || report.interrupted) IBD_RETURN_IF_ERROR(work.Remove(env));
    return report;
}

} // namespace ibd
