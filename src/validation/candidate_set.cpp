// See candidate_set.h.
#include "validation/candidate_set.h"

namespace ibd {

void CandidateSet::Add(HeaderNode& node, const HeaderNode* tip)
{
    if (!tip || !LessPreferred(node, *tip)) m_nodes.insert(&node);
}

void CandidateSet::Clear()
{
    m_nodes.clear();
    m_complete = nullptr;
}

void CandidateSet::Rebuild(const HeaderTree& tree, const HeaderNode* tip)
{
    Clear();
    for (size_t i = 0; i < tree.Size(); ++i) {
        HeaderNode* node = tree.NodeAt(i);
        const bool known = node->IsValid(kValidTransactions) && node->HaveChainTxs();
        // The base of a snapshot may be the tip without having been seen.
        if (known || node == tip) Add(*node, tip);
    }
}

void CandidateSet::Prune(const HeaderNode& tip)
{
    while (!m_nodes.empty() && LessPreferred(**m_nodes.begin(), tip)) {
        m_nodes.erase(m_nodes.begin());
    }
}

void CandidateSet::RemoveForksBelow(const Chain& active, int height)
{
    std::erase_if(m_nodes,
                  [&](const HeaderNode* node) { return active.FindFork(node)->height < height; });
}

// Tips of one branch come one after the other, so the walked part is remembered.
bool CandidateSet::HasDataDownToChain(const HeaderNode* node, const Chain& active) const
{
    while (node && node != m_complete && !active.Contains(node)) {
        if (!node->HasData()) return false;
        node = node->prev;
    }
    return true;
}

HeaderNode* CandidateSet::Best(const Chain& active, std::vector<const HeaderNode*>& failed)
{
    while (!m_nodes.empty()) {
        HeaderNode* best = *m_nodes.rbegin();
        // Failures were passed to all descendants; a pruned node may lack data below.
        if (!best->Failed() && HasDataDownToChain(best, active)) {
            m_complete = best;
            return best;
        }
        if (best->Failed()) failed.push_back(best);
        m_nodes.erase(best);
    }
    return nullptr;
}

bool CandidateSet::LeadsToBest(const HeaderNode& node) const
{
    if (m_nodes.empty()) return false;
    const HeaderNode& best = **m_nodes.rbegin();
    return best.Ancestor(node.height) == &node;
}

} // namespace ibd
