// ChainForIndexes: the indexes' interface to the node's chain. Owned by the node.
#pragma once

#include "index/index_chain.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainForIndexes final : public IndexChain {
public:
    explicit ChainForIndexes(const ChainManager& chain) : m_chain(chain) {}

    ChainReader Read() const override { return m_chain.Read(); }
    const BlockStore& Blocks() const override { return m_chain.Blocks(); }
    const HeaderNode* Flushed() const override { return m_chain.Flushed(); }
    std::vector<DamagedBlock> Damaged(size_t n) const override { return m_chain.Damaged(n); }
    bool HasPruned() const override { return m_chain.HasPruned(); }
    bool Interrupted() const override { return m_chain.Interrupted(); }

private:
    const ChainManager& m_chain;
};

} // namespace ibd
