// Rules of headers and blocks that need no coins and no scripts. Order and reasons are Core's.
// Pure; any thread.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"
#include "consensus/rule_result.h"
#include "primitives/transaction.h"

namespace ibd {

class SignetVerifier; // consensus/signet.h

/** The hash meets the target in the header. */
RuleResult CheckBlockHeader(const BlockHeader& header, const BlockHash& hash,
                            const ConsensusParams& params);

/** Rules of a header that depend on its branch: target, median time, BIP94 timewarp, clock,
 *  version. `prev`: the branch that ends at the previous block (not empty). `now`: seconds since
 *  1970. */
RuleResult ContextualCheckBlockHeader(const BlockHeader& header, const Ancestry& prev,
                                      const ConsensusParams& params, int64_t now);

struct BlockCheckOptions {
    bool check_pow = true; //!< also the signet solution
    bool check_merkle_root = true;
    const SignetVerifier* signet = nullptr; //!< replaces the script interpreter
    int64_t* legacy_sigops = nullptr;       //!< may be null; receives the count if the check gets
                                            //!< that far
};

/** Header hash, signet solution, merkle root and its mutation, size, coinbase position, every
 *  CheckTransaction, legacy sigops. */
RuleResult CheckBlock(const BlockView& block, const ConsensusParams& params,
                      const BlockCheckOptions& options = {});

/** Rules of a block that depend on its branch: finality, BIP34 height, witness commitment, weight.
 *  `prev` may be empty (height -1) for the genesis block. */
RuleResult ContextualCheckBlock(const BlockView& block, const Ancestry& prev,
                                const ConsensusParams& params);

/** BIP34, from its height on: the coinbase begins with the block's height. The block must have a
 *  coinbase with an input. */
RuleResult CheckCoinbaseHeight(const BlockView& block, int height, const ConsensusParams& params);

/** Merkle root of the txids equals the header's and no pair is duplicated (CVE-2012-2459). */
RuleResult CheckMerkleRoot(const BlockView& block);

/** Witness commitment (BIP141). Without `expect_commitment` any witness is an error. */
RuleResult CheckWitnessMalleation(const BlockView& block, bool expect_commitment);

/** Whether the violation concerns only these bytes: other bytes with the same block hash may be
 *  valid. */
bool IsMutated(const RuleResult& found);

/** Whether the bytes may be a corruption of the block that the header names: wrong merkle root,
 *  repeated pairs, a coinbase-less block with a 64-byte transaction, or wrong witness. Checked for
 *  blocks from peers before a failure is attributed to their hash. */
bool IsBlockMutated(const BlockView& block, bool check_witness_root);
/** The same for a block of these transactions, without parsing or hashing them again. */
bool IsBlockMutated(const BlockHeader& header, std::span<const TransactionRef> txs,
                    bool check_witness_root);

/** The BIP34 push of `height` that a coinbase script must begin with. */
Bytes Bip34Prefix(int height);

} // namespace ibd
