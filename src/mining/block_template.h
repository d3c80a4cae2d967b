// BlockTemplate: a block to mine, with the parts that miners change, and the search for its nonce.
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
    BlockHeader header; //!< Seal() sets its merkle root
    MutableTransaction coinbase;
    std::vector<TransactionRef> txs; //!< without the coinbase
    struct Cost {
        Amount fee = 0;
        int64_t sigops = 0;
    };
    std::vector<Cost> costs; //!< cost of each of txs, if they are from the pool
    Amount fees = 0;         //!< of txs
    /** The chain's verdict, without proof of work: a template with a violation is useless. */
    RuleResult violation;

    /** Script of the output with the witness commitment; empty if there is none. */
    Bytes CommitmentScript() const;
    /** Adds a last coinbase output that commits to the witnesses of all transactions, with a
     *  reserved value of zeros; replaces an existing one. */
    void Commit();
    /** Sets the merkle root. */
    void Seal();
    Bytes Serialize() const;
};

/** The coinbase's witness, where segwit is active: one reserved value of zeros. */
std::vector<Bytes> ReservedWitness();

/** Earliest time of a block on `prev`, seconds since 1970: above the median, and after a retarget
 *  not more than 600 seconds before `prev` (BIP94's rule, applied on all networks). */
int64_t MinimumBlockTime(const HeaderNode& prev, const ConsensusParams& params);
/** Sets the header's time to `now`, or to MinimumBlockTime() if that is later, but never back;
 *  updates the bits where a late block may have less work. */
void UpdateTime(BlockHeader& header, const HeaderNode& prev, const ConsensusParams& params,
                int64_t now);

enum class ProofSearch {
    kFound,
    kNoneLeft, //!< all nonces were tried
    kGaveUp,   //!< no tries are left, or the node stops
};

/** Increments the nonce until the header's hash meets its target; each step takes one of `tries`.
 */
ProofSearch FindProof(BlockHeader& header, uint64_t& tries, const ConsensusParams& params,
                      const std::atomic<bool>& interrupt);

} // namespace ibd
