// Merkle roots of blocks. Pure; any thread.
#pragma once

#include "primitives/block.h"

#include <vector>

namespace ibd {

struct MerkleResult {
    Uint256 root;         //!< null for no leaves
    bool mutated = false; //!< two equal neighbours at some level (CVE-2012-2459)
};

/** Root over the leaves; all nodes of a level are hashed together in lanes. */
MerkleResult MerkleRoot(std::vector<Uint256> leaves);

/** Over the txids. */
MerkleResult BlockMerkleRoot(const BlockView& block);
/** Over the wtxids, zero for the coinbase (BIP141). */
Uint256 BlockWitnessMerkleRoot(const BlockView& block);

/** Hashes of the siblings on the path from the leaf at `position` to the root, lowest first. */
std::vector<Uint256> MerkleBranch(std::vector<Uint256> leaves, size_t position);

} // namespace ibd
