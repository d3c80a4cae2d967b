// FullValidation: checks every rule of a block, scripts included, in any order of blocks, with the
// coins claimed by the block's undo record or by the peer that sent it. The claims are not trusted:
// the aggregate takes whole coins on both sides, as created and as claimed, and is zero only if
// every claim is true (argument: doc/develop/booster.md). One for each worker; one thread. Memory:
// the coins that one block spends, and DeferredScripts' own.
#pragma once

#include "chain/header_tree.h"
#include "consensus/deferred_scripts.h"
#include "consensus/rule_verdict.h"
#include "storage/block_store.h"
#include "storage/undo.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"

namespace ibd {

class FullValidation {
public:
    /** Most signature checks in the claimed scripts of a block, and most bytes that those checks
     *  may hash: a claim costs its sender nothing. A block that spends more is not validated with
     *  claims. The block of mainnet that hashes most, at height 364,292, takes 1.2 GB. */
    static constexpr uint64_t kMaxClaimedChecks = 100'000;
    static constexpr uint64_t kMaxClaimedHashBytes = 16'000'000'000;

    /** Signatures of blocks up to `known_height` are verified in batches. */
    FullValidation(const ChainParams& params, const BlockStore& blocks, LanesMode lanes,
                   int32_t known_height)
        : m_params(params), m_blocks(blocks), m_known_height(known_height), m_scripts(lanes)
    {
    }

    /** Checks every rule with the coins that the block spends: `claimed`, which are taken out, or
     *  without them those of its undo record. The block was parsed and has the node's hash; the
     *  node is above genesis. False coins may also cause a violation; that of claimed ones is of
     *  kind kSpentCoins. Errors: kBadData: the record is damaged or does not fit the block; else
     *  the machine's. */
    RuleVerdict Check(const BlockView& block, const HeaderNode& node,
                      std::vector<Coin>* claimed = nullptr);

    /** Call it after Check() and Fold() of the same block: adds the outputs that will be spent and
     *  subtracts the coins claimed for its inputs. */
    void AddTo(Aggregate& sum, const BlockView& block, uint32_t height, const BlockDelta& delta,
               const FoldRules& rules);
    /** For tests. */
    const DeferredScripts& Scripts() const { return m_scripts; }

private:
    Result<> ReadUndo(const BlockView& block, const HeaderNode& node);
    RuleResult CheckClaimed(const BlockView& block, const HeaderNode& node,
                            std::vector<Coin>& claimed);
    RuleResult CheckRules(const BlockView& block, const HeaderNode& node);
    RuleResult CheckOrigins(const BlockView& block, uint32_t height);
    RuleResult CheckScripts(const TxView& tx, std::span<const Coin> spent);
    std::span<const Coin> SpentBy(size_t tx) const;
    /** Index of the block's first transaction with this id; nothing: there is none. */
    std::optional<size_t> IndexOf(const BlockView& block, const Txid& txid);
    ByteSpan Message(const uint8_t* outpoint, uint32_t height, bool coinbase, Amount value,
                     ByteSpan script);

    const ChainParams& m_params;
    const BlockStore& m_blocks;
    const int32_t m_known_height;
    DeferredScripts m_scripts;
    BlockUndo m_undo;
    std::vector<uint32_t> m_by_txid;    //!< transactions of the block by id; empty: not sorted yet
    std::vector<SpentOutput> m_outputs; //!< spent by the current transaction
    Bytes m_message;
};

/** The lowest block up to `terminal` without an undo record, or whose rev file is missing; null:
 *  there is none. Errors: the machine's. */
Result<const HeaderNode*> FirstWithoutUndo(Env& env, const BlockStore& blocks,
                                           const HeaderNode& terminal);

} // namespace ibd
