// See header_node.h.
#include "chain/header_node.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {
namespace {

int ClearLowestBit(int n) { return n & (n - 1); }

} // namespace

/** Target height of a node's skip pointer: a lower number with few bits set, chosen so that any
 *  ancestor is about 2 log2(distance) steps away. */
int SkipHeight(int height)
{
    if (height < 2) return 0;
    return (height & 1) ? ClearLowestBit(ClearLowestBit(height - 1)) + 1 : ClearLowestBit(height);
}

BlockHeader HeaderNode::Header() const
{
    return {version, PrevHash(), merkle_root, time, bits, nonce};
}

const HeaderNode* HeaderNode::Ancestor(int at) const
{
    if (at > height || at < 0) return nullptr;
    const HeaderNode* walk = this;
    while (walk->height > at) {
        const int here = SkipHeight(walk->height);
        const int before = SkipHeight(walk->height - 1);
        // Skip unless it overshoots, or one step back leads to a longer skip that does not.
        const bool good = here == at || (here > at && !(before < here - 2 && before >= at));
        walk = walk->skip && good ? walk->skip : walk->prev;
    }
    return walk;
}

HeaderNode* HeaderNode::Ancestor(int at)
{
    return const_cast<HeaderNode*>(std::as_const(*this).Ancestor(at));
}

int64_t HeaderNode::MedianTimePast() const
{
    uint32_t times[kMedianTimeSpan];
    int count = 0;
    for (const HeaderNode* node = this; node && count < kMedianTimeSpan; node = node->prev) {
        times[count++] = node->time;
    }
    std::sort(times, times + count);
    return times[count / 2];
}

bool HeaderNode::RaiseValidity(uint32_t level)
{
    CHECK((level & ~uint32_t{kValidMask}) == 0);
    if (Failed() || (status & kValidMask) >= level) return false;
    status = (status & ~uint32_t{kValidMask}) | level;
    return true;
}

bool LessPreferred(const HeaderNode& a, const HeaderNode& b)
{
    if (a.chain_work != b.chain_work) return a.chain_work < b.chain_work;
    if (a.sequence_id != b.sequence_id) return a.sequence_id > b.sequence_id;
    return a.hash > b.hash; // arbitrary, but the same on every run
}

HeaderFacts NodeAncestry::At(int height) const
{
    const HeaderNode* node = m_tip->Ancestor(height);
    CHECK(node);
    return {node->version, node->time, node->bits};
}

void NodeAncestry::WalkDown(int from,
                            const std::function<bool(int, const HeaderFacts&)>& more) const
{
    const HeaderNode* node = m_tip ? m_tip->Ancestor(from) : nullptr;
    while (node && more(node->height, {node->version, node->time, node->bits})) node = node->prev;
}

int64_t NodeAncestry::MedianTimePast(int height) const
{
    const HeaderNode* node = m_tip->Ancestor(height);
    CHECK(node);
    return node->MedianTimePast();
}

const HeaderNode* LastCommonAncestor(const HeaderNode* a, const HeaderNode* b)
{
    if (!a || !b) return nullptr;
    const int height = std::min(a->height, b->height);
    a = a->Ancestor(height);
    b = b->Ancestor(height);
    while (a != b) {
        // Equal heights have equal skip heights: jump while the branches differ there.
        const bool jump = a->skip && b->skip && a->skip != b->skip;
        a = jump ? a->skip : a->prev;
        b = jump ? b->skip : b->prev;
    }
    return a;
}

std::vector<BlockHash> BlockLocator(const HeaderNode* tip)
{
    std::vector<BlockHash> hashes;
    int step = 1;
    while (tip) {
        hashes.push_back(tip->hash);
        if (tip->height == 0) break;
        tip = tip->Ancestor(std::max(tip->height - step, 0));
        if (hashes.size() > 10) step *= 2;
    }
    return hashes;
}

} // namespace ibd
