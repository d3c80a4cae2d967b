// HeaderTree: every header we know, as a tree with chain work and fast ancestry. Owned by the node
// (or a test). One writer at a time, and no reader while it writes: the owner serialises. Links,
// hash, height, work and header fields of a node never change after insertion and addresses are
// stable, so a thread that was handed a node may read those, and walk down, at any time.
// Memory: about 190 bytes a header.
//
// An attacker can make many headers and many invalid blocks. Inserting and marking failed cost at
// most O(log tips) for each node, once: the descendants of a failed node are failed already.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"
#include "consensus/rule_result.h"

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace ibd {

/** HeaderNode::status: values and bits of the block index database. */
enum BlockStatus : uint32_t {
    kValidUnknown = 0,
    kValidTree = 2,         //!< parent known, header rules kept
    kValidTransactions = 3, //!< CheckBlock passed, tx_count known
    kValidChain = 4,        //!< coins were there, no double spend
    kValidScripts = 5,      //!< scripts too
    kValidMask = 7,
    kHaveData = 8,     //!< in a blk file
    kHaveUndo = 16,    //!< in a rev file
    kFailedValid = 32, //!< broke a rule
    kFailedChild = 64, //!< descends from one that did
    kFailedMask = 96,
    kOptWitness = 128, //!< data was received with witnesses
};

struct HeaderNode {
    // Fixed at insertion.
    BlockHash hash;
    HeaderNode* prev = nullptr; //!< null for genesis
    HeaderNode* skip = nullptr; //!< some ancestor further down
    Arith256 chain_work;        //!< expected hashes up to and with this block
    Uint256 merkle_root;
    int32_t height = 0;
    int32_t version = 0;
    uint32_t time = 0;
    uint32_t bits = 0;
    uint32_t nonce = 0;

    // The tree's own, by index; 0 is none, since genesis is nobody's child.
    uint32_t first_child = 0;
    uint32_t next_sibling = 0;
    uint32_t live_children = 0; //!< those that did not fail

    // Written by the owner as the block becomes known.
    uint32_t status = kValidUnknown;
    uint32_t tx_count = 0;       //!< 0 until the block was seen
    uint64_t chain_tx_count = 0; //!< up to and with this block; 0 until all are seen
    int32_t file = -1;           //!< number of the blk/rev file
    uint32_t data_pos = 0;       //!< offset of the block in it
    uint32_t undo_pos = 0;       //!< offset of the undo record
    /** Order of arrival; 0: best chain when loaded, 1: from disk. Changed by SetSequence(). */
    int32_t sequence_id = 1;

    BlockHeader Header() const;
    BlockHash PrevHash() const { return prev ? prev->hash : BlockHash{}; }
    /** Ancestor at `at`, this node if equal; null if out of range. O(log height). */
    const HeaderNode* Ancestor(int at) const;
    HeaderNode* Ancestor(int at);
    int64_t MedianTimePast() const;

    bool HasData() const { return (status & kHaveData) != 0; }
    bool HasUndo() const { return (status & kHaveUndo) != 0; }
    bool Failed() const { return (status & kFailedMask) != 0; }
    /** Validated at least up to `level` (kValidTree..kValidScripts) and not failed. */
    bool IsValid(uint32_t level) const { return !Failed() && (status & kValidMask) >= level; }
    /** Raises the level; false if it was that high already or the block failed. */
    bool RaiseValidity(uint32_t level);
    /** This block's and all ancestors' transactions were seen. */
    bool HaveChainTxs() const { return chain_tx_count != 0; }
};

/** Fewer work, or as much but seen later: the order in which tips are preferred. */
bool LessPreferred(const HeaderNode& a, const HeaderNode& b);

/** The branch that ends in a node, as the consensus rules ask for it. A null node is empty. */
class NodeAncestry final : public Ancestry {
public:
    explicit NodeAncestry(const HeaderNode* tip) : m_tip(tip) {}
    int Height() const override { return m_tip ? m_tip->height : -1; }
    HeaderFacts At(int height) const override;
    BlockHash HashAt(int height) const override { return m_tip->Ancestor(height)->hash; }
    void WalkDown(const std::function<bool(int, const HeaderFacts&)>& more) const override;
    int64_t MedianTimePast(int height) const override;
    using Ancestry::MedianTimePast;

private:
    const HeaderNode* m_tip;
};

/** Highest common ancestor; null only for nodes of different trees or a null node. */
const HeaderNode* LastCommonAncestor(const HeaderNode* a, const HeaderNode* b);

/** Hashes from the tip down, dense for ten blocks and then twice as far each time, to genesis. */
std::vector<BlockHash> BlockLocator(const HeaderNode* tip);

class HeaderTree {
public:
    /** A tree that holds the genesis block of the network. `params` must outlive it. */
    explicit HeaderTree(const ChainParams& params);
    HeaderTree(const HeaderTree&) = delete;
    HeaderTree& operator=(const HeaderTree&) = delete;

    /** Adds a header after all header rules. `now`: seconds since 1970. On success, also for one
     *  already there, *out is its node. */
    RuleResult Accept(const BlockHeader& header, int64_t now, HeaderNode** out = nullptr);
    /** Adds a header that was validated before (block index, trusted file). Its parent must be
     *  there; returns the node, the existing one if known, null if the parent is missing. */
    HeaderNode* Insert(const BlockHeader& header, const BlockHash& hash);

    HeaderNode* Find(const BlockHash& hash);
    const HeaderNode* Find(const BlockHash& hash) const;
    HeaderNode* Genesis() const { return NodeAt(0); }
    size_t Size() const { return m_size; }
    /** The i-th inserted; parents come before children. */
    HeaderNode* NodeAt(size_t i) const { return &m_chunks[i / kChunk][i % kChunk]; }

    /** Most work among headers that did not fail. */
    HeaderNode* BestHeader() const { return m_best; }
    /** Marks a block as invalid and all its descendants as children of one; returns the nodes whose
     *  status changed. Proportional to these. */
    std::vector<HeaderNode*> MarkFailed(HeaderNode* node);
    /** Takes failure back from the node, its ancestors and its descendants, but as in Core not from
     *  other children of those ancestors; returns the nodes whose status changed. Proportional to
     *  the descendants. */
    std::vector<HeaderNode*> ClearFailure(HeaderNode* node);
    /** After a loader wrote the failure bits of nodes directly: hands them down and finds the best
     *  header; returns the nodes whose status changed. O(headers). */
    std::vector<HeaderNode*> AdoptStatuses();

    /** Nodes without children. O(headers). */
    std::vector<HeaderNode*> Tips() const;
    /** All nodes by height, then insertion. O(headers). */
    std::vector<HeaderNode*> ByHeight() const;
    /** First of the locator's blocks that we know (null if none), whatever branch it is on. */
    HeaderNode* FindFork(const std::vector<BlockHash>& locator);

    /** Hands out the next sequence_id for a block that arrived. */
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
    std::vector<uint32_t> m_table; //!< open addressing: index + 1, 0 is free; power of two
    HeaderNode* m_best = nullptr;
    /** Nodes that did not fail and have no such child, the most preferred last: the best header is
     *  one of them, since every header adds work. A handful, on a network that is not attacked. */
    std::set<HeaderNode*, bool (*)(const HeaderNode*, const HeaderNode*)> m_live_tips;
    int32_t m_next_sequence_id = 2;
};

} // namespace ibd
