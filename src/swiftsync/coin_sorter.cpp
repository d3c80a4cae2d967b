// See coin_sorter.h.
#include "swiftsync/coin_sorter.h"

#include "swiftsync/run_merge.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

constexpr size_t kMostOfKey = CoinRecord::kHeaderSize + 32 + 5;
constexpr size_t kMemoryOfOffset = 2 * sizeof(size_t); // a vector grows to twice its contents

} // namespace

Result<> CoinSorter::Add(ByteSpan id, uint32_t vout, ByteSpan value)
{
    CHECK(id.size() == 32 && value.size() <= std::numeric_limits<uint16_t>::max());
    const size_t used = m_records.size() + kMemoryOfOffset * m_offsets.size();
    const size_t more = kMostOfKey + value.size() + kMemoryOfOffset;
    if (used + more > m_memory_bytes && !m_offsets.empty()) IBD_RETURN_IF_ERROR(Spill());
    m_records.reserve(m_memory_bytes); // address space only: pages are used as they fill
    const size_t at = m_records.size();
    m_offsets.push_back(at);
    m_records.resize(at + CoinRecord::kHeaderSize);
    Writer writer(m_records);
    writer.Raw(id);
    writer.VarInt(vout);
    WriteLE16(m_records.data() + at, static_cast<uint16_t>(value.size()));
    const size_t key_size = m_records.size() - at - CoinRecord::kHeaderSize;
    m_records[at + 2] = static_cast<uint8_t>(key_size - id.size());
    writer.Raw(value);
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
    if (m_offsets.empty() && !m_runs.empty()) return {};
    std::ranges::sort(m_offsets, [this](size_t a, size_t b) { return Compare(At(a), At(b)) < 0; });
    const auto number = static_cast<uint32_t>(m_runs.size());
    IBD_ASSIGN_OR_RETURN(RunWriter writer, RunWriter::Create(m_env, m_directory, number, m_id));
    for (const size_t offset : m_offsets) IBD_RETURN_IF_ERROR(writer.Add(At(offset)));
    IBD_ASSIGN_OR_RETURN(WrittenRun run, writer.Finish({}));
    m_runs.push_back(run.info);
    m_last = std::move(run.file);
    m_offsets.clear();
    m_records.clear();
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
