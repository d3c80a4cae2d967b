// See replacement.h.
#include "mempool/replacement.h"

#include "mempool/policy.h"
#include "util/strings.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

using Kind = RuleViolation::Kind;

/** The total fee of some transactions, limited so that subtracting it from a fee does not overflow.
 */
constexpr Amount kMostReplaced = std::numeric_limits<Amount>::max() - kMaxModifiedFee * 64;

/** Bitcoin with two to eight decimals. */
std::string FormatMoney(Amount amount)
{
    std::string text = FormatAmount(amount);
    const size_t least = text.size() - 6;
    while (text.size() > least && text.back() == '0') text.pop_back();
    return text;
}

RuleViolation Refused(Kind kind, const char* reason, const Replacement& replacement,
                      const std::string& why)
{
    const std::string sibling = replacement.evicts_sibling ? " (including sibling eviction)" : "";
    return Violation(
        kind, reason + sibling,
        fmt::format("rejecting replacement {}{}", replacement.candidate.tx->Id().ToHex(), why));
}

size_t CountClusters(const PoolTxSet& txs)
{
    std::set<const PoolCluster*> clusters;
    for (const PoolTx* tx : txs) clusters.insert(tx->cluster);
    return clusters.size();
}

} // namespace

RuleResult CheckAncestors(const Candidate& candidate, const PoolTxSet& conflicts)
{
    if (conflicts.empty()) return {};
    PoolTxSet ancestors = candidate.parents;
    for (const PoolTx* parent : candidate.parents) ancestors.merge(TxPool::Ancestors(*parent));
    for (const PoolTx* ancestor : ancestors) {
        if (conflicts.count(ancestor) == 0) continue;
        return Invalid("bad-txns-spends-conflicting-tx",
                       fmt::format("{} spends conflicting transaction {}",
                                   candidate.tx->Id().ToHex(), ancestor->Id().ToHex()));
    }
    return {};
}

RuleResult StageReplaced(const Replacement& replacement, const PoolLimits& limits,
                         PoolChange& change)
{
    const size_t clusters = CountClusters(replacement.conflicts);
    if (clusters > kMaxReplacedClusters) {
        return Refused(Kind::kMempoolPolicy, "too many potential replacements", replacement,
                       fmt::format("; too many conflicting clusters ({} > {})", clusters,
                                   kMaxReplacedClusters));
    }
    for (const PoolTx* conflict : replacement.conflicts) {
        change.RemoveWithDescendants(*conflict, RemovalReason::kReplaced);
    }
    Amount replaced = 0;
    for (const auto& [tx, reason] : change.Removed()) {
        replaced = AddSaturating(replaced, tx->ModifiedFee());
    }
    replaced = std::max(replaced, -kMostReplaced);
    if (replacement.fee < replaced) {
        return Refused(Kind::kReconsiderable, "insufficient fee", replacement,
                       fmt::format(", less fees than conflicting txs; {} < {}",
                                   FormatMoney(replacement.fee), FormatMoney(replaced)));
    }
    const Amount added = replacement.fee - replaced;
    const Amount least = FeeAt(limits.incremental_fee, replacement.candidate.vsize);
    if (added < least) {
        return Refused(Kind::kReconsiderable, "insufficient fee", replacement,
                       fmt::format(", not enough additional fees to relay; {} < {}",
                                   FormatMoney(added), FormatMoney(least)));
    }
    return {};
}

RuleResult CheckImproves(PoolChange& change)
{
    if (change.CompareWithPool() > 0) return {};
    return Violation(Kind::kReconsiderable, "replacement-failed",
                     "insufficient feerate: does not improve feerate diagram");
}

} // namespace ibd
