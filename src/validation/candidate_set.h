// CandidateSet: the blocks that may become the tip. Each is linked to genesis through blocks that
// were all seen, did not fail when it was added, and is not less preferred than the tip. Owned by
// the ChainManager, under its headers lock, as it follows the order and the statuses of nodes: who
// changes a block's sequence takes it out before. Memory: a handful of entries, and one for each
// block above the coins when those were left behind.
#pragma once

#include "chain/chain.h"

#include <set>

namespace ibd {

class CandidateSet {
public:
    /** Takes a linked block in, unless `tip` (null: there is none) is preferred to it. */
    void Add(HeaderNode& node, const HeaderNode* tip);
    void Remove(HeaderNode& node) { m_nodes.erase(&node); }
    void Clear();
    /** Starts anew from all blocks of the tree. O(headers). */
    void Rebuild(const HeaderTree& tree, const HeaderNode* tip);
    /** Forgets what the tip is preferred to. */
    void Prune(const HeaderNode& tip);
    /** Blocks off the active chain may no longer be stored. */
    void DataRemoved() { m_complete = nullptr; }
    /** Forgets what leaves the active chain below `height`. */
    void RemoveForksBelow(const Chain& active, int height);

    bool Empty() const { return m_nodes.empty(); }
    size_t Size() const { return m_nodes.size(); }
    /** The most preferred that can be connected, null if none can: blocks on the way there may have
     *  been pruned. Forgets those that cannot; those that broke a rule are added to `failed`. */
    HeaderNode* Best(const Chain& active, std::vector<const HeaderNode*>& failed);
    /** Whether the most preferred is `node` or above it. */
    bool LeadsToBest(const HeaderNode& node) const;

private:
    struct PreferLater {
        bool operator()(const HeaderNode* a, const HeaderNode* b) const
        {
            return LessPreferred(*a, *b);
        }
    };

    bool HasDataDownToChain(const HeaderNode* node, const Chain& active) const;

    std::set<HeaderNode*, PreferLater> m_nodes; //!< the most preferred last
    const HeaderNode* m_complete = nullptr;     //!< has data down to the active chain
};

} // namespace ibd
