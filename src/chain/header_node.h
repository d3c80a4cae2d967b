// HeaderNode: one header in the tree of all that we know, with what became of its block. Nodes are
// made and owned by a HeaderTree, which says who may write what and when; what walks down from one
// is here.
#pragma once

#include "consensus/ancestry.h"
#include "primitives/arith256.h"
#include "primitives/block.h"

#include <functional>
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

} // namespace ibd
