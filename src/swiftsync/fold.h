// Fold: the effect of one block on the set of coins, given the hints, without access to any coin.
// It replaces the connecting of a block: outputs hinted unspent are final coins; every other output
// must be spent by some input. Pure; the order of blocks does not matter.
#pragma once

#include "consensus/params.h"
#include "hints/hints.h"
#include "primitives/block.h"

namespace ibd {

/** Version, for checkpoints, of the rules for folded blocks and of the data kept about them: a
 *  checkpoint of another version is not resumed. Raise it when a folded block would now be refused
 *  or fold differently, or when the final checks need data that was not collected. Version 1 lacked
 *  the order within a block and kHeightOfEarlyCoinbase. */
inline constexpr uint32_t kFoldRulesVersion = 2;

struct FoldRules {
    HintsCounting counting = HintsCounting::kSpendable;
    /** Heights of coinbases overwritten by a later coinbase with the same txid (BIP30), ascending.
     *  Their outputs count neither as coins nor as created. */
    std::vector<uint32_t> overwritten_heights;

    bool IsOverwritten(uint32_t height) const;
};

/** The rules of the branch that ends in a block: the exceptions of `params` that are on this
 *  branch. `hash_at(height)` gives the branch's hash at a height up to `tip_height`. */
template <typename HashAt>
FoldRules MakeFoldRules(HintsCounting counting, const ConsensusParams& params, int tip_height,
                        HashAt hash_at)
{
    FoldRules rules{counting, {}};
    for (const Bip30Exception& e : params.bip30_exceptions) {
        if (e.repeat_height <= tip_height && hash_at(e.overwritten_height) == e.overwritten_hash &&
            hash_at(e.repeat_height) == e.repeat_hash) {
            rules.overwritten_heights.push_back(static_cast<uint32_t>(e.overwritten_height));
        }
    }
    return rules;
}

/** Identifies the rules behind a verdict, as far as options or releases can change them: the
 *  version above, the network's rules, and the height below which coinbase ids were collected. */
Uint256 FoldRulesId(const FoldRules& rules, uint32_t unique_below, const ConsensusParams& params);

/** Adjacent outpoints of 36 bytes. Keeps its capacity. */
class OutpointList {
public:
    void Reset(size_t capacity)
    {
        if (m_bytes.size() < capacity * kSize) m_bytes.resize(capacity * kSize);
        m_count = 0;
    }
    /** At most as many as the capacity given to Reset(). */
    void Add(const uint8_t* outpoint) { std::memcpy(Next(), outpoint, kSize); }
    void Add(const Txid& txid, uint32_t vout)
    {
        uint8_t* to = Next();
        std::memcpy(to, txid.data(), 32);
        WriteLE32(to + 32, vout);
    }
    const uint8_t* data() const { return m_bytes.data(); }
    size_t size() const { return m_count; }

private:
    static constexpr size_t kSize = 36;
    uint8_t* Next() { return m_bytes.data() + kSize * m_count++; }

    Bytes m_bytes;
    size_t m_count = 0;
};

/** An output that is still unspent at the terminal block. Views into the block. */
struct SurvivingCoin {
    const TxView* tx = nullptr;
    uint32_t vout = 0;
    bool coinbase = false;

    const OutputView& Output() const { return tx->outputs[vout]; }
};

/** The booster's result for one block. Reusable; points into the block. */
struct BlockDelta {
    OutpointList created; //!< outputs that are spent up to the terminal block
    OutpointList spent;   //!< inputs
    uint64_t inputs = 0;  //!< their number, without the coinbase's
    std::vector<SurvivingCoin> coins;
    uint64_t counted_outputs = 0; //!< as the hints number them
    uint64_t hinted_unspent = 0;  //!< outputs hinted unspent; differs from coins.size() only by
                                  //!< overwritten ones
    uint64_t coin_value = 0;      //!< of `coins`, saturating

    /** Replaces the inputs in `spent` by the coins: the sum of all outputs and inputs is zero after
     *  the coins are subtracted. The txids must be known. */
    void SpendCoins();
};

/** Folds a parsed block that passed CheckBlock. An error names the height and means that the hints
 *  are wrong: their number of outputs is not the block's, or they mark an unspendable output. */
Result<> Fold(const BlockView& block, uint32_t height, const BlockHints& hints,
              const FoldRules& rules, BlockDelta& out);

/** Folds a block whose outputs and inputs were summed before: `created` and `spent` stay empty, and
 *  the transactions need no ids. The hints must count spendable outputs. */
Result<> FoldCoins(std::span<const TxView> txs, uint32_t height, const BlockHints& hints,
                   const FoldRules& rules, BlockDelta& out);

/** a + b, or the greatest number on overflow. */
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b)
{
    return a + b < a ? ~uint64_t{0} : a + b;
}

} // namespace ibd
