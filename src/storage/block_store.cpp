// See block_store.h. Opening, names, records and reading; writing is in block_store_write.cpp.
#include "storage/block_store.h"

#include "crypto/sha256.h"
#include "primitives/block.h"
#include "storage/block_files.h"
#include "storage/frame_scanner.h"
#include "storage/undo.h"
#include "util/endian.h"
#include "util/found.h"
#include "util/hex.h"

namespace ibd {
namespace {

/** Whether only hidden entries and the index exist: no data was ever stored under a key here. */
Result<bool> IsFirstRun(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(directory));
    for (const std::string& name : names) {
        if (!name.starts_with('.') && name != "index") return false;
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
    const Path path = options.blocks_dir / "xor.dat";
    XorKey key;
    // A key mistaken for absent would be replaced, and all blocks would become unreadable.
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

Result<> ReadExactly(const ReadableFile& file, const Path& path, const XorKey& key, uint64_t offset,
                     MutableByteSpan out)
{
    IBD_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(offset, out));
    if (got != out.size()) {
        return BadData("{}: ends at {}, within a record that starts before {}", path.string(),
                       offset + got, offset + 1);
    }
    key.Apply(out, offset);
    return {};
}

/** An undo record, read in windows, with the hash of all bytes read. */
class UndoWindow final : public UndoSource {
public:
    static constexpr size_t kSize = 256 << 10; //!< stays in the cache between read and hash
    static_assert(kSize >= 2 * kMaxSpentCoinSize);

    UndoWindow(const ReadableFile& file, const Path& path, const XorKey& key, uint64_t offset,
               uint32_t size)
        : m_file(file), m_path(path), m_key(key), m_offset(offset), m_unread(size),
          m_window(std::min<size_t>(kSize, size))
    {
    }

    Result<ByteSpan> Ahead() override
    {
        if (m_unread > 0 && m_end - m_begin < kMaxSpentCoinSize) IBD_RETURN_IF_ERROR(Fill());
        return ByteSpan(m_window).subspan(m_begin, m_end - m_begin);
    }
    void Pass(size_t count) override { m_begin += count; }
    uint64_t Left() const override { return m_end - m_begin + m_unread; }

    void Hash(ByteSpan bytes) { m_hash.Write(bytes); }
    /** Call it after the record was read to its end. */
    Hash32 Checksum() const { return Sha256Of(m_hash.Finalize()); }

private:
    Result<> Fill()
    {
        std::copy(m_window.begin() + static_cast<std::ptrdiff_t>(m_begin),
                  m_window.begin() + static_cast<std::ptrdiff_t>(m_end), m_window.begin());
        m_end -= m_begin;
        m_begin = 0;
        const size_t count = std::min<size_t>(m_window.size() - m_end, m_unread);
        const auto fresh = MutableByteSpan(m_window).subspan(m_end, count);
        IBD_RETURN_IF_ERROR(ReadExactly(m_file, m_path, m_key, m_offset, fresh));
        m_hash.Write(fresh);
        m_end += count;
        m_offset += count;
        m_unread -= count;
        return {};
    }

