// The writing half of block_store.h.
#include "storage/block_store.h"
#include "storage/data_dir.h"
#include "storage/undo.h"
#include "util/endian.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** Bytes written at once: every block, and all undo data except of a block that spends thousands of
 *  the longest scripts. */
constexpr size_t kWriteWindow = 8 << 20;

/** Obfuscates bytes and writes them to a file in pieces of the window's size. */
class WriteWindow {
public:
    /** The bytes begin at `start` of the file; `size` in all. */
    WriteWindow(WritableFile& file, const XorKey& key, uint64_t start, uint64_t size)
        : m_file(file), m_key(key), m_start(start), m_room(std::min<uint64_t>(size, kWriteWindow)),
          m_bytes(std::make_unique_for_overwrite<uint8_t[]>(m_room))
    {
    }

    Result<> Add(ByteSpan bytes)
    {
        while (!bytes.empty()) {
            if (m_size == m_room) IBD_RETURN_IF_ERROR(Write());
            const size_t count = std::min(bytes.size(), m_room - m_size);
            m_key.Apply(&m_bytes[m_size], bytes.data(), count, m_start + m_size);
            m_size += count;
            bytes = bytes.subspan(count);
        }
        return {};
    }

    /** Writes the bytes added since the last call. */
    Result<> Write()
    {
        IBD_RETURN_IF_ERROR(m_file.WriteAt(m_start, {m_bytes.get(), m_size}));
        m_start += std::exchange(m_size, 0);
        return {};
    }

private:
    WritableFile& m_file;
    const XorKey& m_key;
    uint64_t m_start; //!< of m_bytes in the file
    const size_t m_room;
    const std::unique_ptr<uint8_t[]> m_bytes;
    size_t m_size = 0;
};

} // namespace

BlockFileInfo& BlockStore::Info(int32_t n)
{
    CHECK(n >= 0);
    if (static_cast<size_t>(n) >= m_files.size()) m_files.resize(static_cast<size_t>(n) + 1);
    return m_files[static_cast<size_t>(n)];
}

/** The recorded end of the file's data. */
uint64_t BlockStore::SizeOf(FileId id)
{
    const BlockFileInfo& info = Info(id.second);
    return id.first == Kind::kUndo ? info.undo_size : info.size;
}

Result<BlockStore::OpenFile*> BlockStore::OpenForWriting(FileId id)
{
    if (const auto it = m_open.find(id); it != m_open.end()) return &it->second;
    IBD_RETURN_IF_ERROR(MakeRoomToOpen());
    OpenFile out;
    m_new_names = m_new_names || !m_env.Exists(PathOf(id));
    IBD_ASSIGN_OR_RETURN(out.file, m_env.OpenWrite(PathOf(id), /*truncate=*/false));
    IBD_ASSIGN_OR_RETURN(out.reserved, out.file->Size());
    out.started = SizeOf(id);
    return &m_open.emplace(id, std::move(out)).first->second;
}

/** Syncs and closes all files if too many are open. */
Result<> BlockStore::MakeRoomToOpen()
{
    if (m_open.size() < kMaxOpen) return {};
    if (m_sync_failure) return *m_sync_failure;
    for (auto& [id, out] : m_open) {
        if (!out.dirty) continue;
        if (const Result<> synced = out.file->Sync(); !synced) {
            NoteFailure(synced.GetError());
            return synced;
        }
    }
    m_open.clear();
    return {};
}

/** Grows the file in whole chunks: less fragmentation, and a full disk is noticed before data is
 *  written. */
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

/** Writes magic, length, payload and trailer, with the payload at `at`; in pieces if it is undo
 *  data of an extreme size. */
