// BlockTemplate: a block to work on, in the parts that miners change, and the search for its nonce.
// A value; one thread at a time.
#pragma once

#include "consensus/params.h"
#include "consensus/rule_result.h"
#include "primitives/transaction.h"

#include <atomic>

namespace ibd {

struct HeaderNode; // chain/header_tree.h

struct BlockTemplate {
    int height = 0;
    BlockHeader header; //!< its merkle root is what Seal() found
    MutableTransaction coinbase;
    std::vector<TransactionRef> txs; //!< behind the coinbase
    struct Cost {
        Amount fee = 0;
        int64_t sigops = 0;
    };
    std::vector<Cost> costs; //!< of each of txs, if they came from the pool
    Amount fees = 0;         //!< of txs
    /** What the chain would say against the block but for its proof of work: a template with this
     *  is of no use. */
    RuleResult violation;

    /** Script of the output that commits to the witnesses; empty if there is none. */
    Bytes CommitmentScript() const;
    /** Makes the last output of the coinbase commit to the witnesses of all transactions, with a
     *  reserved value of zeros, in place of an output that did so. */
    void Commit();
    /** Sets the merkle root. */
    void Seal();
    Bytes Serialize() const;
};

/** The coinbase's witness, where segwit is active: one reserved value of zeros. */
std::vector<Bytes> ReservedWitness();

/** Earliest time of a block on `prev`, seconds since 1970: above the median, and at a retarget not
 *  600 seconds before `prev` (BIP94's rule, kept on all networks). */
int64_t MinimumBlockTime(const HeaderNode& prev, const ConsensusParams& params);
/** Moves the header's time forward to `now` or the earliest there may be, never back; where a late
 *  block may have less work, its bits follow. */
void UpdateTime(BlockHeader& header, const HeaderNode& prev, const ConsensusParams& params,
                int64_t now);

enum class ProofSearch {
    kFound,
    kNoneLeft, //!< every nonce was tried
    kGaveUp,   //!< no tries are left, or the node stops
};

/** Counts the nonce up until the header's hash meets its target; each step takes one of `tries`. */
ProofSearch FindProof(BlockHeader& header, uint64_t& tries, const ConsensusParams& params,
                      const std::atomic<bool>& interrupt);

} // namespace ibd
