// BlockReader: reads, parses and checks the next blocks of a path on a thread of its own while the
// caller connects the current one. Bounded by kReadAheadBytes. Owned by one caller.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"
#include "storage/undo.h"
#include "util/threads.h"

#include <atomic>
#include <memory>

namespace ibd {

/** Where a block and its undo data lie, and what is needed to check them: a copy, made under the
 *  headers lock, for reading without it. */
struct StoredBlock {
    explicit StoredBlock(const HeaderNode& node);

    BlockHash hash;
    BlockHash prev_hash;
    int32_t height = 0;
    bool seen = false; //!< the block was stored once; if it is not now, it was pruned
    FilePos data;      //!< null: not stored
    FilePos undo;      //!< null: there is none
};

/** Block and undo data as they lie there. Errors name the block. */
Result<Bytes> ReadBlock(const BlockStore& blocks, const StoredBlock& block);
Result<BlockUndo> ReadUndo(const BlockStore& blocks, const StoredBlock& block);

/** A block in memory, ready to connect. */
struct LoadedBlock {
    Bytes raw;
    BlockView view;     //!< of raw
    RuleResult verdict; //!< of CheckBlock
    /** BlockReader only: undo data of an earlier connection is there and its checksum right. */
    bool undo_intact = false;
};

/** Reads one block from disk, parses it and checks it without context. What does not have the hash
 *  and merkle root it should have is read once more, and then an error that names block, height,
 *  file, offset and remedy: damage is no verdict. A broken rule is left to the caller in
 *  `verdict`. */
Result<std::unique_ptr<LoadedBlock>> LoadBlock(const BlockStore& blocks, const StoredBlock& block,
                                               const ConsensusParams& params);

class BlockReader {
public:
    static constexpr size_t kReadAheadBytes = 32 << 20;

    /** Starts reading the blocks of `path` in order. All must have data. */
    BlockReader(const BlockStore& blocks, const ConsensusParams& params,
                std::vector<StoredBlock> path);
    ~BlockReader();

    /** The next block of the path; must be called at most path.size() times. */
    Result<std::unique_ptr<LoadedBlock>> Next();

private:
    using Item = std::shared_ptr<Result<std::unique_ptr<LoadedBlock>>>;

    BoundedQueue<Item> m_queue{kReadAheadBytes};
    NamedThread m_thread;
};

} // namespace ibd
