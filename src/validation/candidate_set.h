// CandidateSet: the blocks that may become the tip. Each candidate is linked to genesis through
// received blocks, had not failed when it was added, and is at least as preferred as the tip. Owned
// by the ChainManager, under its headers lock, because it depends on the order and statuses of
// nodes: remove a block before its sequence is changed. Memory: usually a few entries; if the coins
// are behind the stored blocks, one for each block above them.
#pragma once

#include "chain/chain.h"

#include <set>

namespace ibd {

class CandidateSet {
public:
    /** Adds a linked block, unless `tip` (null: none) is preferred to it. */
    void Add(HeaderNode& node, const HeaderNode* tip);
    void Remove(HeaderNode& node) { m_nodes.erase(&node); }
    void Clear();
    /** Builds the set again from all blocks of the tree. O(headers). */
    void Rebuild(const HeaderTree& tree, const HeaderNode* tip);
    /** Removes blocks to which the tip is preferred. */
    void Prune(const HeaderNode& tip);
    /** Call after blocks off the active chain were deleted. */
    void DataRemoved() { m_complete = nullptr; }
    /** Removes blocks that fork from the active chain below `height`. */
    void RemoveForksBelow(const Chain& active, int height);

    bool Empty() const { return m_nodes.empty(); }
    size_t Size() const { return m_nodes.size(); }
    /** The most preferred block that can be connected; null: none. Pruned blocks on the way may
     *  prevent it. Removes blocks that cannot be connected; adds those with a broken rule to
     *  `failed`. */
    HeaderNode* Best(const Chain& active, std::vector<const HeaderNode*>& failed);
    /** Whether the most preferred block is `node` or a descendant of it. */
    bool LeadsToBest(const HeaderNode& node) const;

private:
    struct PreferLater {
        bool operator()(const HeaderNode* a, const HeaderNode* b) const
        {
            return LessPreferred(*a, *b);
        }
    };

    bool HasDataDownToChain(const HeaderNode* node, const Chain& active) const;

    std::set<HeaderNode*, PreferLater> m_nodes; //!< the most preferred is last
    const HeaderNode* m_complete = nullptr;     //!< has data down to the active chain
};

} // namespace ibd
