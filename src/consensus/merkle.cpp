// See merkle.h.
#include "consensus/merkle.h"

#include "crypto/sha256_batch.h"

namespace ibd {

static_assert(sizeof(Uint256) == 32 && sizeof(Hash32) == 32);

MerkleResult MerkleRoot(std::vector<Uint256> leaves)
{
    bool mutated = false;
    while (leaves.size() > 1) {
        for (size_t i = 0; i + 1 < leaves.size(); i += 2) mutated |= leaves[i] == leaves[i + 1];
        if (leaves.size() % 2 != 0) leaves.push_back(leaves.back());
        Sha256dMany64(leaves[0].data(), leaves.size() / 2,
                      reinterpret_cast<Hash32*>(leaves[0].data()));
        leaves.resize(leaves.size() / 2);
    }
    return {leaves.empty() ? Uint256{} : leaves[0], mutated};
}

MerkleResult BlockMerkleRoot(const BlockView& block)
{
    std::vector<Uint256> leaves;
    leaves.reserve(block.Txs().size() + 1);
    for (const TxView& tx : block.Txs()) leaves.push_back(tx.txid);
    return MerkleRoot(std::move(leaves));
}

Uint256 BlockWitnessMerkleRoot(const BlockView& block)
{
    const auto txs = block.Txs();
    std::vector<Uint256> leaves(txs.size());
    std::vector<HashMessage> messages;
    std::vector<size_t> positions;
    for (size_t i = 1; i < txs.size(); ++i) {
        if (txs[i].has_witness) {
            messages.push_back({txs[i].raw, {}, {}});
            positions.push_back(i);
        } else {
            leaves[i] = txs[i].txid;
        }
    }
    std::vector<Hash32> hashes(messages.size());
    Sha256dMany(messages, hashes.data());
    for (size_t i = 0; i < hashes.size(); ++i) leaves[positions[i]] = Uint256(hashes[i]);
    return MerkleRoot(std::move(leaves)).root;
}

std::vector<Uint256> MerkleBranch(std::vector<Uint256> leaves, size_t position)
{
    std::vector<Uint256> branch;
    while (leaves.size() > 1) {
        if (leaves.size() % 2 != 0) leaves.push_back(leaves.back());
        branch.push_back(leaves[position ^ 1]);
        position /= 2;
        Sha256dMany64(leaves[0].data(), leaves.size() / 2,
                      reinterpret_cast<Hash32*>(leaves[0].data()));
        leaves.resize(leaves.size() / 2);
    }
    return branch;
}

} // namespace ibd
