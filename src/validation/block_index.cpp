// See block_index.h.
#include "validation/block_index.h"

#include "consensus/pow.h"
#include "consensus/script_flags.h"

#include <algorithm>

namespace ibd {

BlockIndexRecord ToRecord(const HeaderNode& node)
{
    BlockIndexRecord record;
    record.height = node.height;
    record.status = node.status;
    record.tx_count = node.tx_count;
    record.file = std::max(node.file, 0);
    record.data_pos = node.data_pos;
    record.undo_pos = node.undo_pos;
    record.header = node.Header();
    return record;
}

Result<> BlockIndex::InsertRecord(const BlockHash& hash, const BlockIndexRecord& record)
{
    HeaderNode* node = m_tree.Insert(record.header, hash);
    if (!node) {
        return BadData("block index: block {} at height {} has an unknown parent; restart with "
                       "-reindex",
                       hash.ToHex(), record.height);
    }
    if (node->height != record.height) {
        return BadData("block index: block {} is recorded at height {} but lies at {}; restart "
                       "with -reindex",
                       hash.ToHex(), record.height, node->height);
    }
    node->status = record.status & ~uint32_t{kFailedMask};
    node->tx_count = record.tx_count;
    if (record.status & (kHaveData | kHaveUndo)) node->file = record.file;
    node->data_pos = record.data_pos;
    node->undo_pos = record.undo_pos;
    if (node->tx_count > 0) Link(*node);
    return {};
}

Result<> BlockIndex::Load()
{
    std::vector<std::pair<BlockHash, BlockIndexRecord>> records;
    const ConsensusParams& params = m_tree.Params().consensus;
    IBD_RETURN_IF_ERROR(m_db.LoadBlocks([&](const BlockHash& hash,
                                            const BlockIndexRecord& record) -> Result<> {
        if (record.header.Hash() != hash || !CheckProofOfWork(hash, record.header.bits, params)) {
            return BadData("block index: record of block {} does not match its hash or lacks proof "
                           "of work for this network; restart with -reindex",
                           hash.ToHex());
        }
        records.emplace_back(hash, record);
        return {};
    }));
    // The database orders records by hash, but a parent must be inserted before its children.
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.second.height < b.second.height; });
    for (const auto& [hash, record] : records) IBD_RETURN_IF_ERROR(InsertRecord(hash, record));
    m_dirty.clear();
    // After the tree is complete: a failed block may be marked without its descendants.
    for (const auto& [hash, record] : records) {
        m_tree.Find(hash)->status |= record.status & kFailedMask;
    }
    MarkDirty(m_tree.AdoptStatuses());
    return {};
}

void BlockIndex::MarkFailed(HeaderNode* node) { MarkDirty(m_tree.MarkFailed(node)); }

void BlockIndex::ClearFailure(HeaderNode* node) { MarkDirty(m_tree.ClearFailure(node)); }

void BlockIndex::SetData(HeaderNode& node, FilePos pos, uint32_t tx_count)
{
    node.file = pos.file;
    node.data_pos = pos.offset;
    node.status |= kHaveData;
    SetSeen(node, tx_count);
}

void BlockIndex::MoveData(HeaderNode& node, FilePos pos)
{
    if (pos.file != node.file) ForgetUndo(node); // it must be in the undo file of the same number
    node.file = pos.file;
    node.data_pos = pos.offset;
    MarkDirty(&node);
}

void BlockIndex::SetSeen(HeaderNode& node, uint32_t tx_count)
{
    node.tx_count = tx_count;
    const ConsensusParams& params = m_tree.Params().consensus;
    if (BuriedActive(node.height, params, BuriedDeployment::kSegwit)) node.status |= kOptWitness;
    node.RaiseValidity(kValidTransactions);
    MarkDirty(&node);
}

void BlockIndex::SetUndo(HeaderNode& node, FilePos pos)
{
    node.undo_pos = pos.offset;
    node.status |= kHaveUndo;
    MarkDirty(&node);
}

void BlockIndex::ForgetUndo(HeaderNode& node)
{
    node.undo_pos = 0;
    node.status &= ~uint32_t{kHaveUndo};
    MarkDirty(&node);
}

void BlockIndex::ForgetFiles(const std::vector<int32_t>& files, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        HeaderNode* const node = m_tree.NodeAt(i);
        if ((node->status & (kHaveData | kHaveUndo)) == 0) continue;
        if (std::ranges::find(files, node->file) == files.end()) continue;
        Forget(*node);
        MarkDirty(node);
    }
}

void BlockIndex::Forget(HeaderNode& node)
{
    node.status &= ~uint32_t{kHaveData | kHaveUndo};
    node.file = -1;
    node.data_pos = node.undo_pos = 0;
    const auto [first, last] = m_waiting.equal_range(node.prev);
    const auto waits =
        std::find_if(first, last, [&](const auto& entry) { return entry.second == &node; });
    if (waits != last) m_waiting.erase(waits);
}

std::vector<HeaderNode*> BlockIndex::Link(HeaderNode& node)
{
    if (node.prev && !node.prev->HaveChainTxs()) {
        m_waiting.emplace(node.prev, &node);
        return {};
    }
    node.chain_tx_count = (node.prev ? node.prev->chain_tx_count : 0) + node.tx_count;
    return LinkWaiting(node);
}

/** Links the blocks that wait for a linked one; returns it and them. */
std::vector<HeaderNode*> BlockIndex::LinkWaiting(HeaderNode& node)
{
    std::vector<HeaderNode*> linked = {&node};
    for (size_t i = 0; i < linked.size(); ++i) {
        const HeaderNode* const at = linked[i];
        const auto [begin, end] = m_waiting.equal_range(at);
        for (auto it = begin; it != end; ++it) {
            it->second->chain_tx_count = at->chain_tx_count + it->second->tx_count;
            linked.push_back(it->second);
        }
        m_waiting.erase(begin, end);
    }
    return linked;
}

void BlockIndex::LinkFrom(HeaderNode& base, uint64_t chain_tx_count)
{
    if (base.HaveChainTxs()) return; // all blocks below it were seen
    base.chain_tx_count = chain_tx_count;
    LinkWaiting(base);
}

void BlockIndex::AssumeWitnesses(HeaderNode& node)
{
    const ConsensusParams& params = m_tree.Params().consensus;
    for (HeaderNode* at = &node; at->prev; at = at->prev) {
        if ((at->status & kOptWitness) != 0) continue;
        if (!BuriedActive(at->height, params, BuriedDeployment::kSegwit)) break;
        at->status |= kOptWitness;
        MarkDirty(at);
    }
}

} // namespace ibd
