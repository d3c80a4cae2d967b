// See coins_replay.h.
#include "validation/coins_replay.h"

#include "validation/block_reader.h"
#include "validation/connect_block.h"

namespace ibd {

Result<> CoinsReplay::Complete(const std::vector<BlockHash>& heads)
{
    m_chain.Log().Info("Replaying blocks: the last write of the coins was interrupted");
    CHECK(heads.size() == 2);
    const HeaderNode* to = m_chain.Read().Find(heads[0]);
    const HeaderNode* from = heads[1].IsNull() ? nullptr : m_chain.Read().Find(heads[1]);
    if (!to || (!from && !heads[1].IsNull())) {
        return BadData("chainstate in {} was being moved to block {}, which the block index does "
                       "not have; restart with {}",
                       m_coins.Directory().string(), heads[0].ToHex(), m_chain.RebuildOption());
    }
    const HeaderNode* fork = from ? LastCommonAncestor(from, to) : nullptr;
    for (; from != fork && from->prev; from = from->prev) { // genesis makes no coins
        IBD_RETURN_IF_ERROR(TakeBack(*from));
    }
    for (int height = fork ? fork->height + 1 : 1; height <= to->height; ++height) {
        IBD_RETURN_IF_ERROR(Apply(*to->Ancestor(height)));
    }
    return m_cache.Flush(m_coins, to->hash);
}

Result<> CoinsReplay::TakeBack(const HeaderNode& node)
{
    const StoredBlock stored = m_chain.Where(node);
    IBD_ASSIGN_OR_RETURN(auto block,
                         LoadBlock(m_chain.Blocks(), stored, m_chain.Params().consensus));
    if (stored.undo.IsNull()) {
        return BadData("an interrupted write of the coins cannot be completed: block {} at "
                       "height {} has no undo data; restart with {}",
                       node.hash.ToHex(), node.height, m_chain.RebuildOption());
    }
    IBD_ASSIGN_OR_RETURN(BlockUndo undo, BlockArchive(m_chain.Blocks()).Undo(stored));
    IBD_RETURN_IF_ERROR(
        DisconnectBlock(block->view, node, m_chain.Params(), std::move(undo), m_cache));
    return {};
}

Result<> CoinsReplay::Apply(const HeaderNode& node)
{
    IBD_ASSIGN_OR_RETURN(
        auto block, LoadBlock(m_chain.Blocks(), m_chain.Where(node), m_chain.Params().consensus));
    m_cache.BeginBlock();
    for (const TxView& tx : block->view.Txs()) {
        if (!tx.IsCoinbase()) {
            for (const InputView& input : tx.inputs) {
                IBD_RETURN_IF_ERROR(m_cache.Spend(input.Prevout()));
            }
        }
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            m_cache.Add({tx.txid, i},
                        {tx.outputs[i].value, ScriptBytes(tx.outputs[i].script_pubkey),
                         static_cast<uint32_t>(node.height), tx.IsCoinbase()},
                        true);
        }
    }
    m_cache.EndBlock();
    return {};
}

} // namespace ibd
