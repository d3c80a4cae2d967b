// BlockReader: reads, parses and checks the next blocks of a path on a thread of its own while the
// caller connects the current one. Bounded by kReadAheadBytes. Owned by one caller.
#pragma once

#include "consensus/params.h"
#include "consensus/rule_result.h"
#include "primitives/block.h"
#include "storage/block_archive.h"
#include "util/threads.h"

#include <atomic>
#include <memory>

namespace ibd {

/** A block in memory, ready to connect. */
struct LoadedBlock {
    UnzeroedBytes raw;  //!< as read from a file
    Bytes received;     //!< in its place: as received
    BlockView view;     //!< of either
    RuleResult verdict; //!< of CheckBlock
    /** BlockReader only: undo data of an earlier connection exists and its checksum is right. */
    bool undo_intact = false;
};

/** Reads one block from disk, parses it and checks it without context. If hash or merkle root do
 *  not match, it is read once more. If they still differ, the result is an error that names block,
 *  height, file, offset and remedy: damage says nothing about the block. Any other broken rule is
 *  returned in `verdict`. */
Result<std::unique_ptr<LoadedBlock>> LoadBlock(const BlockStore& blocks, const StoredBlock& block,
                                               const ConsensusParams& params);

class BlockReader {
public:
    static constexpr size_t kReadAheadBytes = 32 << 20;

    /** Starts to read the blocks of `path` in order. All must be stored. */
    BlockReader(const BlockStore& blocks, const ConsensusParams& params,
                std::vector<StoredBlock> path);
    ~BlockReader();

    /** The next block of the path; call it at most path.size() times. */
    Result<std::unique_ptr<LoadedBlock>> Next();

private:
    using Item = std::shared_ptr<Result<std::unique_ptr<LoadedBlock>>>;

    BoundedQueue<Item> m_queue{kReadAheadBytes};
    NamedThread m_thread;
};

} // namespace ibd
