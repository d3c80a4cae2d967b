// BlockStore: the blk?????.dat and rev?????.dat files of one network. Owns their layout, the
// obfuscation key and the per-file records; knows nothing of chains. Reads are const and may run on
// any thread; writes exclude each other by an inner mutex. Memory: no caches; ScanFile holds one
// read window (kScanWindow plus one block). Format: doc/formats/blk.md, doc/formats/rev.md.
#pragma once

#include "primitives/uint256.h"
#include "storage/block_file_info.h"
#include "storage/block_frame.h"
#include "storage/xor_key.h"
#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace ibd {

struct BlockUndo; // storage/undo.h
struct UndoRecord;
class UndoSource;

inline constexpr uint64_t kMaxBlockFileSize = 128 << 20;
inline constexpr uint64_t kBlockFileChunk = 16 << 20; //!< preallocation step of blk files
inline constexpr uint64_t kUndoFileChunk = 1 << 20;   //!< preallocation step of rev files
inline constexpr uint64_t kFileStretch = 8 << 20;     //!< of a file, what goes to disk together
inline constexpr uint32_t kUndoChecksumSize = 32;

/** Where a block or undo record lies: file number and offset of its first byte, after the frame. */
struct FilePos {
    int32_t file = -1;
    uint32_t offset = 0;

    bool IsNull() const { return file < 0; }
    auto operator<=>(const FilePos&) const = default;
};

struct BlockStoreOptions {
    Path blocks_dir;                //!< exists
    std::array<uint8_t, 4> magic{}; //!< network magic, in wire order
    bool obfuscate_new = true;      //!< -blocksxor: a new directory gets a random key
    uint64_t max_file_size = kMaxBlockFileSize;
    uint64_t block_chunk = kBlockFileChunk;
    uint64_t undo_chunk = kUndoFileChunk;
    uint64_t stretch = kFileStretch;
};

/** When a block or its undo data that is written is likely to be read again. */
enum class ReadAgain {
    kSoon, //!< it stays in the system's cache, as of any file
    kLate, //!< once on the disk it leaves the cache to others
};

/** What a visitor of ScanFile makes of a frame. */
enum class ScanStep {
    kNext,      //!< go on after the frame
    kNotABlock, //!< the frame was an accident: search again from just behind its magic
    kStop,      //!< end the scan
};

struct ScanStats {
    uint64_t file_size = 0;
    uint64_t frames = 0;        //!< frames visited and not refused
    uint64_t skipped_bytes = 0; //!< between, before and after frames (padding, garbage)
    uint64_t end = 0;           //!< offset behind the last frame taken
};

class BlockStore {
public:
    static constexpr size_t kScanWindow = 8 << 20;
    static constexpr size_t kMaxOpen = 64; //!< files kept open for writing between flushes
    /** Stretches of what is read late which the system's cache keeps nevertheless, as the
     *  disk may not have them yet. */
    static constexpr size_t kCachedStretches = 8;

    /** Opens or starts the store. Reads or creates xor.dat; an error if the directory has a
     *  non-zero key and `obfuscate_new` is false, as Core has it. `files` are the records of the
     *  block index (empty for a new or reindexed store); the last of them is written on. */
    static Result<std::unique_ptr<BlockStore>>
    Open(Env& env, Logger& log, BlockStoreOptions options, std::vector<BlockFileInfo> files = {});

    // Reading. Errors name file and offset.

