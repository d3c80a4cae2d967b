// See block_store.h. Opening, names, records and reading; writing is in block_store_write.cpp.
#include "storage/block_store.h"

#include "crypto/sha256.h"
#include "primitives/block.h"
#include "storage/block_files.h"
#include "storage/frame_scanner.h"
#include "storage/undo.h"
#include "util/atomic_file.h"
#include "util/endian.h"
#include "util/found.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {
namespace {

constexpr const char* kKeyName = "xor.dat";

/** Whether only hidden entries and the index exist: no data was ever stored under a key here. */
Result<bool> IsFirstRun(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(directory));
    for (const std::string& name : names) {
        const bool unwritten = name == std::string(kKeyName) + kUnwrittenEnding;
        if (!name.starts_with('.') && name != "index" && !unwritten) return false;
    }
    return true;
}

Result<XorKey> ReadKey(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
    if (bytes.size() != XorKey::kSize) {
        return BadData("{}: {} bytes instead of {}", path.string(), bytes.size(), XorKey::kSize);
    }
    std::array<uint8_t, XorKey::kSize> key;
    std::copy(bytes.begin(), bytes.end(), key.begin());
    return XorKey(key);
}

/** Refuses a link to a missing key, whose disk is probably not mounted. Without block files the key
 *  is not needed. */
Result<> RefuseLostKey(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(path));
    if (kind != FileKind::kDeadLink) return {};
    IBD_ASSIGN_OR_RETURN(const BlockFilesFound found, FindBlockFiles(env, path.parent_path()));
    if (found.blocks.empty() && found.undo.empty()) return {};
    return SystemError(
        "'{}' is a symbolic link to '{}', which is not there: mount its disk, or put "
        "the key back, without which the block files cannot be read",
        path.string(), env.FollowLink(path).string());
}

Result<XorKey> ReadOrMakeKey(Env& env, Logger& log, const BlockStoreOptions& options)
{
    const Path path = options.blocks_dir / kKeyName;
    XorKey key;
    // If the key were wrongly taken for absent, it would be replaced, and all blocks would become
    // unreadable.
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (there) {
        IBD_ASSIGN_OR_RETURN(key, ReadKey(env, path));
    } else {
        IBD_ASSIGN_OR_RETURN(const bool first_run, IsFirstRun(env, options.blocks_dir));
        IBD_RETURN_IF_ERROR(RefuseLostKey(env, path));
        if (first_run && options.obfuscate_new) {
            std::array<uint8_t, XorKey::kSize> random;
            env.RandomBytes(random);
            key = XorKey(random);
        }
        IBD_RETURN_IF_ERROR(WriteFileAtomically(env, path, key.Span()));
    }
    if (!options.obfuscate_new && !key.IsZero()) {
        return BadData("Failed to initialize ChainstateManager: The blocksdir XOR-key can not be "
                       "disabled when a random key was already stored! Stored key: '{}', stored "
                       "path: '{}'.",
                       ToHex(key.Span()), path.string());
    }
    log.Info("Using obfuscation key for blocksdir *.dat files ({}): '{}'",
             options.blocks_dir.string(), ToHex(key.Span()));
    return key;
}

Error EndsWithin(const Path& path, uint64_t end, uint64_t start)
{
    return BadData("{}: ends at {}, within a record that starts before {}", path.string(), end,
                   start + 1);
}

/** Reads a part of the record that starts at `start`. */
Result<> ReadExactly(const ReadableFile& file, const Path& path, const XorKey& key, uint64_t start,
                     uint64_t offset, MutableByteSpan out)
{
    IBD_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(offset, out));
    if (got != out.size()) return EndsWithin(path, offset + got, start);
    key.Apply(out, offset);
    return {};
}

/** Length of the record at `offset`, from the bytes of its frame. */
Result<uint32_t> ParseFrame(ByteSpan header, const Path& path, const std::array<uint8_t, 4>& magic,
                            uint32_t offset)
{
    if (std::memcmp(header.data(), magic.data(), magic.size()) != 0) {
        return BadData("{}: no record at {}: {} instead of the network magic {}", path.string(),
                       offset, ToHex(header.first(4)), ToHex(magic));
    }
    return ReadLE32(header.data() + 4);
}

Error NoRecord(const Path& path, uint32_t offset)
{
    return BadData("{}: no record at {}", path.string(), offset);
}

