// See block_archive.h.
#include "storage/block_archive.h"

namespace ibd {

namespace {

Error NoBlock(const StoredBlock& block)
{
    return BadData("block {} at height {} is not stored", block.hash.ToHex(), block.height);
}

Error NoUndo(const StoredBlock& block)
{
    return BadData("block {} at height {} has no undo data", block.hash.ToHex(), block.height);
}

} // namespace

Result<UnzeroedBytes> BlockArchive::Block(const StoredBlock& block) const
{
    if (block.data.IsNull()) return NoBlock(block);
    return m_blocks.ReadBlock(block.data, &block.hash);
}

Result<Bytes> BlockArchive::BlockAsVector(const StoredBlock& block) const
{
    if (block.data.IsNull()) return NoBlock(block);
    return m_blocks.ReadBlockAsVector(block.data, &block.hash);
}

Result<BlockUndo> BlockArchive::Undo(const StoredBlock& block) const
{
    if (block.undo.IsNull()) return NoUndo(block);
    return m_blocks.ReadBlockUndo(block.undo, block.prev_hash);
}

Result<> BlockArchive::CheckUndo(const StoredBlock& block) const
{
    if (block.undo.IsNull()) return NoUndo(block);
    return m_blocks.CheckUndo(block.undo, block.prev_hash);
}

} // namespace ibd
