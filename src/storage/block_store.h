// BlockStore: the blk?????.dat and rev?????.dat files of one network. Owns their layout, the
// obfuscation key and the records of files; it does not know chains. Reads are const and may run on
// any thread; a mutex serialises writes. Memory: no caches; ScanFile holds one read window
// (kScanWindow plus one block). Format: doc/formats/blk.md, doc/formats/rev.md.
#pragma once

#include "primitives/uint256.h"
#include "storage/block_file_info.h"
#include "storage/block_frame.h"
#include "storage/xor_key.h"
#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"
#include "util/unzeroed_bytes.h"

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
inline constexpr uint64_t kFileStretch = 8 << 20;     //!< bytes of a file written back to disk
                                                      //!< together
inline constexpr uint32_t kUndoChecksumSize = 32;

/** Position of a block or undo record: file number and offset of its first byte, after the frame.
 */
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

/** The expected time of the next read of written data. */
enum class ReadAgain {
    kSoon, //!< it stays in the system's cache, like any file
    kLate, //!< it is dropped from the system's cache once it is on disk
};

/** The answer of a visitor of ScanFile to a frame. */
enum class ScanStep {
    kNext,      //!< continue after the frame
    kNotABlock, //!< no real frame: search again from just after its magic
    kStop,      //!< end the scan
};

struct ScanStats {
    uint64_t file_size = 0;
    uint64_t frames = 0;        //!< frames visited and accepted
    uint64_t skipped_bytes = 0; //!< between, before and after frames (padding, garbage)
    uint64_t end = 0;           //!< offset after the last accepted frame
};

class BlockStore {
public:
    static constexpr size_t kScanWindow = 8 << 20;
    static constexpr size_t kMaxOpen = 64; //!< files kept open for writing between flushes
    /** Parts of files with kLate data that stay in the system's cache, because they may not be on
     *  disk yet. */
    static constexpr size_t kCachedStretches = 8;

    /** Opens or creates the store. Reads or creates xor.dat; as in Core, a non-zero key and
     *  `obfuscate_new` false are an error. `files`: the records of the block index (empty for a new
     *  or reindexed store); the last file is appended to. */
    static Result<std::unique_ptr<BlockStore>>
    Open(Env& env, Logger& log, BlockStoreOptions options, std::vector<BlockFileInfo> files = {});

    // Reading. Errors name file and offset.

    /** The block at `pos`. Checks magic and length, and with `expected` also the header's hash. */
    Result<UnzeroedBytes> ReadBlock(FilePos pos, const BlockHash* expected = nullptr) const;
    /** The same into a vector, for messages; takes a fifth more time. */
    Result<Bytes> ReadBlockAsVector(FilePos pos, const BlockHash* expected = nullptr) const;
    /** Bytes of the block at `pos`, according to its frame. */
    Result<uint32_t> BlockSize(FilePos pos) const;
    /** `size` bytes of the block at `pos` from `offset`; an error if they exceed the block. */
    Result<Bytes> ReadBlockPart(FilePos pos, uint32_t offset, uint32_t size) const;
    /** At most `most` bytes of it from `offset`: less if the block ends before. */
    Result<Bytes> ReadBlockUpTo(FilePos pos, uint32_t offset, uint32_t most) const;
    /** The error for a damaged block at `pos`: names file, offset, block, height, the fault, and
     *  the remedy. TakeSuspects() then returns the file's number. */
    Error DamagedBlock(FilePos pos, const BlockHash& hash, int height, std::string_view what) const;
    /** The error for a block in an unreadable file: names block, height and, if the file is
     *  missing, the remedy. */
    Error UnreadableBlock(FilePos pos, const BlockHash& hash, int height, const Error& error) const;
    /** Numbers of the files for which DamagedBlock() was called since the last call, ascending. Not
     *  all are damaged: a second read may have found the block intact. Any thread. */
    std::vector<int32_t> TakeSuspects() const;
    /** The undo record at `pos`, its checksum verified with the previous block's hash. */
    Result<Bytes> ReadUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** The same record, decoded while it is read: its bytes (up to kMaxUndoSize) are never in
     *  memory at once. */
    Result<BlockUndo> ReadBlockUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** Checks only the checksum. */
    Result<> CheckUndo(FilePos pos, const BlockHash& prev_hash) const;
    /** Walks the frames of blk file `n` in file order with large reads. A frame is the magic, a
     *  length of 80 to 4,000,000 and that many bytes inside the file; other bytes are skipped. The
     *  bytes given to `visit` are valid during the call. */
    Result<ScanStats>
    ScanFile(int32_t n, const std::function<ScanStep(FilePos pos, ByteSpan block)>& visit) const;

