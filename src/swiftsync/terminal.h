// Checks of the hints' last block before a sync, and the checks that decide, after all blocks are
// folded, whether the hints were right. All must pass; the first failure gives the reason. Pure.
#pragma once

#include "chain/header_tree.h"
#include "hints/hints.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/fold.h"

namespace ibd {

/** Refuses hints that name another network; a bitmap names none. */
Result<> CheckNetwork(const HintsInfo& hints, const ChainParams& params);

/** The block at which the hints end, on the branch of the best header. Refuses hints of another
 *  network, above the best header or off its branch; the error is one line for the user.
 *  ScriptCheckFor() (chain module) decides whether that block may be trusted without running its
 *  scripts. */
Result<const HeaderNode*> CheckTerminalBlock(const HintsInfo& hints, const HeaderTree& headers,
                                             const ChainParams& params);

/** The only height between BIP34 and 1,983,702 at which a coinbase may repeat an earlier one: the
 *  coinbase of mainnet's block 176,684 begins with this height. The real block 490,897 (2017) does
 *  not repeat it; on a branch where the block does, hints prove nothing. */
inline constexpr uint32_t kHeightOfEarlyCoinbase = 490'897;

/** The blocks whose coinbase ids must differ for the sum to prove anything: before BIP34 two
 *  transactions may have the same id. */
struct UniqueCoinbases {
    uint32_t below = 0; //!< the blocks below this height; 0 where BIP34 always held

    bool Contains(uint32_t height) const
    {
        return height < below || (below > 0 && height == kHeightOfEarlyCoinbase);
    }
};

/** `hash_at_bip34`: the branch's hash at consensus.bip34_height; nothing if the branch is shorter.
 */
UniqueCoinbases MakeUniqueCoinbases(const ConsensusParams& params, int32_t terminal_height,
                                    const std::optional<BlockHash>& hash_at_bip34);

/** For the branch that ends in `terminal`. */
UniqueCoinbases UniqueCoinbasesOf(const HeaderNode& terminal, const ConsensusParams& params);
FoldRules FoldRulesOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params);
/** FoldRulesId() of both. */
Uint256 FoldRulesIdOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params);

/** The reason why totals over some or all blocks exceed what right hints allow, or nothing.
 *  `supply`: of the chain up to the terminal block, satoshis. */
std::optional<std::string> RefuteTotals(const FoldTotals& totals, const HintsInfo& hints,
                                        Amount supply);

/** Checks counts, value and sum. Nothing: all pass; else the failed check with its numbers.
 *  `claims`: in full validation, the source of the spent coins. */
std::optional<std::string> JudgeTotals(const Checkpoint& state, const Aggregate& sum,
                                       const HintsInfo& hints, const ConsensusParams& params,
                                       const char* claims = "undo data");

/** Nothing if all ids differ, else a repeated pair. Sorts its argument. */
std::optional<std::string> JudgeCoinbases(std::vector<CoinbaseId> ids);

} // namespace ibd