/** Length of the record at `offset`, from its frame. */
Result<uint32_t> ReadFrameHeader(const ReadableFile& file, const Path& path, const XorKey& key,
                                 const std::array<uint8_t, 4>& magic, uint32_t offset)
{
    if (offset < kFrameHeaderSize) return NoRecord(path, offset);
    uint8_t header[kFrameHeaderSize];
    const uint64_t start = offset - kFrameHeaderSize;
    IBD_RETURN_IF_ERROR(ReadExactly(file, path, key, start, start, header));
    return ParseFrame(header, path, magic, offset);
}

/** Bytes that the first call reads, with the frame: all of most records of the first years. If a
 *  record is longer, a second call reads the rest. */
constexpr size_t kFirstRead = 32 << 10;

/** The start of a file's record, frame and all, read with one call. */
struct RecordStart {
    uint32_t size = 0;       //!< of the whole record, without its frame
    MutableByteSpan at_hand; //!< the record and following bytes, still obfuscated
};

/** Reads into `room`, which has at least the bytes of a frame. */
Result<RecordStart> ReadStart(const ReadableFile& file, const Path& path, const XorKey& key,
                              const std::array<uint8_t, 4>& magic, uint32_t offset,
                              MutableByteSpan room)
{
    if (offset < kFrameHeaderSize) return NoRecord(path, offset);
    const uint64_t start = offset - kFrameHeaderSize;
    IBD_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(start, room));
    if (got < kFrameHeaderSize) return EndsWithin(path, start + got, start);
    const MutableByteSpan header = room.first(kFrameHeaderSize);
    key.Apply(header, start);
    IBD_ASSIGN_OR_RETURN(const uint32_t size, ParseFrame(header, path, magic, offset));
    return RecordStart{size, room.first(got).subspan(kFrameHeaderSize)};
}

/** An undo record and its checksum, read in windows, with the hash of all bytes read. */
class UndoWindow final : public UndoSource {
public:
    static constexpr size_t kSize = 256 << 10; //!< stays in the cache between read and hash
    static_assert(kSize >= 2 * kMaxSpentCoinSize + kUndoChecksumSize && kSize > kFirstRead);

    UndoWindow(const ReadableFile& file, const Path& path, const XorKey& key, uint32_t offset)
        : m_file(file), m_path(path), m_key(key), m_start(offset), m_next(offset),
          m_window(std::make_unique_for_overwrite<uint8_t[]>(kSize))
    {
    }

    /** Reads the start; the record is completely inside the file. Call it first. */
    Result<> Open(const std::array<uint8_t, 4>& magic, const BlockHash& prev_hash)
    {
        const MutableByteSpan room(m_window.get(), kFirstRead);
        IBD_ASSIGN_OR_RETURN(
            const RecordStart start,
            ReadStart(m_file, m_path, m_key, magic, static_cast<uint32_t>(m_start), room));
        if (start.size > kMaxUndoSize) {
            return BadData("{}: undo data at {} claims {} bytes", m_path.string(), m_start,
                           start.size);
        }
        const uint64_t whole = uint64_t{start.size} + kUndoChecksumSize;
        if (whole > start.at_hand.size()) {
            IBD_ASSIGN_OR_RETURN(const uint64_t file_size, m_file.Size());
            if (m_start + whole > file_size) {
                return BadData("{}: undo data at {} claims {} bytes, and the file ends at {}",
                               m_path.string(), m_start, start.size, file_size);
            }
        }
        m_hash.Write(prev_hash.Span());
        m_left = m_unhashed = start.size;
        m_unread = whole;
        m_begin = m_end = kFrameHeaderSize;
        Take(std::min<uint64_t>(start.at_hand.size(), whole));
        return {};
    }

    Result<ByteSpan> Ahead() override
    {
        IBD_RETURN_IF_ERROR(Need(kMaxSpentCoinSize));
        return ByteSpan(&m_window[m_begin], std::min<uint64_t>(m_end - m_begin, m_left));
    }
    void Pass(size_t count) override
    {
        m_begin += count;
        m_left -= count;
    }
    uint64_t Left() const override { return m_left; }

