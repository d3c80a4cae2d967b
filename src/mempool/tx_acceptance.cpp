// See tx_acceptance.h.
#include "mempool/tx_acceptance.h"

#include "consensus/block_spend.h"
#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "consensus/tx_check.h"
#include "mempool/eviction.h"
#include "mempool/spend_policy.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

/** A transaction with the results of its checks. */
struct CheckedTx {
    Candidate candidate;
    Amount fee = 0;
    int64_t sigop_cost = 0;
    std::vector<Coin> coins; //!< the spent coins
};

namespace {

using Kind = RuleViolation::Kind;
using Checked = CheckedTx;

/** Unconfirmed outputs count as made in the next block. */
Coin UnconfirmedCoin(const OutputView& output, int height)
{
    Coin coin;
    coin.value = output.value;
    coin.script = output.script_pubkey;
    coin.height = static_cast<uint32_t>(height);
    return coin;
}

std::vector<SpentCoin> SpentCoins(const std::vector<Coin>& coins)
{
    std::vector<SpentCoin> spent;
    for (const Coin& coin : coins) {
        spent.push_back({coin.value, coin.script, static_cast<int>(coin.height), coin.coinbase});
    }
    return spent;
}

RuleResult CheckFee(Amount fee, int64_t vsize, const PolicyOptions& policy)
{
    const Amount least = FeeAt(policy.min_relay_fee, vsize);
    if (fee >= least) return {};
    return Violation(Kind::kReconsiderable, "min relay fee not met",
                     fmt::format("{} < {}", fee, least));
}

/** Dust is allowed only where the fee is zero, so that it is mined only with a child that spends
 *  it. */
RuleResult CheckDustFee(const TxView& tx, Amount fee, const PolicyOptions& policy)
{
    if (fee == 0 || DustOutputs(tx, policy.dust_fee).empty()) return {};
    return Violation(Kind::kNotStandard, "dust", "tx with dust output must be 0-fee");
}

TxVerdict VerdictOn(const Checked& checked, RuleResult bad)
{
    return {std::move(bad), checked.fee, checked.candidate.vsize};
}

/** Transactions of a package with the pool transactions that they depend on. */
struct NewCluster {
    std::vector<const Candidate*> txs;
    PoolTxSet pool;

    size_t Count() const { return txs.size() + pool.size(); }
    int64_t Weight() const
    {
        int64_t sum = 0;
        for (const Candidate* tx : txs) sum += tx->weight;
        for (const PoolTx* tx : pool) sum += tx->weight;
        return sum;
    }
    /** `other`: earlier in the package. */
    bool Touches(const NewCluster& other) const
    {
        return std::any_of(other.pool.begin(), other.pool.end(),
                           [&](const PoolTx* tx) { return pool.count(tx) != 0; }) ||
               std::any_of(other.txs.begin(), other.txs.end(), [&](const Candidate* parent) {
                   return Spends(*txs.front()->tx, parent->tx->Id());
               });
    }
    void Take(NewCluster other)
    {
        txs.insert(txs.end(), other.txs.begin(), other.txs.end());
        pool.merge(other.pool);
    }

private:
    static bool Spends(const Transaction& tx, const Txid& parent)
    {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                           [&](const InputView& input) { return input.Prevout().txid == parent; });
    }
};

NewCluster ClusterOf(const Checked& checked)
{
    return {{&checked.candidate}, TxPool::Cluster(checked.candidate.parents)};
}

} // namespace

/** One request to the pool: a transaction, or a package. The caller holds the pool's mutex, which
 *  clang cannot follow into a member. */
class TxAcceptance::Check {
public:
    Check(const TxAcceptance& rules, const CoinsAtTip& at, const TxPool& pool, Origin origin)
        : m_rules(rules), m_policy(rules.m_policy), m_at(at), m_pool(pool), m_origin(origin),
          m_next_height(at.tip.height + 1), m_ancestry(&at.tip)
    {
    }

    /** All checks but scripts and those of the package as a whole. */
    Result<RuleResult> Prepare(const TransactionRef& tx, Checked& out) IBD_NO_THREAD_CHECK
    {
        out.candidate.tx = tx;
        const TxView& view = tx->View();
        if (auto bad = CheckAlone(view)) return RuleResult(bad);
        if (auto bad = CheckPool(*tx)) return RuleResult(bad);
        IBD_ASSIGN_OR_RETURN(RuleResult missing, ReadCoins(view, out.coins));
        if (missing) return missing;
        return CheckSpend(view, out);
    }