    const ReadableFile& m_file;
    const Path& m_path;
    const XorKey& m_key;
    uint64_t m_offset; //!< of the unread part
    uint64_t m_unread; //!< bytes
    Bytes m_window;
    size_t m_begin = 0, m_end = 0; //!< the unpassed part of the window
    Sha256 m_hash;
};

/** Reads to the end, so that the checksum is known. */
Result<> PassAll(UndoSource& source)
{
    while (source.Left() > 0) {
        IBD_ASSIGN_OR_RETURN(const ByteSpan ahead, source.Ahead());
        source.Pass(ahead.size());
    }
    return {};
}

/** Length of the record at `pos`, from its frame. */
Result<uint32_t> ReadFrameHeader(const ReadableFile& file, const Path& path, const XorKey& key,
                                 const std::array<uint8_t, 4>& magic, uint32_t offset)
{
    if (offset < kFrameHeaderSize) return BadData("{}: no record at {}", path.string(), offset);
    uint8_t header[kFrameHeaderSize];
    IBD_RETURN_IF_ERROR(ReadExactly(file, path, key, offset - kFrameHeaderSize, header));
    if (std::memcmp(header, magic.data(), magic.size()) != 0) {
        return BadData("{}: no record at {}: {} instead of the network magic {}", path.string(),
                       offset, ToHex(ByteSpan(header, 4)), ToHex(magic));
    }
    return ReadLE32(header + 4);
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

Result<Bytes> BlockStore::ReadBlock(FilePos pos, const BlockHash* expected) const
{
    const Path path = BlockPath(pos.file);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint32_t size,
                         ReadFrameHeader(*file, path, m_key, m_options.magic, pos.offset));
    if (size < BlockHeader::kSize || size > kMaxStoredBlockSize) {
        return BadData("{}: block at {} claims {} bytes", path.string(), pos.offset, size);
    }
    Bytes block(size);
    IBD_RETURN_IF_ERROR(ReadExactly(*file, path, m_key, pos.offset, block));
    if (expected) {
        const Uint256 hash(Sha256d(ByteSpan(block).first(BlockHeader::kSize)));
        if (hash != *expected) {
            return BadData("{}: block at {} is {}, not {}", path.string(), pos.offset, hash.ToHex(),
                           expected->ToHex());
        }
    }
    return block;
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
    const bool gone = !m_env.Exists(BlockPath(pos.file));
    return SystemError("block {} at height {}: {}{}", hash.ToHex(), height, error.message,
                       gone ? ": put the file back, or restart with -reindex, which leaves its "
                              "blocks out and has them fetched from peers"
                            : "");
}

std::vector<int32_t> BlockStore::TakeSuspects() const
{
    const Lock lock(m_suspects_mutex);
    const std::vector<int32_t> files(m_suspects.begin(), m_suspects.end());
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
    IBD_RETURN_IF_ERROR(ReadExactly(*file, path, m_key, uint64_t{pos.offset} + offset, part));
    return part;
}

/** Length of the undo record at `offset`, which lies inside the file completely. */
Result<uint32_t> BlockStore::UndoSize(const ReadableFile& file, const Path& path,
                                      uint32_t offset) const
{
    IBD_ASSIGN_OR_RETURN(const uint32_t size,
                         ReadFrameHeader(file, path, m_key, m_options.magic, offset));
    if (size > kMaxUndoSize) {
        return BadData("{}: undo data at {} claims {} bytes", path.string(), offset, size);
    }
    IBD_ASSIGN_OR_RETURN(const uint64_t file_size, file.Size());
    if (uint64_t{offset} + size + kUndoChecksumSize > file_size) {
        return BadData("{}: undo data at {} claims {} bytes, and the file ends at {}",
                       path.string(), offset, size, file_size);
    }
    return size;
}

Result<> BlockStore::VisitUndo(FilePos pos, const BlockHash& prev_hash,
                               const std::function<Result<>(UndoSource&)>& visit) const
{
    const Path path = UndoPath(pos.file);
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(path));
    if (!there) return BadData("{}: there is no such file", path.string());
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    IBD_ASSIGN_OR_RETURN(const uint32_t size, UndoSize(*file, path, pos.offset));
    UndoWindow window(*file, path, m_key, pos.offset, size);
    window.Hash(prev_hash.Span());
    const Result<> visited = visit(window);
    const auto with_place = [&](const Error& error) {
        return Error{fmt::format("{}, at {}: {}", path.string(), pos.offset, error.message),
                     error.kind};
    };
    if (SystemFailed(visited)) {
        return with_place(visited.GetError());
    }
    IBD_RETURN_IF_ERROR(PassAll(window)); // an undecodable record is most likely damaged
    Hash32 sum;
    IBD_RETURN_IF_ERROR(ReadExactly(*file, path, m_key, uint64_t{pos.offset} + size, sum));
    if (sum != window.Checksum()) {
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
