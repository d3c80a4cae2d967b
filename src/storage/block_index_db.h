// BlockIndexDb: the database blocks/index: a record for every known header and for every block
// file, and a few flags. Any thread may read; one writer at a time. Format:
// doc/formats/block_index.md.
#pragma once

#include "primitives/block.h"
#include "storage/block_file_info.h"
#include "storage/kv_store.h"
#include "util/found.h"

#include <functional>
#include <span>

namespace ibd {

/** The record of a header. `file` is valid only with kHaveData or kHaveUndo; the block's position
 *  only with kHaveData, that of the undo data only with kHaveUndo. */
struct BlockIndexRecord {
    static constexpr uint32_t kValidMask = 7; //!< status bits 0..2: validation level
    static constexpr uint32_t kHaveData = 8;  //!< the block is in a blk file
    static constexpr uint32_t kHaveUndo = 16; //!< its undo data is in a rev file
    static constexpr uint32_t kFailedValid = 32;
    static constexpr uint32_t kFailedChild = 64;
    static constexpr uint32_t kOptWitness = 128;

    int32_t height = 0;
    uint32_t status = 0;
    uint32_t tx_count = 0;
    int32_t file = 0;
    uint32_t data_pos = 0;
    uint32_t undo_pos = 0;
    BlockHeader header;

    bool operator==(const BlockIndexRecord&) const = default;

    Bytes Encode() const;
    static Result<BlockIndexRecord> Decode(ByteSpan value);
};

struct BlockIndexDbOptions {
    Path directory;
    size_t cache_bytes = 2 << 20;
    bool wipe = false;
    bool compact = false;
    KvIoCheck before_io = nullptr; //!< for tests
};

/** Name of the flag that block files were deleted. */
inline constexpr std::string_view kPrunedFlag = "prunedblockfiles";

/** The changes of one durable write of the index. */
struct BlockIndexUpdate {
    std::span<const std::pair<int32_t, BlockFileInfo>> files;
    int32_t last_file = 0;
    /** Hash and record. */
    std::span<const std::pair<BlockHash, BlockIndexRecord>> blocks;
};

class BlockIndexDb {
public:
    static Result<std::unique_ptr<BlockIndexDb>> Open(Env& env, Logger& log,
                                                      const BlockIndexDbOptions& options);

    /** Visits every block record, in order of hash bytes. Stops at an error of `visit` and returns
     *  it. The header's hash is not compared with the key: the caller checks it with the proof of
     *  work. */
    Result<> LoadBlocks(const std::function<Result<>(const BlockHash& hash,
                                                     const BlockIndexRecord& record)>& visit) const;
    /** Records of files 0 to the last; missing ones in between are empty. */
    Result<std::vector<BlockFileInfo>> LoadFiles() const;
    Found<BlockFileInfo> ReadFile(int32_t n) const;
    Found<int32_t> LastFile() const;
    /** Writes all changes in one synced batch. */
    Result<> Write(const BlockIndexUpdate& update);

    /** The flag "R": a -reindex was started and must be resumed. */
    Result<bool> Reindexing() const;
    Result<> SetReindexing(bool on);
    /** Named flags: "prunedblockfiles", "txindex". Nothing: never set. */
    Found<bool> Flag(std::string_view name) const;
    Result<> SetFlag(std::string_view name, bool on);

    KvStore& Kv() { return *m_kv; }

private:
    explicit BlockIndexDb(std::unique_ptr<KvStore> kv) : m_kv(std::move(kv)) {}

    std::unique_ptr<KvStore> m_kv;
};

} // namespace ibd
