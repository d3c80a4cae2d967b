// Packages of TxSubmission; see tx_submission.h.
#include "mempool/tx_submission.h"

#include <algorithm>

namespace ibd {

namespace {

using Kind = RuleViolation::Kind;

RuleViolation TransactionFailed()
{
    return Violation(Kind::kMempoolPolicy, PackageFault().as_whole);
}

/** Whether it may be accepted together with others. */
bool MayPassTogether(const RuleViolation& violation)
{
    return violation.kind == Kind::kReconsiderable || violation.kind == Kind::kMissingInputs;
}

} // namespace

Result<> TxSubmission::PrepareJoint(Package package, const CoinsAtTip& at, const Arrival& arrival,
                                    Joint& out) const
{
    out = Joint();
    out.change = std::make_unique<PoolChange>(m_pool);
    IBD_ASSIGN_OR_RETURN(out.fault,
                         m_rules.CheckPackage(package, at, arrival, TxAcceptance::Origin::kTogether,
                                              m_pool, *out.change, out.checked));
    out.tip = at.tip.hash;
    if (!out.fault.violation) out.replaced = out.change->RemovedById();
    return {};
}

/** As Submit(), for transactions that are judged by their total fee. */
Result<TxSubmission::Joint> TxSubmission::SubmitJoint(Package package, const Arrival& arrival) const
{
    Joint joint;
    joint.fault.violation = CheckPackageForm(package);
    if (joint.fault.violation) return joint;
    IBD_RETURN_IF_ERROR(With([&](const CoinsAtTip& at) {
        const Lock lock(m_pool.mutex);
        return PrepareJoint(package, at, arrival, joint);
    }));
    for (bool done = false; !done && !joint.fault.violation;) {
        for (const CheckedTx& tx : joint.checked) {
            auto bad = m_rules.CheckScripts(tx);
            if (!bad) continue;
            joint.fault = {std::move(bad), tx.candidate.tx->WitnessId()};
            return joint;
        }
        IBD_RETURN_IF_ERROR(With([&](const CoinsAtTip& at) -> Result<> {
            const Lock lock(m_pool.mutex);
            done = joint.change->IsCurrent() && joint.tip == at.tip.hash;
            // The scripts are checked again then: their signatures are cached.
            if (!done) return PrepareJoint(package, at, arrival, joint);
            joint.change->Apply();
            return {};
        }));
    }
    return joint;
}

/** One call of SubmitPackage(). */
class TxSubmission::PackageRun {
public:
    PackageRun(const TxSubmission& door, Package package, const Arrival& arrival)
        : m_door(door), m_package(package), m_arrival(arrival)
    {
        m_arrival.in_package = true;
    }

    Result<PackageSubmission> Run()
    {
        m_out.violation = CheckPackageForm(m_package);
        if (m_out.violation) return std::move(m_out);
        for (const TransactionRef& tx : m_package) IBD_RETURN_IF_ERROR(SubmitAlone(tx));
        if (!m_out.violation) IBD_RETURN_IF_ERROR(SubmitLeft());
        KeepLimits();
        return std::move(m_out);
    }

private:
    /** Whether the pool has it, in this or in another form. */
    bool IsKnown(const TransactionRef& tx)
    {
        const Lock lock(m_door.m_pool.mutex);
        const PoolTx* const found = m_door.m_pool.Find(tx->Id());
        if (!found) return false;
        PackageTx& out = m_out.txs[tx->WitnessId()];
        out = {.kind = PackageTx::Kind::kInPool, .fee = found->fee, .vsize = found->vsize};
        if (found->tx->WitnessId() == tx->WitnessId()) return true;
        out.kind = PackageTx::Kind::kOtherWitness;
        out.other = found->tx->WitnessId();
        return true;
    }

