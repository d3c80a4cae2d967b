// Chain: one branch of the header tree as an array by height, usually the active one. Holds
// pointers only. Same thread rule as the tree: one writer, and no reader while it writes.
#pragma once

#include "chain/header_tree.h"

namespace ibd {

class Chain {
public:
    /** -1 when empty. */
    int Height() const { return static_cast<int>(m_nodes.size()) - 1; }
    HeaderNode* Tip() const { return m_nodes.empty() ? nullptr : m_nodes.back(); }
    HeaderNode* Genesis() const { return m_nodes.empty() ? nullptr : m_nodes.front(); }
    /** Null when out of range. */
    HeaderNode* operator[](int height) const;
    bool Contains(const HeaderNode* node) const { return node && (*this)[node->height] == node; }
    /** The block after `node` on this chain; null at the tip or off the chain. */
    HeaderNode* Next(const HeaderNode* node) const;
    /** Makes `tip` the last block; takes time in proportion to the changed part. Null empties the
     *  chain. */
    void SetTip(HeaderNode* tip);
    /** Highest ancestor of `node` (or itself) on this chain; null if none. */
    HeaderNode* FindFork(const HeaderNode* node) const;

private:
    std::vector<HeaderNode*> m_nodes;
};

} // namespace ibd
