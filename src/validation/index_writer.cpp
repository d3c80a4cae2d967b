// See index_writer.h.
#include "validation/index_writer.h"

namespace ibd {

namespace {

constexpr size_t kRecordsAtOnce = 512; //!< under one headers lock

} // namespace

void IndexWriter::MarkBroken(const HeaderNode& node)
{
    const Lock lock(m_tree.headers.mutex);
    m_broken = &node;
    m_tree.index.MarkDirty(&node);
}

// Makes a few records at a time: after the header sync there is a changed record for each header.
Result<> IndexWriter::Write(const BlockIndex::Nodes& nodes)
{
    std::vector<std::pair<BlockHash, BlockIndexRecord>> records;
    records.reserve(nodes.size());
    for (auto it = nodes.begin(); it != nodes.end();) {
        const SharedLock lock(m_tree.headers.mutex);
        for (size_t i = 0; i < kRecordsAtOnce && it != nodes.end(); ++i, ++it) {
            records.emplace_back((*it)->hash, ToRecord(**it));
            if (*it == m_broken) records.back().second.status |= kFailedValid;
        }
    }
    // From here on the files contain everything that the records name; later additions do no harm.
    const auto files = m_stores.blocks.TakeDirty();
    const Result<> written = WriteRecords({files, 0, records});
    // A later write that named the blocks without the files' new sizes would let the next start
    // overwrite them.
    if (!written) m_stores.blocks.PutBack(files);
    return written;
}

Result<> IndexWriter::WriteRecords(BlockIndexUpdate update)
{
    IBD_RETURN_IF_ERROR(m_stores.blocks.Flush());
    if (update.files.empty() && update.blocks.empty()) return {};
    update.last_file = m_stores.blocks.LastFile();
    return m_stores.index.Write(update);
}

Result<> IndexWriter::Save()
{
    const Lock saving(m_saving);
    BlockIndex::Nodes nodes;
    {
        const Lock lock(m_tree.headers.mutex);
        nodes = m_tree.index.TakeDirty();
    }
    Result<> written = Write(nodes);
    if (written) return written;
    const Lock lock(m_tree.headers.mutex);
    m_tree.index.PutBack(nodes);
    return written;
}

} // namespace ibd