    /** Whether the checksum after the record is that of the bytes read. Call it once, after the
     *  record was read to its end. */
    Result<bool> IsSound()
    {
        IBD_RETURN_IF_ERROR(Need(kUndoChecksumSize));
        const Hash32 sum = Sha256Of(m_hash.Finalize());
        return std::equal(sum.begin(), sum.end(), &m_window[m_begin]);
    }

private:
    /** Reads more unless `count` bytes, or all remaining bytes, are in the window. */
    Result<> Need(size_t count)
    {
        if (m_unread == 0 || m_end - m_begin >= count) return {};
        std::copy(&m_window[m_begin], &m_window[m_end], m_window.get());
        m_end -= std::exchange(m_begin, 0);
        const size_t fresh = std::min<uint64_t>(kSize - m_end, m_unread);
        const MutableByteSpan room(&m_window[m_end], fresh);
        IBD_ASSIGN_OR_RETURN(const size_t got, m_file.ReadAt(m_next, room));
        if (got != fresh) return EndsWithin(m_path, m_next + got, m_start);
        Take(fresh);
        return {};
    }

    /** De-obfuscates and hashes the next bytes, which were read to the end of the window. */
    void Take(size_t count)
    {
        const MutableByteSpan fresh(&m_window[m_end], count);
        m_key.Apply(fresh, m_next);
        const size_t record = std::min<uint64_t>(count, m_unhashed);
        m_hash.Write(fresh.first(record));
        m_unhashed -= record;
        m_end += count;
        m_next += count;
        m_unread -= count;
    }

    const ReadableFile& m_file;
    const Path& m_path;
    const XorKey& m_key;
    const uint64_t m_start; //!< of the record
    uint64_t m_next;        //!< offset of the unread part
    uint64_t m_unread = 0;  //!< bytes of record and checksum
    uint64_t m_left = 0;    //!< unpassed bytes of the record
    uint64_t m_unhashed = 0;
    const std::unique_ptr<uint8_t[]> m_window;
    size_t m_begin = 0, m_end = 0; //!< the unpassed part of the window
    Sha256 m_hash;
};

/** Reads to the end, to verify the checksum. */
Result<> PassAll(UndoSource& source)
{
    while (source.Left() > 0) {
        IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, source.Ahead());
        source.Pass(ahead.size());
    }
    return {};
}

} // namespace

BlockStore::BlockStore(Env& env, BlockStoreOptions options, XorKey key,
                       std::vector<BlockFileInfo> files)
    : m_env(env), m_options(std::move(options)), m_key(key), m_files(std::move(files))
{
    if (m_files.empty()) m_files.emplace_back();
}

Result<std::unique_ptr<BlockStore>>
BlockStore::Open(Env& env, Logger& log, BlockStoreOptions options, std::vector<BlockFileInfo> files)
{
    IBD_ASSIGN_OR_RETURN(const XorKey key, ReadOrMakeKey(env, log, options));
    return std::unique_ptr<BlockStore>(
        new BlockStore(env, std::move(options), key, std::move(files)));
}

Path BlockStore::BlockPath(int32_t n) const
{
    return m_options.blocks_dir / BlockFileName("blk", n);
}

Path BlockStore::UndoPath(int32_t n) const
{
    return m_options.blocks_dir / BlockFileName("rev", n);
}

Path BlockStore::PathOf(FileId id) const
{
    return id.first == Kind::kUndo ? UndoPath(id.second) : BlockPath(id.second);
}

Result<std::vector<int32_t>> BlockStore::ListBlockFiles() const
{
    IBD_ASSIGN_OR_RETURN(BlockFilesFound found, FindBlockFiles(m_env, m_options.blocks_dir));
    return std::move(found.blocks);
}

Result<bool> BlockStore::HoldsAtMost(ByteSpan first_block) const
{
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, ListBlockFiles());
    if (files.empty()) return true;
    if (files != std::vector<int32_t>{0}) return false;
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(BlockPath(0)));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    if (size > kBlockFileChunk) return false;
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(m_env, BlockPath(0)));
    const auto first = ReadBlock({0, kFrameHeaderSize});
    IBD_RETURN_IF_SYSTEM_ERROR(first);
    const bool has_first = first && std::ranges::equal(*first, first_block);
    const size_t used = has_first ? kFrameHeaderSize + first_block.size() : 0;
    return std::ranges::all_of(ByteSpan(bytes).subspan(used),
                               [](uint8_t byte) { return byte == 0; }); // preallocated
}