    /** The block at `pos`. Checks magic and length; with `expected` also the header's hash. */
    Result<Bytes> ReadBlock(FilePos pos, const BlockHash* expected = nullptr) const;
    /** `size` bytes of the block at `pos` from `offset`; an error when they are not all inside. */
    Result<Bytes> ReadBlockPart(FilePos pos, uint32_t offset, uint32_t size) const;
    /** The error for a block that does not lie at `pos` as it should: names file, offset, block,
     *  height, what is wrong there, and the remedy. The file is noted for TakeSuspects(). */
    Error DamagedBlock(FilePos pos, const BlockHash& hash, int height, std::string_view what) const;
    /** The error for a block of which the file cannot be read: names block, height and, if the file
     *  is gone, the remedy. */
    Error UnreadableBlock(FilePos pos, const BlockHash& hash, int height, const Error& error) const;
    /** Numbers of the files of which DamagedBlock() spoke since the last call, ascending. A second
     *  reading may have found the block sound. Any thread. */
    std::vector<int32_t> TakeSuspects() const;
    /** The undo record at `pos`, its checksum verified with the previous block's hash. */
    Result<Bytes> ReadUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** The same, decoded as it is read, so that its bytes (up to kMaxUndoSize) are never held. */
    Result<BlockUndo> ReadBlockUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** Only the checksum. */
    Result<> CheckUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** Walks the frames of blk file `n` in file order with large reads. A frame is the magic, a
     *  length of 80 to 4,000,000 and that many bytes inside the file; all else is skipped. The
     *  bytes given to `visit` are valid during the call. */
    Result<ScanStats>
    ScanFile(int32_t n, const std::function<ScanStep(FilePos pos, ByteSpan block)>& visit) const;

    /** Numbers of the blk files present, ascending, whether the records know them or not. */
    Result<std::vector<int32_t>> ListBlockFiles() const;
    Path BlockPath(int32_t n) const;
    Path UndoPath(int32_t n) const;
    const XorKey& Key() const { return m_key; }
    const std::array<uint8_t, 4>& Magic() const { return m_options.magic; }

    // Writing.

    /** Appends a block; starts a new file when it would pass the maximum. With each stretch that is
     *  full the system is told to begin with it, so that Flush() finds little to do; if that fails,
     *  Flush() says so. */
    Result<FilePos> WriteBlock(ByteSpan raw, uint32_t height, uint32_t time,
                               ReadAgain again = ReadAgain::kSoon);
    /** Records a block found in place by ScanFile. */
    void AddExisting(FilePos pos, uint32_t size, uint32_t height, uint32_t time);
    /** Appends undo data to the rev file of the block's file, with stretches as above. `height` is
     *  the block's. */
    Result<FilePos> WriteUndo(int32_t file, const UndoRecord& record, uint32_t height,
                              ReadAgain again = ReadAgain::kSoon);
    Result<FilePos> WriteUndo(int32_t file, ByteSpan undo, const BlockHash& prev_hash,
                              uint32_t height);
    /** Syncs all files written since the last Flush, and holds nobody up who writes; call before
     *  the index names their records. Once a sync failed, this fails until the store is opened
     *  again. */
    Result<> Flush();
    /** The next undo record goes to the file that has the name then: who took the rev file away, or
     *  put another in its place, did not take away the one that is open. */
    Result<> ReopenUndo(int32_t file);

    // Pruning. A file that is forgotten holds nothing any more that the index knows; it is deleted
    // once the index on disk says so too. Not for the last file.

    /** Clears the record of blk and rev file `n`. */
    void ForgetFile(int32_t n);
    /** Deletes both, if they are there; the record is clear. */
    Result<> DeleteFile(int32_t n);
    /** Whether files have grown by a chunk since the last call; any thread. */
    bool TakeGrown() { return m_grown.exchange(false); }

    // Records, for the block index. Copies; any thread.

    std::vector<BlockFileInfo> Files() const;
    int32_t LastFile() const;
    /** Records changed since the last call, with their file numbers. */
    std::vector<std::pair<int32_t, BlockFileInfo>> TakeDirty();
    /** What was taken could not be written: the records of these files are dirty again. */
    void PutBack(std::span<const std::pair<int32_t, BlockFileInfo>> files);
    /** Bytes in blk and rev files according to the records. */
    uint64_t DiskUsage() const;

private:
    /** A file with writes that Flush() has not yet synced, or the last one written. */
    struct OpenFile {
        std::shared_ptr<WritableFile> file; //!< shared with who syncs it without the lock
        uint64_t reserved = 0;              //!< size on disk, preallocation included
        uint64_t started = 0;               //!< where the next stretch begins
        bool dirty = false;
        bool complete = false; //!< nothing more will come
    };
    /** Of a file: what the system is to begin with. */
    struct Stretch {
        std::shared_ptr<WritableFile> file;
        uint64_t begin = 0, end = 0;
        ReadAgain again = ReadAgain::kSoon;
    };
    enum class Kind : uint8_t { kBlocks, kUndo };
    using FileId = std::pair<Kind, int32_t>;