    Result<> SubmitAlone(const TransactionRef& tx)
    {
        if (IsKnown(tx)) return {};
        IBD_ASSIGN_OR_RETURN(
            SubmitVerdict out,
            m_door.Submit(tx, {.arrival = m_arrival, .most_fee = 0, .keep_limits = false}));
        TxVerdict& verdict = out.verdict;
        if (!verdict.violation) {
            Accept(*tx, verdict.fee, verdict.vsize, RateOf({verdict.modified_fee, verdict.vsize}),
                   {tx->WitnessId()});
            Replace(verdict.replaced);
            return {};
        }
        // Other threads may have submitted it while its scripts ran.
        if (IsKnown(tx)) return {};
        if (MayPassTogether(*verdict.violation)) {
            m_left.push_back(tx);
        } else {
            m_out.violation = TransactionFailed();
        }
        m_out.txs[tx->WitnessId()].violation = std::move(verdict.violation);
        return {};
    }

    void Accept(const Transaction& tx, Amount fee, int64_t vsize, Amount rate,
                std::vector<Wtxid> together)
    {
        m_out.txs[tx.WitnessId()] = {.kind = PackageTx::Kind::kAccepted,
                                     .fee = fee,
                                     .vsize = vsize,
                                     .rate = rate,
                                     .together = std::move(together)};
    }

    /** The transactions that were not accepted alone. */
    Result<> SubmitLeft()
    {
        if (m_left.empty()) return {};
        if (m_left.size() == 1) {
            const TransactionRef tx = std::exchange(m_left, {}).front();
            IBD_RETURN_IF_ERROR(SubmitAlone(tx));
            if (m_out.txs[tx->WitnessId()].violation) m_out.violation = TransactionFailed();
            return {};
        }
        IBD_ASSIGN_OR_RETURN(const Joint joint, m_door.SubmitJoint(m_left, m_arrival));
        if (!joint.fault.violation) {
            AcceptJoint(joint);
        } else if (std::erase_if(m_left, [this](const auto& tx) { return IsKnown(tx); }) > 0) {
            return SubmitLeft(); // the rest; each time it is smaller
        } else if (joint.fault.tx) {
            m_out.violation = Violation(Kind::kMempoolPolicy, joint.fault.as_whole);
            m_out.txs[*joint.fault.tx].violation = joint.fault.violation;
        } else {
            m_out.violation = joint.fault.violation;
        }
        return {};
    }

    void AcceptJoint(const Joint& joint)
    {
        FeeSize total;
        std::vector<Wtxid> together;
        for (const CheckedTx& tx : joint.checked) {
            total += {tx.modified_fee, tx.candidate.vsize};
            together.push_back(tx.candidate.tx->WitnessId());
        }
        for (const CheckedTx& tx : joint.checked) {
            Accept(*tx.candidate.tx, tx.fee, tx.candidate.vsize, RateOf(total),
                   together);
        }
        Replace(joint.replaced);
    }
    void Replace(const std::vector<TransactionRef>& txs)
    {
        for (const TransactionRef& tx : txs) m_out.replaced.emplace(tx->Id(), tx);
    }

    /** At the end, so that a parent is not evicted before its child is added. */
    void KeepLimits()
    {
        const PoolGate::Pass pass(m_door.m_pool.gate);
        const Lock lock(m_door.m_pool.mutex);
        m_door.KeepLimits(m_arrival.now);
        for (const TransactionRef& tx : m_package) {
            const auto it = m_out.txs.find(tx->WitnessId());
            const bool came = it != m_out.txs.end() && it->second.kind != PackageTx::Kind::kRefused;
            if (!came || m_door.m_pool.Find(tx->Id())) continue;
            it->second = {.violation = Violation(Kind::kMempoolPolicy, "mempool full")};
            m_out.violation = TransactionFailed();
        }
    }

    const TxSubmission& m_door;
    const Package m_package;
    Arrival m_arrival;
    PackageSubmission m_out;
    std::vector<TransactionRef> m_left;
};

Result<PackageSubmission> TxSubmission::SubmitPackage(Package package, const Arrival& arrival) const
{
    return PackageRun(*this, package, arrival).Run();
}

} // namespace ibd