Result<> BlockStore::Append(FileId id, uint32_t at, std::span<const ByteSpan> payload,
                            uint64_t size, ByteSpan trailer)
{
    IBD_ASSIGN_OR_RETURN(OpenFile * out, OpenForWriting(id));
    IBD_RETURN_IF_ERROR(Reserve(id, *out, at + size + trailer.size()));
    out->dirty = true;
    std::array<uint8_t, kFrameHeaderSize> header;
    std::memcpy(header.data(), m_options.magic.data(), 4);
    WriteLE32(&header[4], static_cast<uint32_t>(size));
    WriteWindow window(*out->file, m_key, at - kFrameHeaderSize,
                       kFrameHeaderSize + size + trailer.size());
    IBD_RETURN_IF_ERROR(window.Add(header));
    for (const ByteSpan piece : payload) IBD_RETURN_IF_ERROR(window.Add(piece));
    IBD_RETURN_IF_ERROR(window.Add(trailer));
    return window.Write();
}

/** Truncates the preallocated rest of a file that will not grow further. */
Result<> BlockStore::Finish(FileId id, ReadAgain again)
{
    IBD_ASSIGN_OR_RETURN(OpenFile * out, OpenForWriting(id));
    out->reserved = SizeOf(id);
    IBD_RETURN_IF_ERROR(out->file->Truncate(out->reserved));
    out->dirty = true;
    out->complete = true;
    EndStretch(id, 1, again);
    return {};
}

/** The file for a frame of this size: the last one, or a new one if that is full. */
Result<int32_t> BlockStore::FileFor(uint64_t frame_size, ReadAgain again)
{
    const int32_t last = static_cast<int32_t>(m_files.size()) - 1;
    const BlockFileInfo full = Info(last);
    if (full.size == 0 || full.size + frame_size < m_options.max_file_size) return last;
    IBD_RETURN_IF_ERROR(Finish({Kind::kBlocks, last}, again));
    if (full.undo_size > 0 && full.height_last == m_last_undo_height) {
        IBD_RETURN_IF_ERROR(Finish({Kind::kUndo, last}, ReadAgain::kSoon));
    }
    Info(last + 1);
    return last + 1;
}

/** Queues the last written part of a file for writeback if it has at least `least` bytes. */
void BlockStore::EndStretch(FileId id, uint64_t least, ReadAgain again)
{
    OpenFile& out = m_open.at(id);
    const uint64_t end = SizeOf(id);
    if (end - out.started < least) return;
    m_due.push_back({out.file, out.started, end, again});
    out.started = end;
}

/** Runs without the lock, as the system may be slow and others write meanwhile. */
void BlockStore::StartStretches()
{
    std::vector<Stretch> due;
    std::vector<Stretch> leaving;
    {
        const Lock lock(m_mutex);
        due.swap(m_due);
        for (const Stretch& stretch : due) {
            if (stretch.again == ReadAgain::kLate) m_cached.push_back(stretch);
        }
        while (m_cached.size() > kCachedStretches) {
            leaving.push_back(std::move(m_cached.front()));
            m_cached.pop_front();
        }
    }
    for (const Stretch& stretch : due) {
        const auto started = stretch.file->StartSync(stretch.begin, stretch.end - stretch.begin);
        if (started) continue;
        const Lock lock(m_mutex);
        NoteFailure(started.GetError());
    }
    // Also drops the earlier part, which may not have been on disk when it was dropped before.
    for (const Stretch& stretch : leaving) stretch.file->DontNeed(0, stretch.end);
}

Result<FilePos> BlockStore::WriteBlock(ByteSpan raw, uint32_t height, uint32_t time,
                                       ReadAgain again)
{
    CHECK(raw.size() >= 80 && raw.size() <= kMaxStoredBlockSize);
    const Result<FilePos> pos = AppendBlock(raw, height, time, again);
    StartStretches();
    return pos;
}