template <typename Buffer>
Result<Buffer> BlockStore::ReadBlockInto(FilePos pos, const BlockHash* expected) const
{
    const Path path = BlockPath(pos.file);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    uint8_t first[kFirstRead];
    IBD_ASSIGN_OR_RETURN(const RecordStart start,
                         ReadStart(*file, path, m_key, m_options.magic, pos.offset, first));
    const uint32_t size = start.size;
    if (size < BlockHeader::kSize || size > kMaxStoredBlockSize) {
        return BadData("{}: block at {} claims {} bytes", path.string(), pos.offset, size);
    }
    const auto at_hand = start.at_hand.first(std::min<size_t>(start.at_hand.size(), size));
    Buffer block(size);
    m_key.Apply(block.data(), at_hand.data(), at_hand.size(), pos.offset);
    if (at_hand.size() < size) {
        IBD_RETURN_IF_ERROR(ReadExactly(*file, path, m_key, pos.offset,
                                        uint64_t{pos.offset} + at_hand.size(),
                                        MutableByteSpan(block).subspan(at_hand.size())));
    }
    if (expected) {
        const Uint256 hash(Sha256d(ByteSpan(block).first(BlockHeader::kSize)));
        if (hash != *expected) {
            return BadData("{}: block at {} is {}, not {}", path.string(), pos.offset, hash.ToHex(),
                           expected->ToHex());
        }
    }
    return block;
}

Result<UnzeroedBytes> BlockStore::ReadBlock(FilePos pos, const BlockHash* expected) const
{
    return ReadBlockInto<UnzeroedBytes>(pos, expected);
}

Result<Bytes> BlockStore::ReadBlockAsVector(FilePos pos, const BlockHash* expected) const
{
    return ReadBlockInto<Bytes>(pos, expected);
}

Error BlockStore::DamagedBlock(FilePos pos, const BlockHash& hash, int height,
                               std::string_view what) const
{
    {
        const Lock lock(m_suspects_mutex);
        m_suspects.insert(pos.file);
    }
    return BadData("{}, offset {}: {}; block {} at height {} should be there: put a sound copy of "
                   "the file in its place, or restart with -reindex, which leaves the block out "
                   "and has it fetched from peers",
                   BlockPath(pos.file).string(), pos.offset, what, hash.ToHex(), height);
}

Error BlockStore::UnreadableBlock(FilePos pos, const BlockHash& hash, int height,
                                  const Error& error) const
{
    const auto kind = m_env.KindOf(BlockPath(pos.file));
    const bool gone = kind && *kind == FileKind::kNothing;
    return SystemError("block {} at height {}: {}{}", hash.ToHex(), height, error.message,
                       gone ? ": put the file back, or restart with -reindex, which leaves its "
                              "blocks out and has them fetched from peers"
                            : "");
}

std::vector<int32_t> BlockStore::TakeSuspects() const
{
    const Lock lock(m_suspects_mutex);
    std::vector<int32_t> files(m_suspects.begin(), m_suspects.end());
    m_suspects.clear();
    return files;
}

Result<uint32_t> BlockStore::BlockSize(FilePos pos) const
{
    const Path path = BlockPath(pos.file);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    return ReadFrameHeader(*file, path, m_key, m_options.magic, pos.offset);
}

Result<Bytes> BlockStore::ReadBlockPart(FilePos pos, uint32_t offset, uint32_t size) const
{
    IBD_ASSIGN_OR_RETURN(Bytes part, ReadBlockUpTo(pos, offset, size));
    if (part.size() < size) {
        return BadData("{}: block at {} has {} bytes, not {} from {}", BlockPath(pos.file).string(),
                       pos.offset, offset + part.size(), size, offset);
    }
    return part;
}

Result<Bytes> BlockStore::ReadBlockUpTo(FilePos pos, uint32_t offset, uint32_t most) const
{
    const Path path = BlockPath(pos.file);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint32_t whole,
                         ReadFrameHeader(*file, path, m_key, m_options.magic, pos.offset));
    if (offset > whole) {
        return BadData("{}: block at {} has {} bytes, not {} from {}", path.string(), pos.offset,
                       whole, most, offset);
    }
    Bytes part(std::min(most, whole - offset));
    const uint64_t at = uint64_t{pos.offset} + offset;
    IBD_RETURN_IF_ERROR(ReadExactly(*file, path, m_key, at, at, part));
    return part;
}