    /** Adds outputs for later transactions of the package. */
    void AddOutputs(const Transaction& tx)
    {
        for (uint32_t i = 0; i < tx->outputs.size(); ++i) {
            m_made.emplace(OutPoint{tx.Id(), i}, UnconfirmedCoin(tx->outputs[i], m_next_height));
        }
    }

    /** Whether the resulting clusters stay within their limits. */
    RuleResult CheckClusters(std::span<const Checked> package) const
    {
        std::vector<NewCluster> clusters;
        for (const Checked& checked : package) {
            NewCluster all = ClusterOf(checked);
            for (size_t i = clusters.size(); i-- > 0;) {
                if (!all.Touches(clusters[i])) continue;
                all.Take(std::move(clusters[i]));
                clusters.erase(clusters.begin() + static_cast<ptrdiff_t>(i));
            }
            clusters.push_back(std::move(all));
        }
        const bool fit = std::all_of(clusters.begin(), clusters.end(), [&](const auto& cluster) {
            return m_pool.Fits(cluster.Count(), cluster.Weight());
        });
        if (fit) return {};
        return Violation(Kind::kMempoolPolicy, "too-large-cluster");
    }

    /** Runs them with the policy's flags, then with those of blocks, under which the cache keeps
     *  the result for the block that confirms it. */
    RuleResult CheckScripts(const Checked& checked) const
    {
        const TxView& tx = checked.candidate.tx->View();
        std::vector<SpentOutput> spent;
        for (const Coin& coin : checked.coins) spent.push_back({coin.value, coin.script});
        const TxHashes hashes(tx, spent);
        const ScriptFlags block_flags =
            BlockScriptFlags(m_at.tip.height, m_at.tip.hash, m_rules.m_params);
        IBD_RETURN_IF_VIOLATED(Run(tx, spent, hashes, kStandardScriptFlags));
        IBD_RETURN_IF_VIOLATED(Run(tx, spent, hashes, block_flags));
        if (VerificationCaches* const caches = m_rules.m_caches) {
            const Wtxid& id = checked.candidate.tx->WitnessId();
            caches->scripts.Entries().Insert(caches->scripts.Key(id, block_flags));
        }
        return {};
    }

    std::optional<UnspentDust> CheckDust(Package package) const IBD_NO_THREAD_CHECK
    {
        if (!m_policy.require_standard) return std::nullopt;
        return CheckEphemeralDust(package, m_pool, m_policy.dust_fee);
    }

    bool KeepsLimits() const { return m_origin != Origin::kChain; }

private:
    RuleResult CheckAlone(const TxView& tx) const
    {
        IBD_RETURN_IF_VIOLATED(CheckTransaction(tx));
        if (tx.IsCoinbase()) return Invalid("coinbase");
        if (m_policy.require_standard) IBD_RETURN_IF_VIOLATED(CheckStandardTx(tx, m_policy));
        if (tx.stripped_size < kMinStrippedSize) {
            return Violation(Kind::kNotStandard, "tx-size-small");
        }
        if (!IsFinalTx(tx, m_next_height, m_ancestry.MedianTimePast())) {
            return Violation(Kind::kPrematureSpend, "non-final");
        }
        return {};
    }

    RuleResult CheckPool(const Transaction& tx) const IBD_NO_THREAD_CHECK
    {
        if (m_pool.FindWitness(tx.WitnessId())) {
            return Violation(Kind::kConflict, "txn-already-in-mempool");
        }
        if (m_pool.Find(tx.Id())) {
            return Violation(Kind::kConflict, "txn-same-nonwitness-data-in-mempool");
        }
        for (const InputView& input : tx->inputs) {
            if (m_pool.Spender(input.Prevout())) {
                return Violation(Kind::kMempoolPolicy, m_origin == Origin::kPackage
                                                           ? "bip125-replacement-disallowed"
                                                           : "txn-mempool-conflict");
            }
        }
        return {};
    }

