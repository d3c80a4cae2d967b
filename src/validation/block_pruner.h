// BlockPruner: deletes block files. First the caller flushes all coins, so that none depends on a
// block that will be deleted; then the files are removed from the index, durably; then they are
// deleted. A crash in between leaves files that the next start deletes. Owned by the ChainManager,
// under its state lock except where stated.
#pragma once

#include "storage/coins_db.h"
#include "validation/chain_view.h"
#include "validation/index_writer.h"
#include "validation/pruning.h"

namespace ibd {

class BlockPruner {
public:
    /** All arguments outlive it. */
    BlockPruner(const ChainView& chain, const ChainStores& stores, BlockTree& tree,
                IndexWriter& index)
        : m_chain(chain), m_stores(stores), m_tree(tree), m_index(index)
    {
    }

    /** Reads from the index whether files were deleted before. */
    Result<> Load();
    /** Whether block files of this directory were ever deleted. Any thread. */
    bool HasPruned() const { return m_has_pruned; }
    /** Records that files were deleted. Durable with the next write of the index. Any thread. */
    Result<> SetPruned();

    /** The files to delete so that the rest fits into -prune=<n>; null: nothing is connected. */
    std::vector<int32_t> FilesToPrune(const HeaderNode* connected) const;
    /** The files without a block above `height`, for pruneblockchain. */
    std::vector<int32_t> FilesBelow(const HeaderNode& connected, int32_t height) const;
    /** Deletes the files, except those that a reader would need after a crash. All connected blocks
     *  must be flushed before; `coins`, if not null, are synced, so that a power cut leaves none
     *  that need a deleted block. */
    Result<> Prune(std::vector<int32_t> files, CoinsDb* coins);
    /** Deletes block files that exist but are not in the index. */
    void DeleteForgotten() const;

private:
    /** The highest block up to which no reader needs blocks now. */
    int32_t LastUnlocked(const HeaderNode& connected) const;
    void KeepLocked(std::vector<int32_t>& files) const;
    void DeleteFiles(const std::vector<int32_t>& files) const;

    const ChainView& m_chain;
    const ChainStores& m_stores;
    BlockTree& m_tree;
    IndexWriter& m_index;
    std::atomic<bool> m_has_pruned{false};
};

} // namespace ibd