Result<> BlockStore::VisitUndo(FilePos pos, const BlockHash& prev_hash,
                               const std::function<Result<>(UndoSource&)>& visit) const
{
    const Path path = UndoPath(pos.file);
    const auto file = m_env.OpenRead(path);
    if (!file) {
        IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(path));
        return there ? file.GetError() : BadData("{}: there is no such file", path.string());
    }
    UndoWindow window(**file, path, m_key, pos.offset);
    IBD_RETURN_IF_ERROR(window.Open(m_options.magic, prev_hash));
    const Result<> visited = visit(window);
    const auto with_place = [&](const Error& error) {
        return Error{fmt::format("{}, at {}: {}", path.string(), pos.offset, error.message),
                     error.kind};
    };
    if (SystemFailed(visited)) {
        return with_place(visited.GetError());
    }
    IBD_RETURN_IF_ERROR(PassAll(window)); // an undecodable record is most likely damaged
    IBD_ASSIGN_OR_RETURN(const bool sound, window.IsSound());
    if (!sound) {
        return BadData("{}: wrong checksum of the undo data at {}", path.string(), pos.offset);
    }
    return visited ? Result<>() : with_place(visited.GetError());
}

Result<BlockUndo> BlockStore::ReadBlockUndo(FilePos pos, const BlockHash& prev_hash) const
{
    BlockUndo undo;
    IBD_RETURN_IF_ERROR(VisitUndo(pos, prev_hash, [&](UndoSource& source) -> Result<> {
        IBD_ASSIGN_OR_RETURN(undo, BlockUndo::Decode(source));
        return {};
    }));
    return undo;
}

Result<> BlockStore::CheckUndo(FilePos pos, const BlockHash& prev_hash) const
{
    return VisitUndo(pos, prev_hash, [](UndoSource&) { return Result<>(); });
}

Result<Bytes> BlockStore::ReadUndo(FilePos pos, const BlockHash& prev_hash) const
{
    Bytes data;
    IBD_RETURN_IF_ERROR(VisitUndo(pos, prev_hash, [&](UndoSource& source) -> Result<> {
        data.reserve(source.Left());
        while (source.Left() > 0) {
            IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, source.Ahead());
            data.insert(data.end(), ahead.begin(), ahead.end());
            source.Pass(ahead.size());
        }
        return {};
    }));
    return data;
}

Result<ScanStats>
BlockStore::ScanFile(int32_t n, const std::function<ScanStep(FilePos, ByteSpan)>& visit) const
{
    const Path path = BlockPath(n);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    ScanStats stats;
    IBD_ASSIGN_OR_RETURN(stats.file_size, file->Size());
    FrameScanner scanner(*file, path, m_key, m_options.magic, kScanWindow);
    bool more = true;
    while (more) {
        IBD_ASSIGN_OR_RETURN(const auto frame, scanner.Next());
        if (!frame) break;
        const ScanStep step = visit(FilePos{n, frame->offset}, frame->block);
        if (step == ScanStep::kNotABlock) {
            scanner.Refuse();
        } else {
            ++stats.frames;
        }
        more = step != ScanStep::kStop;
    }
    stats.skipped_bytes = scanner.SkippedBytes();
    stats.end = scanner.End();
    return stats;
}

std::vector<BlockFileInfo> BlockStore::Files() const
{
    const Lock lock(m_mutex);
    return m_files;
}

int32_t BlockStore::LastFile() const
{
    const Lock lock(m_mutex);
    return static_cast<int32_t>(m_files.size()) - 1;
}

std::vector<std::pair<int32_t, BlockFileInfo>> BlockStore::TakeDirty()
{
    const Lock lock(m_mutex);
    std::vector<std::pair<int32_t, BlockFileInfo>> out;
    for (int32_t n : m_dirty) out.emplace_back(n, m_files[static_cast<size_t>(n)]);
    m_dirty.clear();
    return out;
}

void BlockStore::PutBack(std::span<const std::pair<int32_t, BlockFileInfo>> files)
{
    const Lock lock(m_mutex);
    for (const auto& [n, info] : files) m_dirty.insert(n);
}

uint64_t BlockStore::DiskUsage() const
{
    const Lock lock(m_mutex);
    uint64_t sum = 0;
    for (const BlockFileInfo& info : m_files) sum += uint64_t{info.size} + info.undo_size;
    return sum;
}

} // namespace ibd
