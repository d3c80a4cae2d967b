// See coin_sorter.h.
#include "swiftsync/coin_sorter.h"

#include "swiftsync/run_merge.h"

namespace ibd {

Result<> CoinSorter::Add(ByteSpan id, uint32_t vout, ByteSpan value)
{
    if (m_coins.Add(id, vout, value)) return {};
    IBD_RETURN_IF_ERROR(Spill());
    CHECK(m_coins.Add(id, vout, value));
    return {};
}

Found<RunInfo> CoinSorter::Finish(const std::atomic<bool>& stop)
{
    IBD_RETURN_IF_ERROR(Spill());
    if (m_runs.size() > 1) {
        IBD_ASSIGN_OR_RETURN(const bool merged, Merge(stop));
        if (!merged) return std::nullopt;
    }
    return std::optional(m_runs.back());
}

Result<> CoinSorter::Sync()
{
    IBD_RETURN_IF_ERROR(m_last->Sync());
    return m_env.SyncDirectory(m_directory);
}

Result<> CoinSorter::Spill()
{
    if (m_coins.Empty() && !m_runs.empty()) return {};
    const auto number = static_cast<uint32_t>(m_runs.size());
    IBD_ASSIGN_OR_RETURN(WrittenRun run,
                         WriteRun(m_env, m_directory, number, m_id, m_coins, {}));
    m_runs.push_back(run.info);
    m_last = std::move(run.file);
    m_coins.Clear();
    return {};
}

Result<bool> CoinSorter::Merge(const std::atomic<bool>& stop)
{
    m_last.reset();
    IBD_ASSIGN_OR_RETURN(const auto runs, OpenRuns(m_env, m_directory, m_runs, m_id));
    const auto number = static_cast<uint32_t>(m_runs.size());
    IBD_ASSIGN_OR_RETURN(RunWriter writer, RunWriter::Create(m_env, m_directory, number, m_id));
    IBD_ASSIGN_OR_RETURN(auto merged, WriteMerged(std::move(writer), runs, stop));
    if (!merged) return false;
    m_runs = {merged->info};
    m_last = std::move(merged->file);
    return true;
}

} // namespace ibd
