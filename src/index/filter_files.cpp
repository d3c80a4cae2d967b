// See filter_files.h.
#include "index/filter_files.h"

#include "index/block_filter.h"
#include "primitives/serialize.h"
#include "storage/block_files.h"

namespace ibd {

namespace {

/** Most bytes of a block hash and a length. */
constexpr size_t kMostHead = BlockHash::size() + 9;

uint64_t ChunksOf(uint64_t bytes)
{
    return (bytes + FilterFiles::kChunkBytes - 1) / FilterFiles::kChunkBytes;
}

} // namespace

Path FilterFiles::PathOf(int32_t file) const { return m_folder / BlockFileName("fltr", file); }

Result<> FilterFiles::OpenNext()
{
    if (m_open == m_next.file) return {};
    m_open = -1;
    IBD_ASSIGN_OR_RETURN(m_file, m_env.OpenWrite(PathOf(m_next.file), false));
    m_open = m_next.file;
    return {};
}

/** Cuts the preallocated rest of a full file. */
Result<> FilterFiles::EndFile()
{
    IBD_RETURN_IF_ERROR(OpenNext());
    IBD_RETURN_IF_ERROR(m_file->Truncate(m_next.offset));
    IBD_RETURN_IF_ERROR(m_file->Sync());
    m_next = {m_next.file + 1, 0};
    return {};
}

Result<FilePos> FilterFiles::Append(const BlockHash& block, ByteSpan filter)
{
    Bytes record;
    Writer out(record);
    out.Hash(block);
    out.VarBytes(filter);
    if (m_next.offset + record.size() > kMaxFileBytes) IBD_RETURN_IF_ERROR(EndFile());
    IBD_RETURN_IF_ERROR(OpenNext());
    const uint64_t end = m_next.offset + record.size();
    if (ChunksOf(end) > ChunksOf(m_next.offset)) {
        IBD_RETURN_IF_ERROR(m_file->Allocate(ChunksOf(end) * kChunkBytes));
    }
    IBD_RETURN_IF_ERROR(m_file->WriteAt(m_next.offset, record));
    const FilePos at = m_next;
    m_next.offset = static_cast<uint32_t>(end);
    return at;
}

Result<> FilterFiles::Sync()
{
    IBD_RETURN_IF_ERROR(OpenNext());
    IBD_RETURN_IF_ERROR(m_file->Sync());
    return m_env.SyncDirectory(m_folder);
}

Result<Bytes> FilterFiles::Read(const FilePos& at, const BlockHash& block,
                                const Uint256& hash) const
{
    const Path path = PathOf(at.file);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    Bytes head(kMostHead);
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(at.offset, head));
    Reader in(ByteSpan(head).first(got));
    const BlockHash stored = in.Hash();
    const uint64_t size = in.CompactSize();
    Bytes filter;
    if (in.Ok() && stored == block && size <= kMaxFileBytes) {
        filter.resize(size);
        IBD_ASSIGN_OR_RETURN(const size_t read, file->ReadAt(at.offset + in.Position(), filter));
        if (read == size && FilterHash(filter) == hash) return filter;
    }
    return BadData("{}: the filter of block {} at {} is damaged", path.string(), block.ToHex(),
                   at.offset);
}

} // namespace ibd