    BlockStore(Env& env, BlockStoreOptions options, XorKey key, std::vector<BlockFileInfo> files);

    Path PathOf(FileId id) const;
    Result<uint32_t> UndoSize(const ReadableFile& file, const Path& path, uint32_t offset) const;
    /** Lets `visit` read a record, as much of it as it wants, then looks at its checksum. */
    Result<> VisitUndo(FilePos pos, const BlockHash& prev_hash,
                       const std::function<Result<>(UndoSource&)>& visit) const;

    Result<OpenFile*> OpenForWriting(FileId id) IBD_REQUIRES(m_mutex);
    Result<FilePos> AppendBlock(ByteSpan raw, uint32_t height, uint32_t time, ReadAgain again)
        IBD_EXCLUDES(m_mutex);
    Result<FilePos> AppendUndo(int32_t file, const UndoRecord& record, uint64_t size,
                               uint32_t height, ReadAgain again) IBD_EXCLUDES(m_mutex);
    Result<> Append(FileId id, uint32_t at, std::span<const ByteSpan> payload, uint64_t size,
                    ByteSpan trailer) IBD_REQUIRES(m_mutex);
    Result<> Reserve(FileId id, OpenFile& out, uint64_t end) IBD_REQUIRES(m_mutex);
    uint64_t SizeOf(FileId id) IBD_REQUIRES(m_mutex);
    Result<> Finish(FileId id, ReadAgain again) IBD_REQUIRES(m_mutex);
    Result<int32_t> FileFor(uint64_t frame_size, ReadAgain again) IBD_REQUIRES(m_mutex);
    Result<> MakeRoomToOpen() IBD_REQUIRES(m_mutex);
    void EndStretch(FileId id, uint64_t least, ReadAgain again) IBD_REQUIRES(m_mutex);
    void StartStretches() IBD_EXCLUDES(m_mutex);
    Result<> SyncAll(std::span<const std::shared_ptr<WritableFile>> files, bool new_names);
    void NoteFailure(const Error& error) IBD_REQUIRES(m_mutex);
    BlockFileInfo& Info(int32_t n) IBD_REQUIRES(m_mutex);

    Env& m_env;
    const BlockStoreOptions m_options;
    const XorKey m_key;

    Mutex m_flushing; //!< taken before m_mutex: no Flush() returns before one that began earlier
    mutable Mutex m_mutex;
    std::vector<BlockFileInfo> m_files IBD_GUARDED_BY(m_mutex); //!< never empty
    std::set<int32_t> m_dirty IBD_GUARDED_BY(m_mutex);
    std::map<FileId, OpenFile> m_open IBD_GUARDED_BY(m_mutex); //!< at most kMaxOpen
    std::vector<Stretch> m_due IBD_GUARDED_BY(m_mutex);        //!< full, and not begun with
    std::deque<Stretch> m_cached IBD_GUARDED_BY(m_mutex);      //!< begun with, and read late
    uint32_t m_last_undo_height IBD_GUARDED_BY(m_mutex) = 0;
    bool m_new_names IBD_GUARDED_BY(m_mutex) = false; //!< the directory needs a sync
    std::optional<Error> m_sync_failure IBD_GUARDED_BY(m_mutex);
    mutable Mutex m_suspects_mutex; //!< taken last
    mutable std::set<int32_t> m_suspects IBD_GUARDED_BY(m_suspects_mutex);
    std::atomic<bool> m_grown{false};
};

} // namespace ibd
