// IndexChain: an index's view of the chain. Implemented by the node. Any thread.
#pragma once

#include "chain/chain_reader.h"
#include "storage/block_archive.h"

namespace ibd {

class IndexChain {
public:
    virtual ~IndexChain() = default;
    virtual ChainReader Read() const = 0;
    virtual const BlockStore& Blocks() const = 0;
    /** The last block that an index may name as done: after a crash the coins are at it or above,
     *  and all blocks up to it are where they are now; null: none. */
    virtual const HeaderNode* Flushed() const = 0;
    /** The blocks found damaged since the start of the node, without the first `known` ones. Peers
     *  bring them again, and the new copies are at other positions. */
    virtual std::vector<DamagedBlock> Damaged(size_t known) const = 0;
    /** Whether block files were deleted by -prune. */
    virtual bool HasPruned() const = 0;
    /** Whether the node is about to stop. */
    virtual bool Interrupted() const = 0;
};

} // namespace ibd
