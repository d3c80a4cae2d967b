// BlockIndex: keeps the copy of the header tree in the database blocks/index, and the set of nodes
// that differ from it. Owned by the ChainManager and under its headers lock; the owner writes.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_index_db.h"
#include "storage/block_store.h"

#include <map>
#include <unordered_set>

namespace ibd {

/** The database record of a node. */
BlockIndexRecord ToRecord(const HeaderNode& node);

class BlockIndex {
public:
    using Nodes = std::unordered_set<const HeaderNode*>;

    /** `tree` and `db` must outlive it. */
    BlockIndex(HeaderTree& tree, BlockIndexDb& db) : m_tree(tree), m_db(db) {}

    /** Reads every record. An error names the block with the wrong record. */
    Result<> Load();
    /** Returns the nodes that differ from the database; afterwards they count as written. */
    Nodes TakeDirty() { return std::exchange(m_dirty, {}); }
    /** Marks nodes again after a failed write. */
    void PutBack(const Nodes& nodes) { m_dirty.insert(nodes.begin(), nodes.end()); }
    void MarkDirty(const HeaderNode* node) { m_dirty.insert(node); }
    /** The same as HeaderTree's functions, and note the changed nodes. */
    void MarkFailed(HeaderNode* node);
    void ClearFailure(HeaderNode* node);

    /** Records that the block of `node` is stored at `pos`, including its witnesses: every peer
     *  sends them once segwit is active. */
    void SetData(HeaderNode& node, FilePos pos, uint32_t tx_count);
    /** Records that the block was checked, without a place. */
    void SetSeen(HeaderNode& node, uint32_t tx_count);
    /** Replaces the position of a stored block by that of another copy. Undo data in the rev file
     *  of the same number stays valid. */
    void MoveData(HeaderNode& node, FilePos pos);
    void SetUndo(HeaderNode& node, FilePos pos);
    /** Marks undo data of the block as missing or unusable. */
    void ForgetUndo(HeaderNode& node);
    /** Marks the blocks in these files as no longer stored, for the nodes of the tree from number
     *  `begin` to before number `end`. */
    void ForgetFiles(const std::vector<int32_t>& files, size_t begin, size_t end);
    /** Marks the block of `node` as no longer stored. In memory only: the database is updated when
     *  the block is stored again. */
    void Forget(HeaderNode& node);
    /** Sets chain_tx_count of `node` and of all descendants that waited for it; returns them,
     *  parents first. Empty if the parent is not linked. */
    std::vector<HeaderNode*> Link(HeaderNode& node);
    /** Sets the start of a chain from a snapshot of `base`: up to it the chain has `chain_tx_count`
     *  transactions. Links the blocks that waited for it. */
    void LinkFrom(HeaderNode& base, uint64_t chain_tx_count);
    /** Marks `node` and the blocks below it as received with witnesses: the coins of a snapshot
     *  presuppose them. */
    void AssumeWitnesses(HeaderNode& node);

private:
    std::vector<HeaderNode*> LinkWaiting(HeaderNode& node);
    Result<> InsertRecord(const BlockHash& hash, const BlockIndexRecord& record);
    void MarkDirty(const std::vector<HeaderNode*>& nodes)
    {
        m_dirty.insert(nodes.begin(), nodes.end());
    }

    HeaderTree& m_tree;
    BlockIndexDb& m_db;
    Nodes m_dirty;
    /** By missing parent; blocks with the same parent in the order of arrival. */
    std::multimap<const HeaderNode*, HeaderNode*> m_waiting;
};

} // namespace ibd
