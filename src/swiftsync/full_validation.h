// FullValidation: every rule of a block, scripts included, in any order of blocks - with the coins
// that the block's undo record says it spends. The claims are not believed: the aggregate takes
// whole coins on both sides, as created and as claimed, and is zero only if every claim is true.
// Argument: doc/develop/booster.md. One for each worker; one thread. Memory: the undo record of one
// block, decoded, and what DeferredScripts has.
#pragma once

#include "chain/header_tree.h"
#include "consensus/deferred_scripts.h"
#include "storage/block_store.h"
#include "storage/undo.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"

namespace ibd {

class FullValidation {
public:
    FullValidation(const ChainParams& params, const BlockStore& blocks,
                   LanesMode lanes = LanesMode::kOn)
        : m_params(params), m_blocks(blocks), m_scripts(lanes)
    {
    }

    /** Reads the undo record of the block and runs every rule. The block was parsed and has the
     *  node's hash; the node is above genesis. A violation may also be the fault of undo data that
     *  lie. Errors: kBadData, the record is damaged or does not fit the block; else the machine's.
     */
    Result<RuleResult> Check(const BlockView& block, const HeaderNode& node);

    /** After Check() and Fold() of the same block: adds the outputs that are spent one day and
     *  subtracts the coins claimed by the inputs. */
    void AddTo(Aggregate& sum, const BlockView& block, uint32_t height, const BlockDelta& delta,
               const FoldRules& rules);

private:
    Result<> ReadUndo(const BlockView& block, const HeaderNode& node);
    RuleResult CheckRules(const BlockView& block, const HeaderNode& node);
    RuleResult CheckOrigins(const BlockView& block, uint32_t height);
    RuleResult CheckScripts(const TxView& tx, std::span<const Coin> spent);
    std::span<const Coin> SpentBy(size_t tx) const;
    /** Index of the block's first transaction of this id; nothing if there is none. */
    std::optional<size_t> IndexOf(const BlockView& block, const Txid& txid);
    ByteSpan Message(const uint8_t* outpoint, uint32_t height, bool coinbase, Amount value,
                     ByteSpan script);

    const ChainParams& m_params;
    const BlockStore& m_blocks;
    DeferredScripts m_scripts;
    BlockUndo m_undo;
    std::vector<uint32_t> m_by_txid;    //!< transactions of the block by id; empty: not yet sorted
    std::vector<SpentOutput> m_outputs; //!< spent by the transaction at hand
    Bytes m_message;
};

/** The lowest block up to `terminal` that has no undo record, or whose rev file is gone; null if
 *  there is none. Errors: the machine's. */
Result<const HeaderNode*> FirstWithoutUndo(Env& env, const BlockStore& blocks,
                                           const HeaderNode& terminal);

} // namespace ibd
