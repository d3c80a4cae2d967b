// See header_tree.h. This file: failed headers, and the best header that has not failed.
#include "chain/header_tree.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

/** Adds `node` to the live tips. Neither `node` nor its parent may be failed. */
void HeaderTree::AddLive(HeaderNode* node)
{
    if (!node->prev || node->prev->live_children++ > 0) {
        m_live_tips.insert(node);
        return;
    }
    // The usual case, a growing chain: moves the entry without an allocation.
    auto entry = m_live_tips.extract(node->prev);
    CHECK(!entry.empty());
    entry.value() = node;
    m_live_tips.insert(std::move(entry));
}

/** Removes `node`, which has failed, from the live tips. Remove its descendants too. */
void HeaderTree::RemoveLive(HeaderNode* node)
{
    if (node->live_children == 0) m_live_tips.erase(node);
    node->live_children = 0;
}

void HeaderTree::ChooseBest()
{
    HeaderNode* best = m_live_tips.empty() ? Genesis() : *m_live_tips.rbegin();
    // Among headers with the same work the current best one is kept.
    if (m_best->Failed() || m_best->chain_work < best->chain_work) m_best = best;
}

std::vector<HeaderNode*> HeaderTree::MarkFailed(HeaderNode* node)
{
    const uint32_t before = node->status;
    const bool descendants_failed = node->Failed();
    node->status = (node->status | kFailedValid) & ~uint32_t{kFailedChild};
    std::vector<HeaderNode*> changed;
    if (node->status != before) changed.push_back(node);
    if (descendants_failed) return changed;
    for (size_t i = 0; i < changed.size(); ++i) {
        RemoveLive(changed[i]);
        ForEachChild(changed[i], [&](HeaderNode* child) {
            if (child->Failed()) return;
            child->status |= kFailedChild;
            changed.push_back(child);
        });
    }
    HeaderNode* prev = node->prev;
    if (prev && --prev->live_children == 0) m_live_tips.insert(prev);
    ChooseBest();
    return changed;
}

/** Appends `node` and its descendants if they failed, parents first. */
void HeaderTree::CollectFailed(HeaderNode* node, std::vector<HeaderNode*>& out) const
{
    std::vector<HeaderNode*> all{node};
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i]->Failed()) out.push_back(all[i]);
        ForEachChild(all[i], [&](HeaderNode* child) { all.push_back(child); });
    }
}

std::vector<HeaderNode*> HeaderTree::ClearFailure(HeaderNode* node)
{
    std::vector<HeaderNode*> changed;
    for (HeaderNode* up = node->prev; up && up->Failed(); up = up->prev) changed.push_back(up);
    std::reverse(changed.begin(), changed.end());
    CollectFailed(node, changed);
    for (HeaderNode* cleared : changed) {
        cleared->status &= ~uint32_t{kFailedMask};
        AddLive(cleared);
    }
    ChooseBest();
    return changed;
}

std::vector<HeaderNode*> HeaderTree::AdoptStatuses()
{
    std::vector<HeaderNode*> changed;
    m_live_tips.clear();
    for (size_t i = 0; i < m_size; ++i) NodeAt(i)->live_children = 0;
    for (size_t i = 0; i < m_size; ++i) { // parents come first
        HeaderNode* node = NodeAt(i);
        if (!node->Failed() && node->prev && node->prev->Failed()) {
            node->status |= kFailedChild;
            changed.push_back(node);
        }
        if (!node->Failed()) AddLive(node);
    }
    ChooseBest();
    return changed;
}

void HeaderTree::SetSequence(HeaderNode& node, int32_t id)
{
    auto entry = m_live_tips.extract(&node); // the set is ordered by sequence
    node.sequence_id = id;
    if (!entry.empty()) m_live_tips.insert(std::move(entry));
}

} // namespace ibd
