// See scan_phase.h.
#include "join/scan_phase.h"

#include "crypto/random_key.h"
#include "swiftsync/read_check.h"
#include "util/progress.h"
#include "util/watched_threads.h"

namespace ibd {

namespace {

/** Turns bad data of block files into a system error; bad data stands for a damaged spill. */
Result<> OfBlocks(const Result<>& done)
{
    return done ? done : Error{done.Message(), Error::Kind::kSystem};
}

} // namespace

/** One thread's share of a scan. It checks that the bytes are the block, as coins are found by the
 *  transaction ids of these bytes. */
Result<> ScanPhase::Work(BlockSource& source, bool careful)
{
    CoinSearch::Finder finder(m_search, m_job.Threads(), careful);
    BlockView view;
    SuppliedBlock block;
    while (!m_job.stop.load(std::memory_order_relaxed) && finder.Written()) {
        IBD_ASSIGN_OR_RETURN(const bool more, NextSound(source, block, view, careful));
        if (!more) break;
        finder.Find(view.Txs(), static_cast<uint32_t>(block.node->height));
        m_job.fetched_bytes.fetch_add(view.Raw().size(), std::memory_order_relaxed);
    }
    finder.Flush();
    return {};
}

Result<ScanEnd> ScanPhase::Run()
{
    ScanEnd end;
    m_job.Enter(JoinProgress::Phase::kFetching);
    do {
        IBD_RETURN_IF_ERROR(OfBlocks(Collect()));
        if (!m_job.stop && m_search.Wanted().Size() > 0) IBD_RETURN_IF_ERROR(OfBlocks(FindAll()));
        if (m_job.stop) return end;
        end.kind = ScanEnd::Kind::kRepeated;
        if (m_search.Wanted().Repeated()) return end;
        end.kind = ScanEnd::Kind::kStopped;
    } while (!m_search.AllAdded());
    IBD_ASSIGN_OR_RETURN(end.state, m_search.Finish());
    end.kind = ScanEnd::Kind::kDone;
    return end;
}

/** Fills the table with the remaining inputs. Checks these blocks whole, because undo data is made
 *  from them later, identified by checksums. */
Result<> ScanPhase::Collect()
{
    IBD_RETURN_IF_ERROR(m_supply.Begin([&](int32_t height) {
        const auto at = static_cast<uint32_t>(height);
        return at < m_search.First() || m_search.IsAdded(at);
    }));
    m_search.ResetTable(WantedCoins::MostInputs(m_search.Blocks()));
    const auto source = m_supply.MakeSource();
    BlockTaker taker(m_job.params, RandomKey(m_job.env).k0);
    SuppliedBlock block;
    while (!m_job.stop) {
        IBD_ASSIGN_OR_RETURN(const bool more, source->Next(block));
        if (!more) break;
        bool kept = false;
        if (const auto failure = taker.Take(*source, block, kept)) return failure->error;
        if (!kept) continue;
        const BlockView& view = taker.View();
        const auto height = static_cast<uint32_t>(block.node->height);
        if (!m_search.Add(height, view.Raw(), view.Txs())) break;
    }
    return {};
}

/** Reads all blocks and looks up the coins in the table. */
Result<> ScanPhase::FindAll()
{
    m_job.log.Info("Undo: looking for {} coins that the last {} blocks spend",
                   m_search.Wanted().Size(), m_search.Blocks());
    IBD_RETURN_IF_ERROR(Scan(false));
    auto missing = m_search.Wanted().FirstMissing();
    if (m_job.stop || m_search.Wanted().Repeated() || !missing) return {};
    // A missing coin means that a block was damaged, on the disk or while it was read.
    IBD_RETURN_IF_ERROR(Scan(true));
    missing = m_search.Wanted().FirstMissing();
    if (m_job.stop || !missing) return {};
    const auto height = static_cast<int>(JoinRecord::HeightOf(*missing));
    return SystemError("block {} at height {}: the output that its input {} spends is in no block",
                       m_job.terminal.Ancestor(height)->hash.ToHex(), height,
                       JoinRecord::IndexOf(*missing));
}

Result<> ScanPhase::Scan(bool careful)
{
    IBD_RETURN_IF_ERROR(m_supply.Begin([](int32_t) { return false; }));
    m_job.total_bytes = m_job.fetched_bytes + m_supply.EstimatedBytes();
    std::vector<std::unique_ptr<BlockSource>> sources;
    for (size_t i = 0; i < m_job.Threads(); ++i) sources.push_back(m_supply.MakeSource());
    Mutex mutex;
    Result<> status;
    const auto body = [&](size_t i) {
        const Result<> done = Work(*sources[i], careful);
        if (done) return;
        m_supply.Stop(); // the other workers finish their stretch
        const Lock lock(mutex);
        if (status) status = done;
    };
    if (!m_job.options.background) {
        body(0);
        return status;
    }
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Undo: looking for coins",
                         .unit = "bytes",
                         .total = m_job.total_bytes,
                         .start = m_job.fetched_bytes,
                         .to = m_job.options.progress,
                         .step = WorkStep::kFetchCoins});
    RunWatched("scan", sources.size(), body, [&] { meter.Update(m_job.fetched_bytes); });
    return status;
}

} // namespace ibd
