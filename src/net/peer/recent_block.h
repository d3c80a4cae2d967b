// RecentBlock: the transactions of the tip's block by id, for peers that request one after it was
// mined. Not a topic: several topics use it. Owned by PeerManager. Memory: two ids for each
// transaction; the block itself is that of CompactForms.
#pragma once

#include "net/peer/compact_forms.h"

#include <unordered_map>

namespace ibd {

class RecentBlock {
public:
    explicit RecentBlock(CompactForms& forms) : m_forms(forms) {}

    /** `witness_ids`: of the block's transactions. */
    void Set(const HeaderNode& node, const BlockView& block, std::span<const Wtxid> witness_ids)
    {
        m_node = &node;
        m_places.clear();
        for (uint32_t i = 0; i < witness_ids.size(); ++i) {
            m_places.emplace(block.Txs()[i].txid, i);
            m_places.emplace(witness_ids[i], i);
        }
    }
    /** Valid until the next call; null: the block has no transaction with this id. */
    const TxView* Find(const Uint256& id)
    {
        const auto found = m_places.find(id);
        if (found == m_places.end()) return nullptr;
        const BlockView* const block = m_forms.Load(*m_node);
        return block ? &block->Txs()[found->second] : nullptr;
    }

private:
    CompactForms& m_forms;
    const HeaderNode* m_node = nullptr;
    /** The ids are those of a valid block. */
    std::unordered_map<Uint256, uint32_t, Uint256Hasher> m_places;
};

} // namespace ibd
