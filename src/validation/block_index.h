// BlockIndex: the header tree and its copy in the database blocks/index. Owned by the ChainManager
// and under its lock; remembers which nodes differ from the database.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_index_db.h"
#include "storage/block_store.h"

#include <map>
#include <unordered_set>

namespace ibd {

class BlockIndex {
public:
    /** `params` and `db` must outlive it. */
    BlockIndex(const ChainParams& params, BlockIndexDb& db) : m_tree(params), m_db(db) {}

    /** Reads every record. An error names the block whose record is wrong. */
    Result<> Load();
    /** Syncs the block files, then writes changed file records and nodes, synced. */
    Result<> Save(BlockStore& blocks);

    HeaderTree& Tree() { return m_tree; }
    const HeaderTree& Tree() const { return m_tree; }
    void MarkDirty(const HeaderNode* node) { m_dirty.insert(node); }
    /** As HeaderTree's, remembering which nodes changed. */
    void MarkFailed(HeaderNode* node);
    void ClearFailure(HeaderNode* node);

    /** Records that the block of `node` is stored at `pos`; with its witnesses, which everybody
     *  sends once segwit is active. */
    void SetData(HeaderNode& node, FilePos pos, uint32_t tx_count);
    /** Sets chain_tx_count of `node` and of all descendants that waited for it, and returns them,
     *  parents first. Empty if the parent is not linked. */
    std::vector<HeaderNode*> Link(HeaderNode& node);

private:
    Result<> InsertRecord(const BlockHash& hash, const BlockIndexRecord& record);
    void MarkDirty(const std::vector<HeaderNode*>& nodes)
    {
        m_dirty.insert(nodes.begin(), nodes.end());
    }

    HeaderTree m_tree;
    BlockIndexDb& m_db;
    std::unordered_set<const HeaderNode*> m_dirty;
    /** By missing parent; of equal parents in the order they came. */
    std::multimap<const HeaderNode*, HeaderNode*> m_waiting;
};

} // namespace ibd