    /** Finds a coin in the package, the pool, or the chain. */
    Result<std::optional<Coin>> Find(const OutPoint& outpoint) const IBD_NO_THREAD_CHECK
    {
        if (const auto it = m_made.find(outpoint); it != m_made.end()) {
            return std::optional<Coin>(it->second);
        }
        if (const PoolTx* const tx = m_pool.Find(outpoint.txid)) {
            const auto outputs = (*tx->tx)->outputs;
            if (outpoint.vout >= outputs.size()) return std::optional<Coin>();
            return std::optional<Coin>(UnconfirmedCoin(outputs[outpoint.vout], m_next_height));
        }
        return m_at.coins.Read(outpoint);
    }

    Result<RuleResult> ReadCoins(const TxView& tx,
                                 std::vector<Coin>& coins) const IBD_NO_THREAD_CHECK
    {
        for (const InputView& input : tx.inputs) {
            IBD_ASSIGN_OR_RETURN(auto coin, Find(input.Prevout()));
            if (!coin) return Missing(tx);
            coins.push_back(std::move(*coin));
        }
        return RuleResult();
    }

    /** Missing inputs may have been spent by this very transaction, in a block. */
    Result<RuleResult> Missing(const TxView& tx) const
    {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            IBD_ASSIGN_OR_RETURN(const auto made, m_at.coins.Read({tx.txid, i}));
            if (made) return RuleResult(Violation(Kind::kConflict, "txn-already-known"));
        }
        return RuleResult(Violation(Kind::kMissingInputs, "bad-txns-inputs-missingorspent"));
    }

    RuleResult CheckSequences(const TxView& tx, const std::vector<Coin>& coins) const
    {
        std::vector<int> heights;
        for (const Coin& coin : coins) heights.push_back(static_cast<int>(coin.height));
        const SequenceLocks locks =
            CalculateSequenceLocks(tx, /*enforce=*/true, heights, m_ancestry);
        if (EvaluateSequenceLocks(locks, m_next_height, m_ancestry.MedianTimePast())) return {};
        return Violation(Kind::kPrematureSpend, "non-BIP68-final");
    }

    RuleResult CheckSpend(const TxView& tx, Checked& out) const IBD_NO_THREAD_CHECK
    {
        const std::vector<SpentCoin> spent = SpentCoins(out.coins);
        IBD_RETURN_IF_VIOLATED(CheckSequences(tx, out.coins));
        IBD_RETURN_IF_VIOLATED(CheckTxInputs(tx, spent, m_next_height, out.fee));
        if (m_policy.require_standard) {
            IBD_RETURN_IF_VIOLATED(CheckStandardSpends(tx, spent));
            if (!IsStandardWitness(tx, spent)) {
                return Violation(Kind::kWitnessMutated, "bad-witness-nonstandard");
            }
        }
        out.sigop_cost = TransactionSigOpCost(tx, spent, kStandardScriptFlags);
        Candidate& candidate = out.candidate;
        candidate.weight = AdjustedWeight(tx.Weight(), out.sigop_cost, m_policy.bytes_per_sigop);
        candidate.vsize = VirtualSize(candidate.weight);
        candidate.parents = m_pool.ParentsOf(tx);
        if (m_policy.require_standard) IBD_RETURN_IF_VIOLATED(CheckDustFee(tx, out.fee, m_policy));
        if (out.sigop_cost > kMaxStandardSigOpsCost) {
            return Violation(Kind::kNotStandard, "bad-txns-too-many-sigops",
                             std::to_string(out.sigop_cost));
        }
        if (!KeepsLimits()) return {};
        IBD_RETURN_IF_VIOLATED(CheckFee(out.fee, candidate.vsize, m_policy));
        return CheckTruc(candidate);
    }

    RuleResult Run(const TxView& tx, std::span<const SpentOutput> spent, const TxHashes& hashes,
                   ScriptFlags flags) const
    {
        SignatureCacheUse use;
        if (m_rules.m_caches) use = {&m_rules.m_caches->signatures, true};
        RuleResult bad = CheckInputScripts(tx, spent, hashes, flags, 0, spent.size(), use);
        if (!bad) return {};
        // Turns a violation of block rules into the pool's wording.
        constexpr std::string_view kOfBlocks = "block";
        bad->kind = Kind::kNotStandard;
        bad->reason.replace(0, kOfBlocks.size(), "mempool");
        return bad;
    }

    const TxAcceptance& m_rules;
    const PolicyOptions& m_policy;
    const CoinsAtTip& m_at;
    const TxPool& m_pool;
    const Origin m_origin;
    const int m_next_height;
    const NodeAncestry m_ancestry;
    std::map<OutPoint, Coin> m_made; //!< made by the package so far
};

