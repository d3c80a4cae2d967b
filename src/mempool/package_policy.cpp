// See package_policy.h.
#include "mempool/package_policy.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr int64_t kMaxPackageWeight = 404'000;
constexpr int64_t kMaxTrucVsize = 10'000;     //!< BIP431
constexpr int64_t kMaxTrucChildVsize = 1'000; //!< BIP431

RuleViolation PackageViolation(const char* reason)
{
    return Violation(RuleViolation::Kind::kMempoolPolicy, reason);
}

std::string Name(const Transaction& tx)
{
    return fmt::format("{} (wtxid={})", tx.Id().ToHex(), tx.WitnessId().ToHex());
}

bool IsTruc(const Transaction& tx) { return tx->version == kTrucVersion; }

template <typename... Args>
RuleViolation TrucViolation(fmt::format_string<Args...> text, Args&&... args)
{
    return Violation(RuleViolation::Kind::kMempoolPolicy, "TRUC-violation",
                     fmt::format(text, std::forward<Args>(args)...));
}

RuleViolation TooManyAncestors(const Transaction& tx)
{
    return TrucViolation("tx {} would have too many ancestors", Name(tx));
}

RuleViolation TooManyDescendants(const Transaction& parent)
{
    return TrucViolation("tx {} would exceed descendant count limit", Name(parent));
}

/** Both are restricted (version 3), or neither. */
RuleResult CheckVersions(const Transaction& tx, const Transaction& parent)
{
    if (IsTruc(tx) == IsTruc(parent)) return {};
    return TrucViolation("{}version=3 tx {} cannot spend from {}version=3 tx {}",
                         IsTruc(tx) ? "" : "non-", Name(tx), IsTruc(parent) ? "" : "non-",
                         Name(parent));
}

RuleResult CheckTrucChild(const Candidate& child)
{
    if (child.vsize <= kMaxTrucChildVsize) return {};
    return TrucViolation("version=3 child tx {} is too big: {} > {} virtual bytes", Name(*child.tx),
                         child.vsize, kMaxTrucChildVsize);
}

bool SpendsFrom(const Transaction& tx, const Txid& parent)
{
    return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                       [&](const InputView& input) { return input.Prevout().txid == parent; });
}

std::vector<const Transaction*> ParentsIn(Package package, const Transaction& tx)
{
    std::vector<const Transaction*> parents;
    for (const TransactionRef& other : package) {
        if (other.get() != &tx && SpendsFrom(tx, other->Id())) parents.push_back(other.get());
    }
    return parents;
}

/** The parent has no other child, and the child has none. */
RuleResult CheckTrucFamily(const Transaction& tx, const Transaction& parent, Package package)
{
    for (const TransactionRef& other : package) {
        if (other.get() == &tx) continue;
        for (const InputView& input : (*other)->inputs) {
            const Txid spent = input.Prevout().txid;
            if (spent == parent.Id()) return TooManyDescendants(parent);
            if (spent == tx.Id()) return TooManyAncestors(*other);
        }
    }
    return {};
}

/** Whether `tx` spends all outputs of `parent` that are dust. */
bool SpendsDust(const Transaction& tx, const Transaction& parent, Amount dust_fee)
{
    const std::vector<uint32_t> dust = DustOutputs(parent.View(), dust_fee);
    return std::all_of(dust.begin(), dust.end(), [&](uint32_t index) {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(), [&](const InputView& input) {
            return input.Prevout() == OutPoint{parent.Id(), index};
        });
    });
}

} // namespace

