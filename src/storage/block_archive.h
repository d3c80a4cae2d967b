// BlockArchive: reads stored blocks and their undo data at given file positions. The header tree
// has the positions, under its lock: copy them into a StoredBlock there, release the lock, then
// read. A value that refers to a BlockStore, which outlives it. Any thread.
#pragma once

#include "storage/block_store.h"
#include "storage/undo.h"

namespace ibd {

/** A block that was found damaged, and where it was. */
struct DamagedBlock {
    BlockHash hash;
    FilePos data;
};

/** The positions of a block and its undo data, and the data to check them. */
struct StoredBlock {
    StoredBlock() = default;
    /** Copies from a HeaderNode under the headers lock. A template, as storage does not know the
     *  header tree. */
    template <typename Node>
    explicit StoredBlock(const Node& node)
        : hash(node.hash), prev_hash(node.PrevHash()), height(node.height), seen(node.tx_count > 0)
    {
        if (node.HasData()) data = {node.file, node.data_pos};
        if (node.HasUndo()) undo = {node.file, node.undo_pos};
    }

    BlockHash hash;
    BlockHash prev_hash;
    int32_t height = 0;
    bool seen = false; //!< the block was stored once; if it is not stored now, it was pruned
    FilePos data;      //!< null: not stored
    FilePos undo;      //!< null: no undo data
};

class BlockArchive {
public:
    explicit BlockArchive(const BlockStore& blocks) : m_blocks(blocks) {}

    /** The bytes of a block, its header checked against the hash. The error names the block if it
     *  is not stored, else file and offset. */
    Result<UnzeroedBytes> Block(const StoredBlock& block) const;
    /** The same for messages (BlockStore::ReadBlockAsVector()). */
    Result<Bytes> BlockAsVector(const StoredBlock& block) const;
    /** The undo data of a block, its checksum verified. Errors likewise. */
    Result<BlockUndo> Undo(const StoredBlock& block) const;
    /** Checks only that undo data is stored and its checksum is right. */
    Result<> CheckUndo(const StoredBlock& block) const;

private:
    const BlockStore& m_blocks;
};

} // namespace ibd