Result<FilePos> BlockStore::AppendBlock(ByteSpan raw, uint32_t height, uint32_t time,
                                        ReadAgain again)
{
    const Lock lock(m_mutex);
    const uint32_t frame_size = kFrameHeaderSize + static_cast<uint32_t>(raw.size());
    IBD_ASSIGN_OR_RETURN(const int32_t n, FileFor(frame_size, again));
    const FilePos pos{n, Info(n).size + kFrameHeaderSize};
    IBD_RETURN_IF_ERROR(Append({Kind::kBlocks, n}, pos.offset, {&raw, 1}, raw.size(), {}));
    Info(n).AddBlock(height, time);
    Info(n).size += frame_size;
    m_dirty.insert(n);
    EndStretch({Kind::kBlocks, n}, m_options.stretch, again);
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
    const std::span<const ByteSpan> whole(&undo, 1);
    return WriteUndo(file, {whole, UndoChecksum(prev_hash, whole)}, height);
}

Result<FilePos> BlockStore::WriteUndo(int32_t file, const UndoRecord& record, uint32_t height,
                                      ReadAgain again)
{
    const uint64_t size = record.Size();
    CHECK(size <= kMaxUndoSize); // ReadUndo would refuse it
    const Result<FilePos> pos = AppendUndo(file, record, size, height, again);
    StartStretches();
    return pos;
}

Result<FilePos> BlockStore::AppendUndo(int32_t file, const UndoRecord& record, uint64_t size,
                                       uint32_t height, ReadAgain again)
{
    const Lock lock(m_mutex);
    const FileId id{Kind::kUndo, file};
    const FilePos pos{file, Info(file).undo_size + kFrameHeaderSize};
    if (pos.offset + size + kUndoChecksumSize > std::numeric_limits<uint32_t>::max()) {
        return SystemError("{}: no room for {} bytes of undo data: the format ends at 4 GiB",
                           UndoPath(file).string(), size);
    }
    IBD_RETURN_IF_ERROR(Append(id, pos.offset, record.pieces, size, record.checksum));
    BlockFileInfo& info = Info(file);
    info.undo_size += kFrameHeaderSize + static_cast<uint32_t>(size) + kUndoChecksumSize;
    m_dirty.insert(file);
    m_last_undo_height = height;
    const bool complete =
        static_cast<size_t>(file) + 1 < m_files.size() && height == info.height_last;
    if (complete) IBD_RETURN_IF_ERROR(Finish(id, again));
    EndStretch(id, m_options.stretch, again);
    return pos;
}

/** After a failed sync the system may have dropped written data, and the next sync may succeed. So
 *  every later Flush() fails until the store is opened again. */
void BlockStore::NoteFailure(const Error& error)
{
    if (!m_sync_failure) m_sync_failure = error;
}

Result<> BlockStore::Flush()
{
    const Lock flushing(m_flushing);
    std::vector<std::shared_ptr<WritableFile>> written;
    bool new_names = false;
    {
        const Lock lock(m_mutex);
        if (m_sync_failure) return *m_sync_failure;
        for (auto& [id, out] : m_open) {
            if (std::exchange(out.dirty, false)) written.push_back(out.file);
        }
        std::erase_if(m_open, [](const auto& entry) { return entry.second.complete; });
        new_names = std::exchange(m_new_names, false);
    }
    const Result<> synced = SyncAll(written, new_names);
    const Lock lock(m_mutex);
    if (!synced) NoteFailure(synced.GetError());
    return m_sync_failure ? Result<>(*m_sync_failure) : Result<>();
}

Result<> BlockStore::SyncAll(std::span<const std::shared_ptr<WritableFile>> files, bool new_names)
{
    for (const auto& file : files) IBD_RETURN_IF_ERROR(file->Sync());
    return new_names ? m_env.SyncDirectory(m_options.blocks_dir) : Result<>();
}

Result<> BlockStore::ReopenUndo(int32_t file)
{
    const Lock lock(m_mutex);
    const auto it = m_open.find({Kind::kUndo, file});
    if (it == m_open.end()) return {};
    if (it->second.dirty) {
        if (const Result<> synced = it->second.file->Sync(); !synced) {
            NoteFailure(synced.GetError());
            return synced;
        }
    }
    m_open.erase(it);
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
