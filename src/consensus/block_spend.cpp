// See block_spend.h.
#include "consensus/block_spend.h"

#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "consensus/subsidy.h"
#include "script/verify.h"
#include "util/check.h"

#include <fmt/format.h>

namespace ibd {

RuleViolation BlockViolation(RuleViolation violation, const TxView& tx)
{
    return Invalid(std::move(violation.reason),
                   violation.detail + " in transaction " + tx.txid.ToHex());
}

BlockSpendRules::BlockSpendRules(int height, const BlockHash& hash, const Ancestry& prev,
                                 const ConsensusParams& params)
    : m_height(height), m_prev(prev), m_params(params), m_median_time(prev.MedianTimePast()),
      m_flags(BlockScriptFlags(height, hash, params)),
      m_csv(BuriedActive(height, params, BuriedDeployment::kCsv))
{
    CHECK(prev.Height() + 1 == height);
}

RuleResult BlockSpendRules::Add(const TxView& tx, std::span<const Coin> spent)
{
    m_spent.clear();
    for (const Coin& coin : spent) {
        m_spent.push_back({coin.value, coin.script, static_cast<int>(coin.height), coin.coinbase});
    }
    return Add(tx, m_spent);
}

RuleResult BlockSpendRules::Add(const TxView& tx, std::span<const SpentCoin> spent)
{
    if (!tx.IsCoinbase()) IBD_RETURN_IF_VIOLATED(CheckSpend(tx, spent));
    m_sigop_cost += TransactionSigOpCost(tx, spent, m_flags);
    if (m_sigop_cost > kMaxBlockSigOpsCost) return Invalid("bad-blk-sigops", "too many sigops");
    return std::nullopt;
}

RuleResult BlockSpendRules::CheckSpend(const TxView& tx, std::span<const SpentCoin> spent)
{
    m_heights.clear();
    for (const SpentCoin& coin : spent) m_heights.push_back(coin.height);
    Amount fee = 0;
    if (auto bad = CheckTxInputs(tx, spent, m_height, fee))
        return BlockViolation(std::move(*bad), tx);
    m_fees += fee;
    if (!MoneyRange(m_fees)) {
        return Invalid("bad-txns-accumulated-fee-outofrange",
                       "accumulated fee in the block out of range");
    }
    const SequenceLocks locks = CalculateSequenceLocks(tx, m_csv, m_heights, m_prev);
    if (!EvaluateSequenceLocks(locks, m_height, m_median_time)) {
        return Invalid("bad-txns-nonfinal",
                       "contains a non-BIP68-final transaction " + tx.txid.ToHex());
    }
    m_inputs += spent.size();
    return std::nullopt;
}

RuleResult BlockSpendRules::CheckCoinbaseValue(const TxView& coinbase) const
{
    const Amount reward = m_fees + BlockSubsidy(m_height, m_params);
    const Amount claimed = ValueOut(coinbase);
    if (claimed <= reward) return std::nullopt;
    return Invalid("bad-cb-amount",
                   fmt::format("coinbase pays too much (actual={} vs limit={})", claimed, reward));
}

RuleResult CheckInputScripts(const TxView& tx, std::span<const SpentOutput> spent,
                             const TxHashes& hashes, ScriptFlags flags, size_t begin, size_t end,
                             SignatureCacheUse cache)
{
    for (size_t i = begin; i < end; ++i) {
        const ScriptError error = VerifyInput(tx, i, spent[i], hashes, flags, cache);
        if (error == ScriptError::kOk) continue;
        const OutPoint prevout = tx.inputs[i].Prevout();
        return Invalid(fmt::format("block-script-verify-flag-failed ({})", ScriptErrorText(error)),
                       fmt::format("input {} of {} (wtxid {}), spending {}:{}", i, tx.txid.ToHex(),
                                   tx.WitnessHash().ToHex(), prevout.txid.ToHex(), prevout.vout));
    }
    return std::nullopt;
}

} // namespace ibd
