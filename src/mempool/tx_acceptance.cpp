// See tx_acceptance.h.
#include "mempool/tx_acceptance.h"

#include "consensus/block_spend.h"
#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "consensus/tx_check.h"
#include "mempool/pool_view.h"
#include "mempool/replacement.h"
#include "mempool/spend_policy.h"
#include "util/strings.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

using Kind = RuleViolation::Kind;

std::vector<SpentCoin> SpentCoins(const std::vector<Coin>& coins)
{
    std::vector<SpentCoin> spent;
    spent.reserve(coins.size());
    for (const Coin& coin : coins) {
        spent.push_back({coin.value, coin.script, static_cast<int>(coin.height), coin.coinbase});
    }
    return spent;
}

/** Dust is allowed only where the fee is zero, so that it is mined only with a child that spends
 *  it. */
RuleResult CheckDustFee(const TxView& tx, const CheckedTx& checked, const PolicyOptions& policy)
{
    if (checked.fee == 0 && checked.modified_fee == 0) return {};
    if (DustOutputs(tx, policy.dust_fee).empty()) return {};
    return Violation(Kind::kNotStandard, "dust", "tx with dust output must be 0-fee");
}

RuleResult CheckMostFee(const CheckedTx& checked, const Arrival& arrival)
{
    const FeeSize paid{checked.modified_fee, checked.candidate.vsize};
    if (arrival.most_rate == 0 || CompareRates(paid, {arrival.most_rate, 1'000}) <= 0) return {};
    return Violation(Kind::kMempoolPolicy, "max feerate exceeded");
}

/** Modified fees over virtual sizes. */
FeeSize TotalOf(const std::vector<CheckedTx>& package)
{
    FeeSize total;
    for (const CheckedTx& tx : package) total += {tx.modified_fee, tx.candidate.vsize};
    return total;
}

RuleViolation PackageRefused(const std::string& why, std::string detail = {})
{
    return Violation(Kind::kMempoolPolicy, "package RBF failed: " + why, std::move(detail));
}

std::string RateText(const FeeSize& paid)
{
    return fmt::format("{} BTC/kvB", FormatAmount(RateOf(paid)));
}

PoolTxSet ConflictsOf(const std::vector<CheckedTx>& package)
{
    PoolTxSet all;
    for (const CheckedTx& tx : package) all.insert(tx.conflicts.begin(), tx.conflicts.end());
    return all;
}

/** A parent and its child without ancestors in the pool replace transactions that pay less than
 *  both together. */
RuleResult StagePackageReplaced(const std::vector<CheckedTx>& package, const PoolLimits& limits,
                                PoolChange& change)
{
    const PoolTxSet conflicts = ConflictsOf(package);
    if (conflicts.empty()) return {};
    if (package.size() != 2) return PackageRefused("package must be 1-parent-1-child");
    for (const CheckedTx& tx : package) {
        if (tx.candidate.parents.empty()) continue;
        return PackageRefused("new transaction cannot have mempool ancestors");
    }
    const FeeSize total = TotalOf(package);
    Candidate child = package.back().candidate;
    child.vsize = total.size;
    if (auto bad = StageReplaced({child, total.fee, conflicts}, limits, change)) {
        const bool fee = bad->reason == "insufficient fee";
        return PackageRefused(fee ? "insufficient anti-DoS fees" : bad->reason, bad->detail);
    }
    const FeeSize parent{package.front().modified_fee, package.front().candidate.vsize};
    // Rates are compared as they are shown, in whole satoshi.
    if (RateOf(total) > RateOf(parent)) return {};
    return PackageRefused("package feerate is less than or equal to parent feerate",
                          fmt::format("package feerate {} <= parent feerate is {}", RateText(total),
                                      RateText(parent)));
}

RuleResult CheckPackageImproves(const std::vector<CheckedTx>& package, PoolChange& change)
{
    if (ConflictsOf(package).empty()) return {};
    if (auto bad = CheckImproves(change)) return PackageRefused(bad->detail);
    return {};
}

} // namespace

/** One request to the pool: a transaction, or a package. The caller holds the pool's mutex; clang
 *  cannot track that for a member. */
class TxAcceptance::Request {
public:
    Request(const TxAcceptance& rules, const CoinsAtTip& at, const Arrival& arrival, Origin origin,
            TxPool& pool, PoolChange& change)
        : m_rules(rules), m_policy(rules.m_policy), m_at(at), m_arrival(arrival), m_pool(pool),
          m_change(change), m_origin(origin), m_next_height(at.tip.height + 1), m_ancestry(&at.tip),
          m_view(at.coins, change, m_next_height)
    {
    }

    /** All checks of a transaction but those of clusters, dust of parents, and scripts. */
    RuleVerdict Prepare(const TransactionRef& tx, CheckedTx& out) IBD_NO_THREAD_CHECK
    {
        out.candidate.tx = tx;
        out.block_flags = BlockScriptFlags(m_at.tip.height, m_at.tip.hash, m_rules.m_params);
        const TxView& view = tx->View();
        if (auto bad = CheckAlone(view)) return RuleResult(bad);
        if (auto bad = CheckPool(*tx, out)) return RuleResult(bad);
        IBD_ASSIGN_OR_RETURN(RuleResult missing, ReadCoins(view, out.coins));
        if (missing) return missing;
        return CheckSpend(view, out);
    }

    /** Stages a prepared transaction, and the removal of the ones it replaces. */
    RuleResult Stage(const CheckedTx& checked)
    {
        if (!checked.conflicts.empty()) {
            IBD_RETURN_IF_VIOLATED(StageReplaced({checked.candidate, checked.modified_fee,
                                                  checked.conflicts, checked.evicts_sibling},
                                                 m_pool.Limits(), m_change));
        }
        Add(checked);
        return {};
    }

    void Add(const CheckedTx& checked)
    {
        m_change.Add({.tx = checked.candidate.tx,
                      .fee = checked.fee,
                      .vsize = checked.candidate.vsize,
                      .weight = checked.candidate.weight,
                      .sigop_cost = checked.sigop_cost,
                      .time = m_arrival.time,
                      .height = m_at.tip.height,
                      .own = m_arrival.own,
                      .spends_coinbase = checked.spends_coinbase,
                      .estimates = EstimatesFees(checked),
                      .locks = checked.locks,
                      .locks_height = checked.locks_height});
    }

    /** Whether the transaction's fee alone decides how long it waits. */
    bool EstimatesFees(const CheckedTx& checked) const IBD_NO_THREAD_CHECK
    {
        return m_at.is_current && m_origin == Origin::kAlone && !m_arrival.in_package &&
               m_pool.ParentsOf(checked.candidate.tx->View()).empty();
    }

    RuleResult CheckFee(const FeeSize& total) IBD_NO_THREAD_CHECK
    {
        const Amount full = FeeAt(m_pool.MinFeeRate(m_arrival.now), total.size);
        if (full > 0 && total.fee < full) {
            return TooLow("mempool min fee not met", total.fee, full);
        }
        const Amount least = FeeAt(m_policy.min_relay_fee, total.size);
        if (total.fee < least) return TooLow("min relay fee not met", total.fee, least);
        return {};
    }

    /** After staging. */
    RuleResult CheckClusters(bool replaces)
    {
        if (m_origin == Origin::kChain) return {}; // the excess is dropped later
        if (!m_change.Fits()) return Violation(Kind::kMempoolPolicy, "too-large-cluster");
        return replaces ? CheckImproves(m_change) : RuleResult();
    }

    std::optional<UnspentDust> CheckDust(Package package) const IBD_NO_THREAD_CHECK
    {
        if (!m_policy.require_standard || !KeepsLimits()) return std::nullopt;
        return CheckEphemeralDust(package, m_pool, m_policy.dust_fee);
    }

private:
    bool KeepsLimits() const { return m_origin != Origin::kChain; }

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

    RuleResult CheckPool(const Transaction& tx, CheckedTx& out) const IBD_NO_THREAD_CHECK
    {
        if (m_pool.FindWitness(tx.WitnessId())) {
            return Violation(Kind::kConflict, "txn-already-in-mempool");
        }
        if (m_pool.Find(tx.Id())) {
            return Violation(Kind::kConflict, "txn-same-nonwitness-data-in-mempool");
        }
        for (const InputView& input : tx->inputs) {
            const PoolTx* const other = m_pool.Spender(input.Prevout());
            if (!other || m_change.Removes(*other)) continue;
            if (m_origin == Origin::kChain) {
                return Violation(Kind::kMempoolPolicy, "txn-mempool-conflict");
            }
            if (m_origin == Origin::kPackage) {
                return Violation(Kind::kMempoolPolicy, "bip125-replacement-disallowed");
            }
            out.conflicts.insert(other);
        }
        return {};
    }

    RuleVerdict ReadCoins(const TxView& tx, std::vector<Coin>& coins) const
    {
        for (const InputView& input : tx.inputs) {
            IBD_ASSIGN_OR_RETURN(auto coin, m_view.Read(input.Prevout()));
            if (!coin) return Missing(tx);
            coins.push_back(std::move(*coin));
        }
        return RuleResult();
    }

    /** If the transaction is in a block already, its inputs are missing, and its outputs are
     *  probably coins in memory. Coins on disk are not searched: a peer could cause thousands of
     *  reads by a transaction that pays nothing. */
    RuleResult Missing(const TxView& tx) const
    {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (!m_at.coins.IsInMemory({tx.txid, i})) continue;
            return Violation(Kind::kConflict, "txn-already-known");
        }
        return Violation(Kind::kMissingInputs, "bad-txns-inputs-missingorspent");
    }

    RuleResult CheckSequences(const TxView& tx, CheckedTx& out) const
    {
        std::vector<int> heights;
        for (const Coin& coin : out.coins) {
            const auto height = static_cast<int>(coin.height);
            heights.push_back(height);
            if (height < m_next_height) out.locks_height = std::max(out.locks_height, height);
            out.spends_coinbase |= coin.coinbase;
        }
        out.locks = CalculateSequenceLocks(tx, /*enforce=*/true, heights, m_ancestry);
        if (EvaluateSequenceLocks(out.locks, m_next_height, m_ancestry.MedianTimePast())) return {};
        return Violation(Kind::kPrematureSpend, "non-BIP68-final");
    }

    RuleResult CheckSpend(const TxView& tx, CheckedTx& out) IBD_NO_THREAD_CHECK
    {
        const std::vector<SpentCoin> spent = SpentCoins(out.coins);
        IBD_RETURN_IF_VIOLATED(CheckSequences(tx, out));
        IBD_RETURN_IF_VIOLATED(CheckTxInputs(tx, spent, m_next_height, out.fee));
        if (m_policy.require_standard) {
            IBD_RETURN_IF_VIOLATED(CheckStandardSpends(tx, spent));
            if (!IsStandardWitness(tx, spent)) {
                return Violation(Kind::kWitnessMutated, "bad-witness-nonstandard");
            }
        }
        out.modified_fee = ModifiedFee(out.fee, m_pool.DeltaOf(tx.txid));
        out.sigop_cost = TransactionSigOpCost(tx, spent, kStandardScriptFlags);
        Candidate& candidate = out.candidate;
        candidate.weight = AdjustedWeight(tx.Weight(), out.sigop_cost, m_policy.bytes_per_sigop);
        candidate.vsize = VirtualSize(candidate.weight);
        candidate.parents = m_pool.ParentsOf(tx);
        if (m_policy.require_standard) IBD_RETURN_IF_VIOLATED(CheckDustFee(tx, out, m_policy));
        if (out.sigop_cost > kMaxStandardSigOpsCost) {
            return Violation(Kind::kNotStandard, "bad-txns-too-many-sigops",
                             std::to_string(out.sigop_cost));
        }
        if (!KeepsLimits()) return {};
        if (m_origin != Origin::kTogether) {
            IBD_RETURN_IF_VIOLATED(CheckFee({out.modified_fee, candidate.vsize}));
        }
        return CheckFamily(out);
    }

    static RuleViolation TooLow(const char* reason, Amount fee, Amount least)
    {
        return Violation(Kind::kReconsiderable, reason, fmt::format("{} < {}", fee, least));
    }

    /** BIP431. If a sibling occupies the only slot for a child, the transaction replaces it. */
    RuleResult CheckFamily(CheckedTx& out) const
    {
        TrucVerdict verdict = CheckTruc(out.candidate, out.conflicts);
        if (!verdict.violation) return {};
        if (!verdict.sibling || m_origin != Origin::kAlone) return verdict.violation;
        out.conflicts.insert(verdict.sibling);
        out.evicts_sibling = true;
        return {};
    }

    const TxAcceptance& m_rules;
    const PolicyOptions& m_policy;
    const CoinsAtTip& m_at;
    const Arrival& m_arrival;
    TxPool& m_pool;
    PoolChange& m_change;
    const Origin m_origin;
    const int m_next_height;
    const NodeAncestry m_ancestry;
    const PoolView m_view;
};

RuleVerdict TxAcceptance::Check(const TransactionRef& tx, const CoinsAtTip& at,
                                const Arrival& arrival, Origin origin, TxPool& pool,
                                PoolChange& change, CheckedTx& out) const
{
    Request request(*this, at, arrival, origin, pool, change);
    IBD_ASSIGN_OR_RETURN(RuleResult bad, request.Prepare(tx, out));
    if (!bad) bad = CheckMostFee(out, arrival);
    if (!bad) bad = request.Stage(out);
    if (!bad) bad = request.CheckClusters(!out.conflicts.empty());
    if (!bad) bad = CheckAncestors(out.candidate, out.conflicts);
    if (!bad) {
        if (auto dust = request.CheckDust({&tx, 1})) bad = std::move(dust->violation);
    }
    return bad;
}

Result<PackageFault> TxAcceptance::CheckPackage(Package package, const CoinsAtTip& at,
                                                const Arrival& arrival, Origin origin, TxPool& pool,
                                                PoolChange& change,
                                                std::vector<CheckedTx>& out) const
{
    Request request(*this, at, arrival, origin, pool, change);
    out = std::vector<CheckedTx>(package.size());
    for (size_t i = 0; i < package.size(); ++i) {
        IBD_ASSIGN_OR_RETURN(RuleResult bad, request.Prepare(package[i], out[i]));
        if (!bad) bad = CheckMostFee(out[i], arrival);
        if (bad) return PackageFault{std::move(bad), package[i]->WitnessId()};
        request.Add(out[i]);
    }
    for (const CheckedTx& checked : out) {
        if (auto bad = CheckPackageTruc(checked.candidate, package)) return PackageFault{bad};
    }
    if (origin == Origin::kTogether) {
        // A fee that is too low is reported for the child, because it has to pay for the parents.
        if (auto bad = request.CheckFee(TotalOf(out))) {
            return PackageFault{std::move(bad), package.back()->WitnessId()};
        }
        if (auto bad = StagePackageReplaced(out, pool.Limits(), change)) return PackageFault{bad};
    }
    if (auto bad = request.CheckClusters(/*replaces=*/false)) return PackageFault{bad};
    if (auto bad = CheckPackageImproves(out, change)) return PackageFault{bad};
    if (auto dust = request.CheckDust(package)) {
        return PackageFault{std::move(dust->violation), dust->tx, "unspent-dust"};
    }
    return PackageFault{};
}

namespace {

RuleResult RunUnder(ScriptFlags flags, const TxView& tx, std::span<const SpentOutput> spent,
                    const TxHashes& hashes, VerificationCaches* caches)
{
    SignatureCacheUse use;
    if (caches) use = {&caches->signatures, true};
    RuleResult bad = CheckInputScripts(tx, spent, hashes, flags, 0, spent.size(), use);
    if (!bad) return {};
    // Turns a violation of block rules into the pool's wording.
    constexpr std::string_view kOfBlocks = "block";
    bad->kind = Kind::kNotStandard;
    bad->reason.replace(0, kOfBlocks.size(), "mempool");
    return bad;
}

} // namespace

RuleResult RunScripts(const CheckedTx& checked, VerificationCaches* caches)
{
    const TxView& tx = checked.candidate.tx->View();
    std::vector<SpentOutput> spent;
    for (const Coin& coin : checked.coins) spent.push_back({coin.value, coin.script});
    const TxHashes hashes(tx, spent);
    if (RuleResult bad = RunUnder(kStandardScriptFlags, tx, spent, hashes, caches)) {
        // Its id is then that of the transaction with the witness, which must not be refused.
        const bool stripped = !tx.has_witness && SpendsWitnessProgram(tx, spent);
        if (stripped) bad->kind = Kind::kWitnessStripped;
        return bad;
    }
    IBD_RETURN_IF_VIOLATED(RunUnder(checked.block_flags, tx, spent, hashes, caches));
    if (caches) {
        const Wtxid& id = checked.candidate.tx->WitnessId();
        caches->scripts.Entries().Insert(caches->scripts.Key(id, checked.block_flags));
    }
    return {};
}

} // namespace ibd
