// ConnectBlock and DisconnectBlock: apply one block to the coins, under every rule that needs
// coins, and undo it. They change only the given coins. One thread; scripts may run on others
// behind the ScriptChecker.
#pragma once

#include "chain/header_tree.h"
#include "consensus/rule_verdict.h"
#include "storage/undo.h"
#include "validation/coins_cache.h"
#include "validation/script_checker.h"

#include <functional>

namespace ibd {

/** Results of connecting a block besides its verdict. */
struct ConnectStats {
    Amount fees = 0;
    uint64_t inputs = 0; //!< without the coinbase's
    int64_t sigop_cost = 0;
};

/** Stores the undo data of a valid block. */
using KeepUndo = std::function<Result<>(const BlockUndo&)>;

/** Applies the block to the coins. `node` is the block's header; its parent is the block that the
 *  coins are at. The block passed CheckBlock and ContextualCheckBlock. `checker` null: scripts are
 *  not run. On success `undo` holds the spent coins, and `keep` (if given) was called with them as
 *  the last step. On a violation, and on an error, which is of the disk or of `keep`, the coins are
 *  as before and `undo` is unspecified.
 *  Rules: BIP30, BIP68, coinbase maturity, amounts, fees, subsidy, sigop cost, scripts. */
RuleVerdict ConnectBlock(const BlockView& block, const HeaderNode& node, const ChainParams& params,
                         CoinsCache& coins, ScriptChecker* checker, BlockUndo& undo,
                         ConnectStats* stats = nullptr, const KeepUndo& keep = {});

/** Result of disconnecting a block. */
enum class DisconnectVerdict {
    kClean,   //!< the coins are exactly those before the block
    kUnclean, //!< block, undo data and coins disagreed; undone as far as possible
};

/** Undoes the block that the coins are at. After an error (of the disk, or undo data that does not
 *  fit) the coins are unusable and refuse to be written: to keep them, pass an overlay and take it
 *  over on success. */
Result<DisconnectVerdict> DisconnectBlock(const BlockView& block, const HeaderNode& node,
                                          const ChainParams& params, BlockUndo undo,
                                          CoinsCache& coins);

} // namespace ibd
