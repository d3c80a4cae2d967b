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
    /** The block that the coins on disk are at; null: none. */
    virtual const HeaderNode* Flushed() const = 0;
    /** Whether block files were deleted by -prune. */
    virtual bool HasPruned() const = 0;
    /** Whether the node is about to stop. */
    virtual bool Interrupted() const = 0;
};

} // namespace ibd
