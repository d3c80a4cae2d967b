// BlockMutator: takes a valid block and makes it wrong (or merely different) in one to three of
// some forty ways, from raw bytes to single fields, then repairs merkle root, witness commitment
// and proof of work so that the change is met by the rule that it breaks, most of the time. One
// thread; everything follows from the seed.
#pragma once

#include "sim/block_draft.h"
#include "sim/rng.h"

#include <vector>

namespace ibd::interop {

/** The data besides the block that mutations may use. */
struct MutatorMemory {
    std::vector<BlockHash> hashes;       //!< of blocks given out, good and bad
    std::vector<OutPoint> coinbases;     //!< outputs of recent rewards
    std::vector<OutPoint> spent;         //!< coins spent by recent blocks
    std::vector<MutableTransaction> txs; //!< recent ones that spend
    int64_t now = 0;                     //!< seconds since 1970
};

class BlockMutator {
public:
    BlockMutator(const ChainParams& params, uint64_t seed) : m_params(params), m_rng(seed) {}

    Bytes Mutate(ByteSpan block, const MutatorMemory& memory);
    /** The block on another parent, mined again; nothing else is changed. */
    Bytes OnParent(ByteSpan block, const BlockHash& parent);

private:
    using Draft = sim::BlockDraft;

    Bytes Write(Draft draft, bool fix_root, bool mine);

    void ChangeOnce(Draft& draft, const MutatorMemory& memory);
    void ChangeHeader(Draft& draft, const MutatorMemory& memory);
    void ChangeCoinbase(Draft& draft);
    void ChangeOrder(Draft& draft, const MutatorMemory& memory);
    void ChangeInput(Draft& draft, const MutatorMemory& memory);
    void ChangeOutput(Draft& draft);
    void ChangeTransaction(Draft& draft);
    void ChangeWitness(Draft& draft);
    void ChangeSize(Draft& draft);
    Bytes ChangeBytes(Bytes block);

    bool Chance(uint64_t one_in) { return m_rng.Below(one_in) == 0; }
    MutableTransaction& AnyTx(Draft& draft) { return draft.txs[m_rng.Below(draft.txs.size())]; }
    MutableTransaction& AnySpend(Draft& draft);
    void FlipBit(Bytes& bytes);

    const ChainParams& m_params;
    sim::Rng m_rng;
};

} // namespace ibd::interop
