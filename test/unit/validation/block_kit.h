// Blocks by hand for the tests of validation: a block on any other, with any transactions, mined
// for regtest, and wrong in any way that is asked for. Works on the network's constant target.
#pragma once

#include "consensus/params.h"
#include "primitives/transaction.h"

#include <functional>
#include <vector>

namespace ibd::test {

/** A finished block and the data that the next one needs. */
struct KitBlock {
    BlockHash hash;
    int height = 0;
    uint32_t time = 0;
    Bytes raw;
    MutableTransaction coinbase;

    OutPoint Reward(uint32_t vout = 0) const { return {coinbase.Id(), vout}; }
};

struct KitOptions {
    std::vector<MutableTransaction> txs; //!< after the coinbase
    Amount reward = -1;                  //!< of the coinbase; -1: the subsidy
    uint32_t salt = 0;                   //!< makes blocks at one height differ
    int32_t version = 0x20000000;
    std::function<void(MutableTransaction&)> change_coinbase;
    std::function<void(BlockHeader&)> change_header; //!< before mining; the root is set already
    std::function<void(Bytes&)> change_bytes;        //!< after the header, before mining
};

class BlockKit {
public:
    explicit BlockKit(const ChainParams& params) : m_params(params) {}

    KitBlock Genesis() const;
    KitBlock Make(const KitBlock& prev, const KitOptions& options = {}) const;
    /** `count` blocks, one on the other. */
    std::vector<KitBlock> MakeChain(const KitBlock& prev, int count, uint32_t salt = 0) const;

private:
    const ChainParams& m_params;
};

/** A script that anyone can spend with an empty one: OP_1. */
inline const Bytes kAnyone = {0x51};

/** Spends `coins` of together `value` into outputs of the given values, all for anyone. */
MutableTransaction SpendTx(const std::vector<OutPoint>& coins, const std::vector<Amount>& values);

} // namespace ibd::test
