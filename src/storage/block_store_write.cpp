// The writing half of block_store.h.
#include "storage/block_store.h"
#include "storage/data_dir.h"
#include "storage/undo.h"
#include "util/endian.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** What is written at once: every block, and all undo data but that of a block which spends
 *  thousands of scripts of the greatest size. */
constexpr size_t kWriteWindow = 8 << 20;

} // namespace

BlockFileInfo& BlockStore::Info(int32_t n)
{
    CHECK(n >= 0);
    if (static_cast<size_t>(n) >= m_files.size()) m_files.resize(static_cast<size_t>(n) + 1);
    return m_files[static_cast<size_t>(n)];
}

Result<BlockStore::OpenFile*> BlockStore::OpenForWriting(FileId id)
{
    if (const auto it = m_open.find(id); it != m_open.end()) return &it->second;
    if (m_open.size() >= kMaxOpen) {
        IBD_RETURN_IF_ERROR(FlushLocked());
        m_open.clear();
    }
    OpenFile out;
    m_new_names = m_new_names || !m_env.Exists(PathOf(id));
    IBD_ASSIGN_OR_RETURN(out.file, m_env.OpenWrite(PathOf(id), /*truncate=*/false));
    IBD_ASSIGN_OR_RETURN(out.reserved, out.file->Size());
    return &m_open.emplace(id, std::move(out)).first->second;
}

/** Grows the file in whole chunks, so that it lies together on disk and a full disk is noticed
 *  before anything is written. */
Result<> BlockStore::Reserve(FileId id, OpenFile& out, uint64_t end)
{
    if (end <= out.reserved) return {};
    const uint64_t chunk = id.first == Kind::kUndo ? m_options.undo_chunk : m_options.block_chunk;
    const uint64_t target = (end + chunk - 1) / chunk * chunk;
    IBD_ASSIGN_OR_RETURN(const uint64_t free, m_env.SpaceAvailable(m_options.blocks_dir));
    if (free < kMinDiskSpace + (target - out.reserved)) {
        return SystemError("{}: disk space is too low to add {} bytes", PathOf(id).string(),
                           target - out.reserved);
    }
    IBD_RETURN_IF_ERROR(out.file->Allocate(target));
    out.reserved = target;
    m_grown = true;
    return {};
}

/** Writes magic, length, payload and trailer so that the payload comes to lie at `at`: at once, or
 *  piece by piece where it is undo data of an extreme size. */
Result<> BlockStore::Append(FileId id, uint32_t at, ByteSpan payload, ByteSpan trailer)
{
    IBD_ASSIGN_OR_RETURN(OpenFile * out, OpenForWriting(id));
    Bytes piece(kFrameHeaderSize);
    std::memcpy(piece.data(), m_options.magic.data(), 4);
    WriteLE32(&piece[4], static_cast<uint32_t>(payload.size()));
    piece.reserve(std::min(kFrameHeaderSize + payload.size(), kWriteWindow) + trailer.size());
    IBD_RETURN_IF_ERROR(Reserve(id, *out, at + payload.size() + trailer.size()));
    out->dirty = true;
    for (uint64_t start = at - kFrameHeaderSize;; start += piece.size(), piece.clear()) {
        const size_t count = std::min(payload.size(), kWriteWindow - piece.size());
        ibd::Append(piece, payload.first(count));
        payload = payload.subspan(count);
        if (payload.empty()) ibd::Append(piece, trailer);
        m_key.Apply(piece, start);
        IBD_RETURN_IF_ERROR(out->file->WriteAt(start, piece));
        if (payload.empty()) return {};
    }
}

/** Nothing more will come: cuts the preallocated rest off and syncs. */
Result<> BlockStore::Finish(FileId id)
{
    IBD_ASSIGN_OR_RETURN(OpenFile * out, OpenForWriting(id));
    const BlockFileInfo& info = Info(id.second);
    IBD_RETURN_IF_ERROR(out->file->Truncate(id.first == Kind::kUndo ? info.undo_size : info.size));
    IBD_RETURN_IF_ERROR(Sync(*out));
    m_open.erase(id);
    return {};
}

/** The file that takes a frame of this size: the last one, or a new one when it is full. */
Result<int32_t> BlockStore::FileFor(uint64_t frame_size)
{
    const int32_t last = static_cast<int32_t>(m_files.size()) - 1;
    const BlockFileInfo full = Info(last);
    if (full.size == 0 || full.size + frame_size < m_options.max_file_size) return last;
    IBD_RETURN_IF_ERROR(Finish({Kind::kBlocks, last}));
    if (full.undo_size > 0 && full.height_last == m_last_undo_height) {
        IBD_RETURN_IF_ERROR(Finish({Kind::kUndo, last}));
    }
    Info(last + 1);
    return last + 1;
}