Result<RuleResult> TxAcceptance::CheckOne(Check& check, const TransactionRef& tx,
                                          Checked& out) const
{
    IBD_ASSIGN_OR_RETURN(RuleResult bad, check.Prepare(tx, out));
    if (!bad) bad = check.CheckClusters({&out, 1});
    if (!bad && check.KeepsLimits()) {
        if (auto dust = check.CheckDust({&tx, 1})) bad = std::move(dust->violation);
    }
    if (!bad) bad = check.CheckScripts(out);
    return bad;
}

Result<TxVerdict> TxAcceptance::Test(const TransactionRef& tx, const CoinsAtTip& at,
                                     const TxPool& pool) const
{
    Check check(*this, at, pool, Origin::kAlone);
    Checked checked;
    IBD_ASSIGN_OR_RETURN(RuleResult bad, CheckOne(check, tx, checked));
    return VerdictOn(checked, std::move(bad));
}

Result<PackageVerdict> TxAcceptance::TestPackage(Package package, const CoinsAtTip& at,
                                                 const TxPool& pool) const
{
    PackageVerdict out;
    out.violation = CheckPackageForm(package);
    if (out.violation) return out;
    Check check(*this, at, pool, Origin::kPackage);
    std::vector<Checked> all(package.size());
    const auto refuse = [&](const Wtxid& id, RuleResult bad) {
        out.txs[id].violation = std::move(bad);
        return out;
    };
    for (size_t i = 0; i < package.size(); ++i) {
        IBD_ASSIGN_OR_RETURN(RuleResult bad, check.Prepare(package[i], all[i]));
        if (bad) return refuse(package[i]->WitnessId(), std::move(bad));
        check.AddOutputs(*package[i]);
    }
    for (const Checked& checked : all) {
        out.violation = CheckPackageTruc(checked.candidate, package);
        if (out.violation) return out;
    }
    out.violation = check.CheckClusters(all);
    if (out.violation) return out;
    if (auto dust = check.CheckDust(package)) return refuse(dust->tx, std::move(dust->violation));
    for (const Checked& checked : all) {
        const Wtxid& id = checked.candidate.tx->WitnessId();
        if (auto bad = check.CheckScripts(checked)) return refuse(id, std::move(bad));
        out.txs[id] = VerdictOn(checked, {});
    }
    return out;
}

Result<TxVerdict> TxAcceptance::Accept(const TransactionRef& tx, const CoinsAtTip& at, TxPool& pool,
                                       int64_t now) const
{
    Check check(*this, at, pool, Origin::kAlone);
    Checked checked;
    IBD_ASSIGN_OR_RETURN(RuleResult bad, CheckOne(check, tx, checked));
    if (!bad) {
        pool.Add({.tx = tx,
                  .fee = checked.fee,
                  .vsize = checked.candidate.vsize,
                  .weight = checked.candidate.weight,
                  .sigop_cost = checked.sigop_cost,
                  .time = now,
                  .height = at.tip.height,
                  .own = true});
        pool.Expire(now - pool.Limits().expiry);
        Trim(pool);
        if (!pool.Find(tx->Id())) bad = Violation(Kind::kReconsiderable, "mempool full");
    }
    return VerdictOn(checked, std::move(bad));
}

Result<bool> TxAcceptance::Restore(PoolTx tx, const CoinsAtTip& at, TxPool& pool) const
{
    Check check(*this, at, pool, Origin::kChain);
    Checked checked;
    IBD_ASSIGN_OR_RETURN(const RuleResult bad, CheckOne(check, tx.tx, checked));
    if (bad) return false;
    tx.fee = checked.fee;
    tx.vsize = checked.candidate.vsize;
    tx.weight = checked.candidate.weight;
    tx.sigop_cost = checked.sigop_cost;
    pool.Add(std::move(tx));
    return true;
}

} // namespace ibd
