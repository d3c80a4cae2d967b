// SpentRules: checks a stored block against the rules about spent coins, or against all rules and
// scripts. Reasons are the serial engine's. One for each thread. Memory: views of the coins of the
// largest transaction so far, the arrays of a block, and DeferredScripts' own.
#pragma once

#include "consensus/deferred_scripts.h"
#include "consensus/rule_verdict.h"
#include "join/undo_options.h"
#include "primitives/plain_block.h"
#include "storage/block_store.h"
#include "util/found.h"

namespace ibd {

class SpentRules {
public:
    /** `store`: holds the blocks. All references must outlive it. */
    SpentRules(const ChainParams& params, const BlockStore& store, const UndoOptions& options)
        : m_params(params), m_store(store), m_options(options), m_scripts(options.signature_lanes)
    {
    }

    /** `spent`: a coin in undo form for each input in block order, without the coinbase's. Returns
     *  the broken rule, with block, height and transaction, or nothing. Bad data: a coin is
     *  malformed. A system error: the block is damaged. */
    Found<std::string> Check(const HeaderNode& node, const PlainBlock& block,
                             std::span<const ByteSpan> spent);
    /** For tests. */
    const DeferredScripts& Scripts() const { return m_scripts; }

private:
    RuleVerdict RunAll(const HeaderNode& node, const PlainBlock& block,
                       std::span<const ByteSpan> spent);
    RuleVerdict Run(const HeaderNode& node, std::span<const TxView> txs,
                    std::span<const ByteSpan> spent);
    Result<> View(std::span<const ByteSpan> spent);
    RuleResult RunScripts(const TxView& tx);
    RuleViolation NameInput(RuleViolation violation, const TxView& tx, int height) const;

    const ChainParams& m_params;
    const BlockStore& m_store;
    const UndoOptions& m_options;
    DeferredScripts m_scripts;
    BlockView m_view; //!< with ids, where they are needed
    // The current transaction.
    std::vector<Coin> m_coins; //!< its script is set only if it had to be decompressed
    std::vector<SpentCoin> m_views;
    std::vector<SpentOutput> m_outputs;
};

} // namespace ibd
