// See chain_events.h.
#include "node/chain_events.h"

namespace ibd {

void ChainEvents::Follow(ChainManager& chain)
{
    m_chain = &chain;
    m_tip = nullptr; // of a chain that was closed
    chain.SetObserver(this);
}

void ChainEvents::BlockConnected(const HeaderNode& node, const BlockView& block)
{
    if (m_first) m_first->BlockConnected(node, block);
    m_events.Publish(ibd::BlockConnected{node.hash, node.PrevHash(), node.height});
}

void ChainEvents::BlockDisconnected(const HeaderNode& node, const BlockView& block)
{
    if (m_first) m_first->BlockDisconnected(node, block);
    m_events.Publish(ibd::BlockDisconnected{node.hash, node.PrevHash(), node.height});
}

void ChainEvents::TipChanged(const HeaderNode& node)
{
    if (m_first) m_first->TipChanged(node);
    if (m_on_tip) m_on_tip(node);
    const HeaderNode* const before = std::exchange(m_tip, &node);
    const bool has_new_blocks = !before || LastCommonAncestor(before, &node) != &node;
    m_events.Publish(ibd::TipChanged{
        {node.hash, node.height}, m_chain->IsInitialBlockDownload(), has_new_blocks});
}

void ChainEvents::WarningSet(NodeWarning warning, const std::string& text)
{
    if (m_warnings.Set(warning, text)) m_events.Publish(WarningRaised{warning, text});
}

} // namespace ibd
