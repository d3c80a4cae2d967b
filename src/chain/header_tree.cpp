// See header_tree.h. Adds and finds headers; failures are in header_failure.cpp.
#include "chain/header_tree.h"

#include "consensus/block_check.h"
#include "consensus/pow.h"
#include "util/check.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {
namespace {

constexpr size_t kFirstTableSize = 4096; //!< slots

using Kind = RuleViolation::Kind;

bool PreferLater(const HeaderNode* a, const HeaderNode* b) { return LessPreferred(*a, *b); }

} // namespace

int SkipHeight(int height); // header_node.cpp

HeaderTree::HeaderTree(const ChainParams& params)
    : m_params(params), m_table(kFirstTableSize), m_live_tips(PreferLater)
{
    HeaderNode* genesis = Append(params.genesis.header, params.genesis.hash, nullptr);
    genesis->status = kValidTree;
    AddLive(genesis);
    m_best = genesis;
}

size_t HeaderTree::SlotOf(const BlockHash& hash) const
{
    // The first bytes of a hash below its target are practically random.
    const size_t mask = m_table.size() - 1;
    size_t slot = ReadLE64(hash.data()) & mask;
    while (m_table[slot] != 0 && NodeAt(m_table[slot] - 1)->hash != hash) slot = (slot + 1) & mask;
    return slot;
}

void HeaderTree::GrowTable()
{
    m_table.assign(m_table.size() * 2, 0);
    for (size_t i = 0; i < m_size; ++i) {
        m_table[SlotOf(NodeAt(i)->hash)] = static_cast<uint32_t>(i + 1);
    }
}

HeaderNode* HeaderTree::Append(const BlockHeader& header, const BlockHash& hash, HeaderNode* prev)
{
    if ((m_size + 1) * 2 > m_table.size()) GrowTable();
    if (m_size % kChunk == 0) m_chunks.push_back(std::make_unique<HeaderNode[]>(kChunk));
    HeaderNode* node = NodeAt(m_size);
    node->hash = hash;
    node->prev = prev;
    node->chain_work = BlockWork(header.bits);
    node->merkle_root = header.merkle_root;
    node->version = header.version;
    node->time = header.time;
    node->bits = header.bits;
    node->nonce = header.nonce;
    if (prev) {
        node->height = prev->height + 1;
        node->skip = prev->Ancestor(SkipHeight(node->height));
        node->chain_work += prev->chain_work;
        node->next_sibling = prev->first_child;
        prev->first_child = static_cast<uint32_t>(m_size);
    }
    m_table[SlotOf(hash)] = static_cast<uint32_t>(++m_size);
    return node;
}

HeaderNode* HeaderTree::Find(const BlockHash& hash)
{
    const uint32_t entry = m_table[SlotOf(hash)];
    return entry == 0 ? nullptr : NodeAt(entry - 1);
}

const HeaderNode* HeaderTree::Find(const BlockHash& hash) const
{
    const uint32_t entry = m_table[SlotOf(hash)];
    return entry == 0 ? nullptr : NodeAt(entry - 1);
}

HeaderNode* HeaderTree::Insert(const BlockHeader& header, const BlockHash& hash)
{
    if (HeaderNode* known = Find(hash)) return known;
    HeaderNode* prev = Find(header.prev_hash);
    if (!prev) return nullptr;
    HeaderNode* node = Append(header, hash, prev);
    node->status = prev->Failed() ? kValidTree | kFailedChild : kValidTree;
    if (node->Failed()) return node;
    AddLive(node);
    if (m_best->chain_work < node->chain_work) m_best = node;
    return node;
}

RuleResult HeaderTree::Accept(const BlockHeader& header, int64_t now, HeaderNode** out)
{
    const BlockHash hash = header.Hash();
    if (HeaderNode* known = Find(hash)) {
        if (known->Failed()) {
            return Violation(Kind::kCachedInvalid, "duplicate-invalid",
                             "block " + hash.ToHex() + " was previously marked invalid");
        }
        if (out) *out = known;
        return {};
    }
    const ConsensusParams& consensus = m_params.consensus;
    IBD_RETURN_IF_VIOLATED(CheckBlockHeader(header, hash, consensus));
    const HeaderNode* prev = Find(header.prev_hash);
    if (!prev) return Violation(Kind::kMissingPrev, "prev-blk-not-found");
    if (prev->Failed()) return Violation(Kind::kInvalidPrev, "bad-prevblk");
    IBD_RETURN_IF_VIOLATED(ContextualCheckBlockHeader(header, NodeAncestry(prev), consensus, now));
    HeaderNode* node = Insert(header, hash);
    if (out) *out = node;
    return {};
}

std::vector<HeaderNode*> HeaderTree::Tips() const
{
    std::vector<HeaderNode*> tips;
    for (size_t i = 0; i < m_size; ++i) {
        if (NodeAt(i)->first_child == 0) tips.push_back(NodeAt(i));
    }
    return tips;
}

std::vector<HeaderNode*> HeaderTree::StoredAbove(HeaderNode* node) const
{
    std::vector<HeaderNode*> found{node};
    for (size_t i = 0; i < found.size(); ++i) {
        ForEachChild(found[i], [&](HeaderNode* child) {
            if (child->HasData()) found.push_back(child);
        });
    }
    return found;
}

std::vector<HeaderNode*> HeaderTree::ByHeight() const
{
    std::vector<HeaderNode*> nodes(m_size);
    for (size_t i = 0; i < m_size; ++i) nodes[i] = NodeAt(i);
    std::stable_sort(nodes.begin(), nodes.end(), [](const HeaderNode* a, const HeaderNode* b) {
        return a->height < b->height;
    });
    return nodes;
}

HeaderNode* HeaderTree::FindFork(const std::vector<BlockHash>& locator)
{
    for (const BlockHash& hash : locator) {
        if (HeaderNode* node = Find(hash)) return node;
    }
    return nullptr;
}

size_t HeaderTree::MemoryUsage() const
{
    return m_chunks.size() * (kChunk * sizeof(HeaderNode) + sizeof(m_chunks[0])) +
           m_table.capacity() * sizeof(m_table[0]);
}

} // namespace ibd