RuleResult CheckPackageForm(Package package)
{
    if (package.size() > kMaxPackageCount) return PackageViolation("package-too-many-transactions");
    int64_t weight = 0;
    std::set<Txid> later;
    for (const TransactionRef& tx : package) {
        weight += (*tx)->Weight();
        later.insert(tx->Id());
    }
    if (package.size() > 1 && weight > kMaxPackageWeight) {
        return PackageViolation("package-too-large");
    }
    if (later.size() != package.size()) return PackageViolation("package-contains-duplicates");
    for (const TransactionRef& tx : package) {
        for (const InputView& input : (*tx)->inputs) {
            if (later.count(input.Prevout().txid)) return PackageViolation("package-not-sorted");
        }
        later.erase(tx->Id());
    }
    std::set<OutPoint> spent;
    for (const TransactionRef& tx : package) {
        const auto inputs = (*tx)->inputs;
        // Another rule reports a repeated input within one transaction.
        for (const InputView& input : inputs) {
            if (spent.count(input.Prevout())) return PackageViolation("conflict-in-package");
        }
        for (const InputView& input : inputs) spent.insert(input.Prevout());
    }
    return {};
}

TrucVerdict CheckTruc(const Candidate& candidate, const PoolTxSet& conflicts)
{
    const Transaction& tx = *candidate.tx;
    for (const PoolTx* parent : candidate.parents) {
        if (auto bad = CheckVersions(tx, *parent->tx)) return {bad};
    }
    if (!IsTruc(tx)) return {};
    if (candidate.vsize > kMaxTrucVsize) {
        return {TrucViolation("version=3 tx {} is too big: {} > {} virtual bytes", Name(tx),
                              candidate.vsize, kMaxTrucVsize)};
    }
    if (candidate.parents.empty()) return {};
    const PoolTx& parent = **candidate.parents.begin();
    if (candidate.parents.size() > 1 || !parent.parents.empty()) return {TooManyAncestors(tx)};
    if (auto bad = CheckTrucChild(candidate)) return {bad};
    if (parent.children.empty()) return {};
    const bool replaces_child =
        std::any_of(parent.children.begin(), parent.children.end(),
                    [&](const PoolTx* child) { return conflicts.count(child) != 0; });
    if (replaces_child) return {};
    // After a reorganisation there may be more children: then none of them makes enough room.
    const PoolTx& child = **parent.children.begin();
    const bool only = parent.children.size() == 1 && child.children.empty() &&
                      child.parents.size() == 1;
    return {TooManyDescendants(*parent.tx), only ? &child : nullptr};
}

RuleResult CheckPackageTruc(const Candidate& candidate, Package package)
{
    const Transaction& tx = *candidate.tx;
    const std::vector<const Transaction*> near = ParentsIn(package, tx);
    if (!IsTruc(tx)) {
        for (const Transaction* parent : near) IBD_RETURN_IF_VIOLATED(CheckVersions(tx, *parent));
        return {};
    }
    const size_t parents = candidate.parents.size() + near.size();
    if (parents > 1) return TooManyAncestors(tx);
    if (parents == 0) return {};
    IBD_RETURN_IF_VIOLATED(CheckTrucChild(candidate));
    const Transaction& parent = near.empty() ? *(*candidate.parents.begin())->tx : *near.front();
    IBD_RETURN_IF_VIOLATED(CheckVersions(tx, parent));
    return CheckTrucFamily(tx, parent, package);
}

std::optional<UnspentDust> CheckEphemeralDust(Package package, const TxPool& pool, Amount dust_fee)
{
    for (const TransactionRef& tx : package) {
        std::vector<const Transaction*> parents = ParentsIn(package, *tx);
        for (const PoolTx* parent : pool.ParentsOf(tx->View())) {
            parents.push_back(parent->tx.get());
        }
        for (const Transaction* parent : parents) {
            if (SpendsDust(*tx, *parent, dust_fee)) continue;
            return UnspentDust{
                tx->WitnessId(),
                Violation(RuleViolation::Kind::kMempoolPolicy, "missing-ephemeral-spends",
                          fmt::format("tx {} did not spend parent's ephemeral dust", Name(*tx)))};
        }
    }
    return std::nullopt;
}

} // namespace ibd
