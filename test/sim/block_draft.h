// BlockDraft: a block as fields, created or parsed from a block. It is serialised with a matching
// merkle root, witness commitment and proof of work, so that a test breaks only the tested rule. A
// value.
#pragma once

#include "consensus/params.h"
#include "primitives/transaction.h"

#include <vector>

namespace ibd::sim {

struct BlockDraft {
    BlockHeader header;
    std::vector<MutableTransaction> txs;

    BlockDraft() = default;
    explicit BlockDraft(const BlockView& view);
    /** `raw` is a block (CHECK). */
    static BlockDraft Of(ByteSpan raw);

    MutableTransaction& Coinbase() { return txs[0]; }

    void FixRoot();
    /** Index of the coinbase output that commits to the witnesses (BIP141); -1 if none does. */
    int CommitmentIndex() const;
    /** Makes that output, if there is one, determine the witnesses. */
    void RenewCommitment();
    /** The same, with an output added if there is none and a reserved value of zeros. */
    void Commit();

    Bytes ToBytes() const;
};

/** Searches a nonce for the network's target, which is that of its first block as on regtest. */
void Mine(BlockHeader& header, const ChainParams& params);
/** The same for the header that a block begins with. */
void MineBytes(Bytes& block, const ChainParams& params);

} // namespace ibd::sim