    /** Numbers of the existing blk files, ascending, with or without a record. */
    Result<std::vector<int32_t>> ListBlockFiles() const;
    /** Whether the files have no data but this block at the start of the first one, or not even
     *  that: the state that an interrupted first start leaves. */
    Result<bool> HoldsAtMost(ByteSpan first_block) const;
    Path BlockPath(int32_t n) const;
    Path UndoPath(int32_t n) const;
    const XorKey& Key() const { return m_key; }
    const std::array<uint8_t, 4>& Magic() const { return m_options.magic; }

    // Writing.

    /** Appends a block; starts a new file at the maximum size. Writeback of each full stretch is
     *  started, so that Flush() has little to do; Flush() reports its errors. */
    Result<FilePos> WriteBlock(ByteSpan raw, uint32_t height, uint32_t time,
                               ReadAgain again = ReadAgain::kSoon);
    /** Adds the record of a block that ScanFile found in place. */
    void AddExisting(FilePos pos, uint32_t size, uint32_t height, uint32_t time);
    /** Appends undo data to the rev file of the block's file, with stretches as above. `height`:
     *  the block's. */
    Result<FilePos> WriteUndo(int32_t file, const UndoRecord& record, uint32_t height,
                              ReadAgain again = ReadAgain::kSoon);
    Result<FilePos> WriteUndo(int32_t file, ByteSpan undo, const BlockHash& prev_hash,
                              uint32_t height);
    /** Syncs all files written since the last Flush, without blocking writers; call it before the
     *  index names their records. After a failed sync it fails until the store is opened again. */
    Result<> Flush();
    /** Opens the rev file by name again for the next undo record: the open file may have been
     *  removed or replaced. */
    Result<> ReopenUndo(int32_t file);

    // Pruning. First the records of a file's blocks are removed from the index, then its own record
    // is cleared; it may be deleted once that is durable. Not for the last file.

    /** Clears the record of blk and rev file `n`. */
    void ForgetFile(int32_t n);
    /** Deletes both files, if they exist; the record must be clear. */
    Result<> DeleteFile(int32_t n);
    /** Whether a file was extended by a chunk since the last call; any thread. */
    bool TakeGrown() { return m_grown.exchange(false); }

    // Records, for the block index. Copies; any thread.

    std::vector<BlockFileInfo> Files() const;
    int32_t LastFile() const;
    /** Records changed since the last call, with their file numbers. */
    std::vector<std::pair<int32_t, BlockFileInfo>> TakeDirty();
    /** Marks the records of these files as changed again, after a failed write. */
    void PutBack(std::span<const std::pair<int32_t, BlockFileInfo>> files);
    /** Bytes in blk and rev files according to the records. */
    uint64_t DiskUsage() const;

private:
    /** A file with unsynced writes, or the last one written. */
    struct OpenFile {
        std::shared_ptr<WritableFile> file; //!< shared with the thread that syncs it without the
                                            //!< lock
        uint64_t reserved = 0;              //!< size on disk, including preallocation
        uint64_t started = 0;               //!< start of the next stretch
        bool dirty = false;
        bool complete = false; //!< no more data will be appended
    };
    /** A part of a file to be written back. */
    struct Stretch {
        std::shared_ptr<WritableFile> file;
        uint64_t begin = 0, end = 0;
        ReadAgain again = ReadAgain::kSoon;
    };
    enum class Kind : uint8_t { kBlocks, kUndo };
    using FileId = std::pair<Kind, int32_t>;

    BlockStore(Env& env, BlockStoreOptions options, XorKey key, std::vector<BlockFileInfo> files);

    Path PathOf(FileId id) const;
    template <typename Buffer>
    Result<Buffer> ReadBlockInto(FilePos pos, const BlockHash* expected) const;
    /** Calls `visit` to read a record or a part of it, then checks the checksum. */
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

    Mutex m_flushing; //!< taken before m_mutex; serialises calls of Flush()
    mutable Mutex m_mutex;
    std::vector<BlockFileInfo> m_files IBD_GUARDED_BY(m_mutex); //!< never empty
    std::set<int32_t> m_dirty IBD_GUARDED_BY(m_mutex);
    std::map<FileId, OpenFile> m_open IBD_GUARDED_BY(m_mutex); //!< at most kMaxOpen
    std::vector<Stretch> m_due IBD_GUARDED_BY(m_mutex);        //!< full, writeback not started
    std::deque<Stretch> m_cached IBD_GUARDED_BY(m_mutex);      //!< kLate, writeback started
    uint32_t m_last_undo_height IBD_GUARDED_BY(m_mutex) = 0;
    bool m_new_names IBD_GUARDED_BY(m_mutex) = false; //!< the directory needs a sync
    std::optional<Error> m_sync_failure IBD_GUARDED_BY(m_mutex);
    mutable Mutex m_suspects_mutex; //!< taken last
    mutable std::set<int32_t> m_suspects IBD_GUARDED_BY(m_suspects_mutex);
    std::atomic<bool> m_grown{false};
};

} // namespace ibd
