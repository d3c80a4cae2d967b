// See spill_series.h.
#include "join/spill_series.h"

namespace ibd {

bool SpillSeries::Add(uint32_t partition, ByteSpan records)
{
    const auto writer = AddTo(partition, records);
    if (writer) writer->WriteGathered(); // what it meets with, the next to add is told
    return writer != nullptr;
}

/** Where it was added; null after an error. */
std::shared_ptr<SpillWriter> SpillSeries::AddTo(uint32_t partition, ByteSpan records)
{
    const Lock lock(m_mutex);
    if (m_status) m_status = Put(partition, records);
    return m_status ? m_writer : nullptr;
}

Result<> SpillSeries::Put(uint32_t partition, ByteSpan records)
{
    if (m_writer && m_writer->Pages() >= m_most_pages) IBD_RETURN_IF_ERROR(Retire());
    if (!m_writer) {
        IBD_ASSIGN_OR_RETURN(m_writer,
                             SpillWriter::Create(m_env, m_directory, m_next_number, m_owner));
        ++m_next_number;
    }
    if (m_writer->Add(partition, records)) return {};
    return m_writer->Finish().GetError();
}

Result<> SpillSeries::Retire()
{
    IBD_ASSIGN_OR_RETURN(WrittenSpill written, m_writer->Finish());
    m_written.push_back(std::move(written));
    m_writer.reset();
    return {};
}

Result<std::vector<SpillInfo>> SpillSeries::Finish()
{
    const Lock lock(m_mutex);
    IBD_RETURN_IF_ERROR(m_status);
    m_status = SystemError("the spills are closed");
    if (m_writer) IBD_RETURN_IF_ERROR(Retire());
    std::vector<SpillInfo> infos;
    for (WrittenSpill& written : m_written) {
        IBD_RETURN_IF_ERROR(written.file->Sync());
        written.file.reset();
        infos.push_back(written.info);
    }
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
    return infos;
}

} // namespace ibd
