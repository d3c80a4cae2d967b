// What is asked of the hints' last block before a sync, and the checks that decide, once every
// block is folded, whether the hints were right. All must hold; the first that fails gives the
// reason. Pure.
#pragma once

#include "chain/header_tree.h"
#include "hints/hints.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/fold.h"

namespace ibd {

/** Refuses hints that say that they are of another network (a bitmap does not say). */
Result<> CheckNetwork(const HintsInfo& hints, const ChainParams& params);

/** The block at which the hints end, on the branch of the best header. Refuses hints of another
 *  network, above the best header or off its branch; the error is one line for the user. Whether
 *  that block may be trusted without running its scripts is ScriptCheckFor(), chain module. */
Result<const HeaderNode*> CheckTerminalBlock(const HintsInfo& hints, const HeaderTree& headers,
                                             const ChainParams& params);

/** The only height from BIP34 on, below 1,983,702, whose coinbase may repeat an early one: that of
 *  mainnet's block 176,684 begins with this height. (It did not, as everyone could see in 2017, but
 *  hints prove nothing on a branch where it does.) */
inline constexpr uint32_t kHeightOfEarlyCoinbase = 490'897;

/** The blocks whose coinbase ids must differ for the sum to prove anything: until BIP34 two
 *  transactions may have the same id. */
struct UniqueCoinbases {
    uint32_t below = 0; //!< the blocks below this height; 0 where BIP34 always held

    bool Contains(uint32_t height) const
    {
        return height < below || (below > 0 && height == kHeightOfEarlyCoinbase);
    }
};

/** `hash_at_bip34` is the hash at consensus.bip34_height on the branch, nothing if the branch is
 *  shorter. */
UniqueCoinbases MakeUniqueCoinbases(const ConsensusParams& params, int32_t terminal_height,
                                    const std::optional<BlockHash>& hash_at_bip34);

/** The same, of the branch that ends in `terminal`. */
UniqueCoinbases UniqueCoinbasesOf(const HeaderNode& terminal, const ConsensusParams& params);
FoldRules FoldRulesOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params);
/** FoldRulesId() of both. */
Uint256 FoldRulesIdOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params);

/** Whether totals over some of the blocks, or all, are more than right hints could lead to: the
 *  reason, or nothing. `supply`: of the chain up to the terminal block, satoshis. */
std::optional<std::string> RefuteTotals(const FoldTotals& totals, const HintsInfo& hints,
                                        Amount supply);

/** Counts, value, sum: nothing if all is well, else which check failed and with which numbers. */
std::optional<std::string> JudgeTotals(const Checkpoint& state, const Aggregate& sum,
                                       const HintsInfo& hints, const ConsensusParams& params);

/** Nothing if all differ, else a pair that does not. Sorts its argument. */
std::optional<std::string> JudgeCoinbases(std::vector<CoinbaseId> ids);

} // namespace ibd
