// See spill_series.h.
#include "join/spill_series.h"

namespace ibd {

bool SpillSeries::Add(uint32_t partition, ByteSpan records)
{
    auto writer = Take();
    if (!writer) return false;
    const bool added = writer->Add(partition, records);
    if (added) writer->WriteGathered(); // its errors show in the next Add()
    return PutBack(std::move(writer), added);
}

/** Takes a writer that no other thread uses; null after an error. */
std::unique_ptr<SpillWriter> SpillSeries::Take()
{
    const Lock lock(m_mutex);
    if (!m_status) return nullptr;
    if (!m_idle.empty()) {
        auto writer = std::move(m_idle.back());
        m_idle.pop_back();
        return writer;
    }
    auto made = SpillWriter::Create(m_env, m_directory, m_next_number, m_owner, m_use);
    if (!made) {
        m_status = made.GetError();
        return nullptr;
    }
    ++m_next_number;
    return std::move(*made);
}

/** Returns a writer to the idle ones, or completes it. False after an error. */
bool SpillSeries::PutBack(std::unique_ptr<SpillWriter> writer, bool added)
{
    const bool going_on = added && writer->Pages() < m_most_pages;
    if (!going_on) Retire(*writer);
    const Lock lock(m_mutex);
    if (going_on) m_idle.push_back(std::move(writer));
    return m_status.Ok();
}

void SpillSeries::Retire(SpillWriter& writer)
{
    auto written = writer.Finish();
    const Lock lock(m_mutex);
    if (written) {
        m_written.push_back(std::move(*written));
    } else if (m_status) {
        m_status = written.GetError();
    }
}

Result<std::vector<SpillInfo>> SpillSeries::Finish()
{
    std::vector<std::unique_ptr<SpillWriter>> writers;
    {
        const Lock lock(m_mutex);
        writers.swap(m_idle);
    }
    for (const auto& writer : writers) Retire(*writer);
    const Lock lock(m_mutex);
    IBD_RETURN_IF_ERROR(m_status);
    m_status = SystemError("the spills are closed");
    const bool kept = m_use == SpillUse::kKept;
    std::vector<SpillInfo> infos;
    for (WrittenSpill& written : m_written) {
        if (kept) IBD_RETURN_IF_ERROR(written.file->Sync());
        written.file.reset();
        infos.push_back(written.info);
    }
    if (kept) IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
    return infos;
}

} // namespace ibd
