// MerkleProof: shows who knows a block's header only that some transactions are in the block
// (BIP37's partial Merkle tree). Pure; any thread.
#pragma once

#include "primitives/uint256.h"
#include "util/bytes.h"

#include <optional>
#include <vector>

namespace ibd {

/** The nodes that are needed, from the root down and from left to right. */
struct MerkleProof {
    uint32_t tx_count = 0;       //!< of the block
    std::vector<Uint256> hashes; //!< of nodes below which nothing is shown, and of what is shown
    Bytes flags;                 //!< a bit for each node visited, lowest first: shown below it?

    bool operator==(const MerkleProof&) const = default;
};

/** Of the transactions, at least one, those with a true in `shown`, which has as many members. */
MerkleProof MakeMerkleProof(const std::vector<Uint256>& txids, const std::vector<bool>& shown);

struct ProvenTx {
    uint32_t index = 0; //!< in the block
    Uint256 txid;

    bool operator==(const ProvenTx&) const = default;
};

struct ProvenTxs {
    Uint256 root; //!< proves nothing until it is that of a header
    std::vector<ProvenTx> txs;
};

/** Nothing if it is malformed, or names more transactions than a block can have. Who has the root
 *  of a block of T transactions as well as tx_count = T knows that all of them are in it. */
std::optional<ProvenTxs> ReadMerkleProof(const MerkleProof& proof);

} // namespace ibd
