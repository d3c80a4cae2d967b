// BlockIndex: keeps the copy of the header tree in the database blocks/index, and remembers which
// nodes differ from it. Owned by the ChainManager and under its headers lock; the owner does the
// writing.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_index_db.h"
#include "storage/block_store.h"

#include <map>
#include <unordered_set>

namespace ibd {

/** What the database keeps of a node. */
BlockIndexRecord ToRecord(const HeaderNode& node);

class BlockIndex {
public:
    using Nodes = std::unordered_set<const HeaderNode*>;

    /** `tree` and `db` must outlive it. */
    BlockIndex(HeaderTree& tree, BlockIndexDb& db) : m_tree(tree), m_db(db) {}

    /** Reads every record. An error names the block whose record is wrong. */
    Result<> Load();
    /** The nodes that differ from the database; from now on they are taken for written. */
    Nodes TakeDirty() { return std::exchange(m_dirty, {}); }
    /** After a write that failed. */
    void PutBack(const Nodes& nodes) { m_dirty.insert(nodes.begin(), nodes.end()); }
    void MarkDirty(const HeaderNode* node) { m_dirty.insert(node); }
    /** As HeaderTree's, remembering which nodes changed. */
    void MarkFailed(HeaderNode* node);
    void ClearFailure(HeaderNode* node);

    /** Records that the block of `node` is stored at `pos`; with its witnesses, which everybody
     *  sends once segwit is active. */
    void SetData(HeaderNode& node, FilePos pos, uint32_t tx_count);
    /** Records that the block was checked; nothing says where it is. */
    void SetSeen(HeaderNode& node, uint32_t tx_count);
    void SetUndo(HeaderNode& node, FilePos pos);
    /** There is no undo data of the block, or none that can be used. */
    void ForgetUndo(HeaderNode& node);
    /** Of the nodes of the tree from the `begin`-th to before the `end`-th: the blocks in these
     *  files are no longer stored. */
    void ForgetFiles(const std::vector<int32_t>& files, size_t begin, size_t end);
    /** The block of `node` is no longer stored. In memory alone: the database is told when the
     *  block is stored again. */
    void Forget(HeaderNode& node);
    /** Sets chain_tx_count of `node` and of all descendants that waited for it, and returns them,
     *  parents first. Empty if the parent is not linked. */
    std::vector<HeaderNode*> Link(HeaderNode& node);

private:
    Result<> InsertRecord(const BlockHash& hash, const BlockIndexRecord& record);
    void MarkDirty(const std::vector<HeaderNode*>& nodes)
    {
        m_dirty.insert(nodes.begin(), nodes.end());
    }

    HeaderTree& m_tree;
    BlockIndexDb& m_db;
    Nodes m_dirty;
    /** By missing parent; of equal parents in the order they came. */
    std::multimap<const HeaderNode*, HeaderNode*> m_waiting;
};

} // namespace ibd
