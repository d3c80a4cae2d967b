// The rules of a block about the coins that it spends, given those coins: amounts, maturity,
// relative locks, sigop cost, reward, scripts. The caller provides the coins, from a cache or from
// undo data, so that serial engine and booster share every rule. One thread for each object; the
// functions are pure.
#pragma once

#include "consensus/params.h"
#include "consensus/tx_verify.h"
#include "script/coin.h"
#include "script/sighash.h"
#include "script/verification_cache.h"

#include <vector>

namespace ibd {

/** Turns a violation of a transaction into one of its block: permanently invalid, whatever it would
 *  mean in the pool. */
RuleViolation BlockViolation(RuleViolation violation, const TxView& tx);

/** Takes the transactions of one block in order and keeps the sums. Order of the checks and reject
 *  reasons are Core's. */
class BlockSpendRules {
public:
    /** `prev`: the branch that ends at the block's parent; both must outlive the object. */
    BlockSpendRules(int height, const BlockHash& hash, const Ancestry& prev,
                    const ConsensusParams& params);

    /** Adds the next transaction in block order, which passed CheckTransaction. `spent`: one coin
     *  for each input, none above the block's height; empty for the coinbase. Checks maturity,
     *  values, fees, BIP68, sigop cost. */
    RuleResult Add(const TxView& tx, std::span<const Coin> spent);
    RuleResult Add(const TxView& tx, std::span<const SpentCoin> spent);

    /** Call it last: the coinbase pays no more than fees and subsidy. */
    RuleResult CheckCoinbaseValue(const TxView& coinbase) const;

    /** For the scripts of the block. */
    ScriptFlags Flags() const { return m_flags; }
    Amount Fees() const { return m_fees; }
    uint64_t Inputs() const { return m_inputs; } //!< without the coinbase's
    int64_t SigOpCost() const { return m_sigop_cost; }

private:
    RuleResult CheckSpend(const TxView& tx, std::span<const SpentCoin> spent);

    const int m_height;
    const Ancestry& m_prev;
    const ConsensusParams& m_params;
    const int64_t m_median_time; //!< of the parent
    const ScriptFlags m_flags;
    const bool m_csv;

    Amount m_fees = 0;
    uint64_t m_inputs = 0;
    int64_t m_sigop_cost = 0;
    std::vector<SpentCoin> m_spent; //!< of the current transaction
    std::vector<int> m_heights;     //!< of the current transaction
};

/** Runs the scripts of inputs begin..end-1. `spent`: one output for each input of `tx`; `hashes`
 *  were made from both. Returns the first violation. */
RuleResult CheckInputScripts(const TxView& tx, std::span<const SpentOutput> spent,
                             const TxHashes& hashes, ScriptFlags flags, size_t begin, size_t end,
                             SignatureCacheUse cache = {});

} // namespace ibd
