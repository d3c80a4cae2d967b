// HeaderNode: one header in the tree of all known headers, with the state of its block. Nodes are
// made and owned by a HeaderTree, which defines the rules for writing them. Functions that walk
// down from a node are here.
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
    kValidChain = 4,        //!< coins existed, no double spend
    kValidScripts = 5,      //!< scripts valid
    kValidMask = 7,
    kHaveData = 8,     //!< in a blk file
    kHaveUndo = 16,    //!< in a rev file
    kFailedValid = 32, //!< broke a rule
    kFailedChild = 64, //!< descends from a block that broke a rule
    kFailedMask = 96,
    kOptWitness = 128, //!< data was received with witnesses
};

struct HeaderNode {
    // Fixed at insertion.
    BlockHash hash;
    HeaderNode* prev = nullptr; //!< null for genesis
    HeaderNode* skip = nullptr; //!< an ancestor further down
    Arith256 chain_work;        //!< expected hashes up to and including this block
    Uint256 merkle_root;
    int32_t height = 0;
    int32_t version = 0;
    uint32_t time = 0;
    uint32_t bits = 0;
    uint32_t nonce = 0;

    // Used by the tree. Values are indexes; 0 is none, because genesis is never a child.
    uint32_t first_child = 0;
    uint32_t next_sibling = 0;
    uint32_t live_children = 0; //!< children that did not fail

    // Written by the owner.
    uint32_t status = kValidUnknown;
    uint32_t tx_count = 0;       //!< 0: the block was not seen
    uint64_t chain_tx_count = 0; //!< up to and including this block; 0: not all were seen
    int32_t file = -1;           //!< number of the blk/rev file
    uint32_t data_pos = 0;       //!< offset of the block in it
    uint32_t undo_pos = 0;       //!< offset of the undo record
    /** Order of arrival; 0: best chain when loaded, 1: from disk. Changed by SetSequence(). */
    int32_t sequence_id = 1;

    BlockHeader Header() const;
    BlockHash PrevHash() const { return prev ? prev->hash : BlockHash{}; }
    /** Ancestor at height `at`, possibly this node; null if out of range. O(log height). */
    const HeaderNode* Ancestor(int at) const;
    HeaderNode* Ancestor(int at);
    int64_t MedianTimePast() const;

    bool HasData() const { return (status & kHaveData) != 0; }
    bool HasUndo() const { return (status & kHaveUndo) != 0; }
    bool Failed() const { return (status & kFailedMask) != 0; }
    /** Whether it is validated at least up to `level` (kValidTree..kValidScripts) and has not
     *  failed. */
    bool IsValid(uint32_t level) const { return !Failed() && (status & kValidMask) >= level; }
    /** Raises the level; false if it was that high already or the block failed. */
    bool RaiseValidity(uint32_t level);
    /** Whether the transactions of this block and all ancestors were seen. */
    bool HaveChainTxs() const { return chain_tx_count != 0; }
};

/** The order of preference for tips: less work, or equal work but seen later. */
bool LessPreferred(const HeaderNode& a, const HeaderNode& b);

/** The branch that ends in a node, for the consensus rules. A null node is an empty branch. */
class NodeAncestry final : public Ancestry {
public:
    explicit NodeAncestry(const HeaderNode* tip) : m_tip(tip) {}
    int Height() const override { return m_tip ? m_tip->height : -1; }
    HeaderFacts At(int height) const override;
    BlockHash HashAt(int height) const override { return m_tip->Ancestor(height)->hash; }
    void WalkDown(int from,
                  const std::function<bool(int, const HeaderFacts&)>& more) const override;
    int64_t MedianTimePast(int height) const override;
    using Ancestry::MedianTimePast;

private:
    const HeaderNode* m_tip;
};

/** Highest common ancestor; null only for nodes of different trees or a null node. */
const HeaderNode* LastCommonAncestor(const HeaderNode* a, const HeaderNode* b);

/** Hashes from the tip down to genesis: ten consecutive blocks, then twice as far apart each time.
 */
std::vector<BlockHash> BlockLocator(const HeaderNode* tip);

} // namespace ibd
