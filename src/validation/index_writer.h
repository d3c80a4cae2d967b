// IndexWriter: writes changed records of the header tree to the block index, after the files that
// they name. Owned by the ChainManager. Any thread; one write at a time (lock: saving).
#pragma once

#include "validation/block_tree.h"
#include "validation/chain_options.h"

namespace ibd {

class IndexWriter {
public:
    /** All arguments outlive it. */
    IndexWriter(const ChainStores& stores, BlockTree& tree) : m_stores(stores), m_tree(tree) {}

    /** Writes all changed records. After an error they still count as changed. */
    Result<> Save() IBD_EXCLUDES(m_saving, m_tree.headers.mutex);
    /** Marks this block as invalid in its record, but not in the tree. */
    void MarkBroken(const HeaderNode& node) IBD_EXCLUDES(m_tree.headers.mutex);

private:
    Result<> Write(const BlockIndex::Nodes& nodes) IBD_REQUIRES(m_saving);
    Result<> WriteRecords(BlockIndexUpdate update);

    const ChainStores& m_stores;
    BlockTree& m_tree;
    Mutex m_saving;
    const HeaderNode* m_broken IBD_GUARDED_BY(m_tree.headers.mutex) = nullptr;
};

} // namespace ibd
