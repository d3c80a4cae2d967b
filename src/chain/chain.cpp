// See chain.h.
#include "chain/chain.h"

#include "util/check.h"

namespace ibd {

HeaderNode* Chain::operator[](int height) const
{
    if (height < 0 || height > Height()) return nullptr;
    return m_nodes[static_cast<size_t>(height)];
}

HeaderNode* Chain::Next(const HeaderNode* node) const
{
    return Contains(node) ? (*this)[node->height + 1] : nullptr;
}

void Chain::SetTip(HeaderNode* tip)
{
    if (!tip) {
        m_nodes.clear();
        return;
    }
    m_nodes.resize(static_cast<size_t>(tip->height) + 1);
    for (HeaderNode* node = tip; node;) {
        HeaderNode*& slot = m_nodes[static_cast<size_t>(node->height)];
        if (slot == node) break;
        slot = node;
        node = node->prev;
    }
}

HeaderNode* Chain::FindFork(const HeaderNode* node) const
{
    if (!node) return nullptr;
    if (node->height > Height()) node = node->Ancestor(Height());
    while (node && !Contains(node)) node = node->prev;
    return node ? (*this)[node->height] : nullptr;
}

} // namespace ibd