Result<FilePos> BlockStore::WriteBlock(ByteSpan raw, uint32_t height, uint32_t time)
{
    CHECK(raw.size() >= 80 && raw.size() <= kMaxStoredBlockSize);
    const Lock lock(m_mutex);
    const uint32_t frame_size = kFrameHeaderSize + static_cast<uint32_t>(raw.size());
    IBD_ASSIGN_OR_RETURN(const int32_t n, FileFor(frame_size));
    const FilePos pos{n, Info(n).size + kFrameHeaderSize};
    IBD_RETURN_IF_ERROR(Append({Kind::kBlocks, n}, pos.offset, raw, {}));
    Info(n).AddBlock(height, time);
    Info(n).size += frame_size;
    m_dirty.insert(n);
    return pos;
}

void BlockStore::AddExisting(FilePos pos, uint32_t size, uint32_t height, uint32_t time)
{
    const Lock lock(m_mutex);
    BlockFileInfo& info = Info(pos.file);
    info.AddBlock(height, time);
    info.size = std::max(info.size, pos.offset + size);
    m_dirty.insert(pos.file);
}

Result<FilePos> BlockStore::WriteUndo(int32_t file, ByteSpan undo, const BlockHash& prev_hash,
                                      uint32_t height)
{
    CHECK(undo.size() <= kMaxUndoSize); // ReadUndo would refuse it
    const Hash32 sum = UndoChecksum(prev_hash, undo);

    const Lock lock(m_mutex);
    const FilePos pos{file, Info(file).undo_size + kFrameHeaderSize};
    if (pos.offset + undo.size() + kUndoChecksumSize > std::numeric_limits<uint32_t>::max()) {
        return SystemError("{}: no room for {} bytes of undo data: the format ends at 4 GiB",
                           UndoPath(file).string(), undo.size());
    }
    IBD_RETURN_IF_ERROR(Append({Kind::kUndo, file}, pos.offset, undo, sum));
    BlockFileInfo& info = Info(file);
    info.undo_size += kFrameHeaderSize + static_cast<uint32_t>(undo.size()) + kUndoChecksumSize;
    m_dirty.insert(file);
    m_last_undo_height = height;
    const bool complete =
        static_cast<size_t>(file) + 1 < m_files.size() && height == info.height_last;
    if (complete) IBD_RETURN_IF_ERROR(Finish({Kind::kUndo, file}));
    return pos;
}

/** After a failed sync the system may have dropped what was written, and the next sync says that
 *  all is well. So none is asked for any more, and nothing is promised, until the store is opened
 *  again. */
Result<> BlockStore::Sync(OpenFile& out)
{
    if (m_sync_failure) return *m_sync_failure;
    if (auto synced = out.file->Sync(); !synced) {
        m_sync_failure = synced.GetError();
        return synced;
    }
    out.dirty = false;
    return {};
}

Result<> BlockStore::FlushLocked()
{
    for (auto& [id, out] : m_open) {
        if (out.dirty) IBD_RETURN_IF_ERROR(Sync(out));
    }
    if (m_new_names) IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_options.blocks_dir));
    m_new_names = false;
    return {};
}

Result<> BlockStore::Flush()
{
    const Lock lock(m_mutex);
    return FlushLocked();
}

Result<> BlockStore::SyncAside()
{
    std::vector<Path> written;
    {
        const Lock lock(m_mutex);
        for (const auto& [id, out] : m_open) {
            if (out.dirty) written.push_back(PathOf(id));
        }
    }
    for (const Path& path : written) {
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenWrite(path, /*truncate=*/false));
        IBD_RETURN_IF_ERROR(file->Sync());
    }
    return {};
}

void BlockStore::ForgetFile(int32_t n)
{
    const Lock lock(m_mutex);
    CHECK(static_cast<size_t>(n) + 1 < m_files.size());
    for (Kind kind : {Kind::kBlocks, Kind::kUndo}) m_open.erase({kind, n});
    Info(n) = BlockFileInfo{};
    m_dirty.insert(n);
}

Result<> BlockStore::DeleteFile(int32_t n)
{
    {
        const Lock lock(m_mutex);
        CHECK(Info(n) == BlockFileInfo{});
    }
    for (Kind kind : {Kind::kBlocks, Kind::kUndo}) {
        const Path path = PathOf({kind, n});
        if (m_env.Exists(path)) IBD_RETURN_IF_ERROR(m_env.Remove(path));
    }
    return {};
}

} // namespace ibd
