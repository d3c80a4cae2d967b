// HeaderTree: all known headers, as a tree with chain work and fast ancestry. Owned by the node (or
// a test). One writer at a time, and no reader while it writes: the owner serialises. Links, hash,
// height, work and header fields of a node never change after insertion, and addresses are stable,
// so a thread that has a node may always read those and walk down. Memory: about 190 bytes a
// header.
//
// An attacker can make many headers and many invalid blocks. Inserting and marking failed cost at
// most O(log tips) for each node, once: the descendants of a failed node have failed already.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "consensus/rule_result.h"

#include <memory>
#include <set>
#include <vector>

namespace ibd {

class HeaderTree {
public:
    /** A tree that holds the genesis block of the network. `params` must outlive it. */
    explicit HeaderTree(const ChainParams& params);
    HeaderTree(const HeaderTree&) = delete;
    HeaderTree& operator=(const HeaderTree&) = delete;

    /** Adds a header after checking all header rules. `now`: seconds since 1970. On success, also
     *  for an existing header, *out is its node. */
    RuleResult Accept(const BlockHeader& header, int64_t now, HeaderNode** out = nullptr);
    /** Adds a header that was validated before (block index, trusted file). Returns its node, new
     *  or existing; null if the parent is missing. */
    HeaderNode* Insert(const BlockHeader& header, const BlockHash& hash);

    HeaderNode* Find(const BlockHash& hash);
    const HeaderNode* Find(const BlockHash& hash) const;
    HeaderNode* Genesis() const { return NodeAt(0); }
    size_t Size() const { return m_size; }
    /** The i-th inserted node; parents come before children. */
    HeaderNode* NodeAt(size_t i) const { return &m_chunks[i / kChunk][i % kChunk]; }

    /** The header with most work that has not failed. */
    HeaderNode* BestHeader() const { return m_best; }
    /** Marks a block as invalid and its descendants as children of an invalid block; returns the
     *  nodes whose status changed. Takes time in proportion to these. */
    std::vector<HeaderNode*> MarkFailed(HeaderNode* node);
    /** Clears the failure of the node, its ancestors and its descendants. As in Core, other
     *  children of those ancestors stay failed; returns the nodes whose status changed. Takes time
     *  in proportion to the descendants. */
    std::vector<HeaderNode*> ClearFailure(HeaderNode* node);
    /** Call after a loader wrote failure bits of nodes directly: passes them to descendants and
     *  finds the best header; returns the nodes whose status changed. O(headers). */
    std::vector<HeaderNode*> AdoptStatuses();

    /** Nodes without children. O(headers). */
    std::vector<HeaderNode*> Tips() const;
    /** The node and its stored descendants, as far as they are connected by stored blocks, parents
     *  first. Takes time in proportion to these and their children. */
    std::vector<HeaderNode*> StoredAbove(HeaderNode* node) const;
    /** All nodes by height, then insertion. O(headers). */
    std::vector<HeaderNode*> ByHeight() const;
    /** The first known block of the locator, on any branch; null if none. */
    HeaderNode* FindFork(const std::vector<BlockHash>& locator);

    /** The next sequence_id for a block that arrived. */
    int32_t NextSequenceId() { return m_next_sequence_id++; }
    void SetSequence(HeaderNode& node, int32_t id);
    const ChainParams& Params() const { return m_params; }
    /** Bytes held. */
    size_t MemoryUsage() const;

private:
    static constexpr size_t kChunk = 1024; //!< nodes

    HeaderNode* Append(const BlockHeader& header, const BlockHash& hash, HeaderNode* prev);
    size_t SlotOf(const BlockHash& hash) const;
    void GrowTable();
    void AddLive(HeaderNode* node);
    void RemoveLive(HeaderNode* node);
    void CollectFailed(HeaderNode* node, std::vector<HeaderNode*>& out) const;
    void ChooseBest();
    /** `visit(child)` for each child of `node`. */
    template <typename Visit>
    void ForEachChild(const HeaderNode* node, Visit visit) const
    {
        for (uint32_t i = node->first_child; i != 0; i = NodeAt(i)->next_sibling) visit(NodeAt(i));
    }

    const ChainParams& m_params;
    std::vector<std::unique_ptr<HeaderNode[]>> m_chunks;
    size_t m_size = 0;
    std::vector<uint32_t> m_table; //!< open addressing: index + 1, 0: free; the size is a power of
                                   //!< two
    HeaderNode* m_best = nullptr;
    /** Nodes that have not failed and have no child that has not failed; the most preferred last.
     *  The best header is one of them, since every header adds work. A few, unless the network is
     *  attacked. */
    std::set<HeaderNode*, bool (*)(const HeaderNode*, const HeaderNode*)> m_live_tips;
    int32_t m_next_sequence_id = 2;
};

} // namespace ibd
