// Rules of headers and blocks that need no coins and no scripts. Order and reasons are Core's.
// Pure; any thread.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"
#include "consensus/rule_result.h"

namespace ibd {

class SignetVerifier; // consensus/signet.h

/** The hash meets the target in the header. */
RuleResult CheckBlockHeader(const BlockHeader& header, const BlockHash& hash,
                            const ConsensusParams& params);

/** Header in its place: target, median time, BIP94 timewarp, clock, version. `prev`: the branch
 *  that ends at the previous block (not empty). `now`: seconds since 1970. */
RuleResult ContextualCheckBlockHeader(const BlockHeader& header, const Ancestry& prev,
                                      const ConsensusParams& params, int64_t now);

struct BlockCheckOptions {
    bool check_pow = true; //!< and the signet solution
    bool check_merkle_root = true;
    const SignetVerifier* signet = nullptr; //!< in place of the interpreter
    int64_t* legacy_sigops = nullptr;       //!< if not null: is told of them, if it comes so far
};

/** Header hash, signet solution, merkle root and its mutation, size, coinbase position, every
 *  CheckTransaction, legacy sigops. */
RuleResult CheckBlock(const BlockView& block, const ConsensusParams& params,
                      const BlockCheckOptions& options = {});

/** Block in its place: finality, BIP34 height, witness commitment, weight. `prev` may be empty
 *  (height -1) for the genesis block. */
RuleResult ContextualCheckBlock(const BlockView& block, const Ancestry& prev,
                                const ConsensusParams& params);

/** BIP34, from its height on: the coinbase begins with the block's height. The block has a coinbase
 *  with an input. */
RuleResult CheckCoinbaseHeight(const BlockView& block, int height, const ConsensusParams& params);

/** Merkle root of the txids equals the header's and no pair is duplicated (CVE-2012-2459). */
RuleResult CheckMerkleRoot(const BlockView& block);

/** Witness commitment (BIP141). Without `expect_commitment` any witness is an error. */
RuleResult CheckWitnessMalleation(const BlockView& block, bool expect_commitment);

/** What was found is wrong with the bytes at hand and says nothing of the block that the header
 *  names: other bytes may have the same hash. */
bool IsMutated(const RuleResult& found);

/** The bytes may be a corruption of the block that the header names: wrong merkle root, pairs
 *  repeated, a coinbase-less block with a 64-byte transaction, or wrong witness. Peers' blocks are
 *  asked this before their hash is held against anyone. */
bool IsBlockMutated(const BlockView& block, bool check_witness_root);

/** The BIP34 push of `height` that a coinbase script must begin with. */
Bytes Bip34Prefix(int height);

} // namespace ibd
