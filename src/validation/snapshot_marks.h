// SnapshotMarks: records about blocks that a UTXO snapshot causes, and their removal. Owned by the
// ChainManager. Any thread.
#pragma once

#include "validation/block_tree.h"

namespace ibd {

class SnapshotMarks {
public:
    /** The tree outlives it. */
    explicit SnapshotMarks(BlockTree& tree) : m_tree(tree) {}

    /** Call it before the coins of a snapshot of `base` are put in place: opening them requires
     *  these records to be durable. */
    void Assume(const HeaderNode& base) IBD_EXCLUDES(m_tree.headers.mutex);
    /** Call it when the history below the snapshot from which the coins started is proven. */
    void Trust() IBD_EXCLUDES(m_tree.headers.mutex);
    /** Call it when the coins of a snapshot of `base` are wrong: clears failures and undo data of
     *  blocks above it, because they came from these coins. Call it before the chain has coins, or
     *  after the end of the thread that changes it. */
    void Disown(const HeaderNode& base) IBD_EXCLUDES(m_tree.headers.mutex);

private:
    BlockTree& m_tree;
};

} // namespace ibd
