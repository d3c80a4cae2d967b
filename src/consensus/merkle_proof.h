// MerkleProof: proves, given only a block's header, that some transactions are in the block
// (BIP37's partial Merkle tree). Pure; any thread.
#pragma once

#include "primitives/uint256.h"
#include "util/bytes.h"

#include <optional>
#include <vector>

namespace ibd {

/** The visited nodes of the tree, depth first and from left to right. */
struct MerkleProof {
    uint32_t tx_count = 0;       //!< of the block
    std::vector<Uint256> hashes; //!< of the proven leaves, and of nodes without a proven leaf
    Bytes flags;                 //!< a bit for each visited node, lowest first: whether it has a
                                 //!< proven leaf

    bool operator==(const MerkleProof&) const = default;
};

/** Proves the transactions with a true in `shown` (at least one), which has one entry for each
 *  txid. */
MerkleProof MakeMerkleProof(const std::vector<Uint256>& txids, const std::vector<bool>& shown);

struct ProvenTx {
    uint32_t index = 0; //!< in the block
    Uint256 txid;

    bool operator==(const ProvenTx&) const = default;
};

struct ProvenTxs {
    Uint256 root; //!< a proof only if it equals the root in a header
    std::vector<ProvenTx> txs;
};

/** Nothing if it is malformed, or names more transactions than a block can have. If the root is
 *  that of a block with tx_count transactions, all of them are proven to be in it. */
std::optional<ProvenTxs> ReadMerkleProof(const MerkleProof& proof);

} // namespace ibd
