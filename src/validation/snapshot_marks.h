// SnapshotMarks: records about blocks that a UTXO snapshot causes, and their removal. Owned by the
// ChainManager. Any thread.
#pragma once

#include "validation/block_tree.h"

namespace ibd {

class SnapshotMarks {
public:
    /** The tree outlives it. */
    explicit SnapshotMarks(BlockTree& tree) : m_tree(tree) {}

    /** Before the coins of a snapshot of `base` come into place: their opening needs it durable. */
    void Assume(const HeaderNode& base) IBD_EXCLUDES(m_tree.headers.mutex);
    /** The history below the snapshot that the chain's coins began with is proven. */
    void Trust() IBD_EXCLUDES(m_tree.headers.mutex);
    /** The coins of a snapshot of `base` are wrong: forgets the failures and the undo data of
     *  blocks above it, which came from them. Before the chain has coins, or after the end of the
     *  thread that changes it. */
    void Disown(const HeaderNode& base) IBD_EXCLUDES(m_tree.headers.mutex);

private:
    BlockTree& m_tree;
};

} // namespace ibd
