// See tx_submission.h.
#include "mempool/tx_submission.h"

#include "mempool/upkeep.h"

namespace ibd {

TxVerdict TxSubmission::Attempt::Verdict() const
{
    return {violation, checked.fee, checked.modified_fee, checked.candidate.vsize, replaced};
}

Result<> TxSubmission::With(const TipCoins::Use& use) const
{
    const PoolGate::Pass pass(m_pool.gate);
    return m_coins.With(use);
}

Result<> TxSubmission::Prepare(const TransactionRef& tx, const CoinsAtTip& at,
                               const Arrival& arrival, Attempt& out) const
{
    out = Attempt();
    out.change = std::make_unique<PoolChange>(m_pool);
    IBD_ASSIGN_OR_RETURN(out.violation, m_rules.Check(tx, at, arrival, TxAcceptance::Origin::kAlone,
                                                      m_pool, *out.change, out.checked));
    out.tip = at.tip.hash;
    if (!out.violation) out.replaced = out.change->RemovedById();
    return {};
}

/** All checks including scripts. */
Result<TxSubmission::Attempt> TxSubmission::Check(const TransactionRef& tx,
                                                  const Arrival& arrival) const
{
    Attempt attempt;
    IBD_RETURN_IF_ERROR(With([&](const CoinsAtTip& at) {
        const Lock lock(m_pool.mutex);
        return Prepare(tx, at, arrival, attempt);
    }));
    if (!attempt.violation) attempt.violation = m_rules.CheckScripts(attempt.checked);
    return attempt;
}

Result<TxVerdict> TxSubmission::Test(const TransactionRef& tx, int64_t now) const
{
    IBD_ASSIGN_OR_RETURN(const Attempt attempt, Check(tx, {.now = now, .time = now}));
    return attempt.Verdict();
}

void TxSubmission::KeepLimits(int64_t now) const
{
    Expire(m_pool, now - m_pool.Limits().expiry);
    Trim(m_pool);
}

Result<> TxSubmission::Finish(const TransactionRef& tx, const CoinsAtTip& at,
                              const SubmitOptions& options, Attempt& attempt,
                              bool& scripts_hold) const
{
    if (!attempt.change->IsCurrent() || attempt.tip != at.tip.hash) {
        // The inputs name the same coins, so the scripts hold unless a block changed the rules.
        const ScriptFlags flags = attempt.checked.block_flags;
        IBD_RETURN_IF_ERROR(Prepare(tx, at, options.arrival, attempt));
        scripts_hold = attempt.checked.block_flags == flags;
        if (attempt.violation || !scripts_hold) return {};
    }
    attempt.change->Apply();
    if (!options.keep_limits) return {};
    KeepLimits(options.arrival.now);
    if (m_pool.Find(tx->Id())) return {};
    attempt.violation = Violation(RuleViolation::Kind::kReconsiderable, "mempool full");
    return {};
}

Result<SubmitVerdict> TxSubmission::Submit(const TransactionRef& tx,
                                           const SubmitOptions& options) const
{
    IBD_ASSIGN_OR_RETURN(Attempt attempt, Check(tx, options.arrival));
    SubmitVerdict out;
    while (!attempt.violation) {
        out.too_expensive = options.most_fee > 0 && attempt.checked.fee > options.most_fee;
        if (out.too_expensive) break;
        bool scripts_hold = true;
        IBD_RETURN_IF_ERROR(With([&](const CoinsAtTip& at) {
            const Lock lock(m_pool.mutex);
            return Finish(tx, at, options, attempt, scripts_hold);
        }));
        if (scripts_hold) break;
        if (!attempt.violation) attempt.violation = m_rules.CheckScripts(attempt.checked);
    }
    out.verdict = attempt.Verdict();
    return out;
}

Result<PackageVerdict> TxSubmission::TestPackage(Package package, int64_t now) const
{
    PackageVerdict out;
    out.violation = CheckPackageForm(package);
    if (out.violation) return out;
    std::vector<CheckedTx> checked;
    PackageFault fault;
    IBD_RETURN_IF_ERROR(With([&](const CoinsAtTip& at) -> Result<> {
        const Lock lock(m_pool.mutex);
        PoolChange change(m_pool);
        const Arrival arrival{.now = now, .time = now};
        IBD_ASSIGN_OR_RETURN(fault, m_rules.CheckPackage(package, at, arrival,
                                                         TxAcceptance::Origin::kPackage, m_pool,
                                                         change, checked));
        return {};
    }));
    if (fault.violation && fault.tx) {
        out.txs[*fault.tx].violation = std::move(fault.violation);
        return out;
    }
    out.violation = std::move(fault.violation);
    if (out.violation) return out;
    for (const CheckedTx& tx : checked) {
        TxVerdict& verdict = out.txs[tx.candidate.tx->WitnessId()];
        verdict.violation = m_rules.CheckScripts(tx);
        if (verdict.violation) return out;
        verdict.fee = tx.fee;
        verdict.modified_fee = tx.modified_fee;
        verdict.vsize = tx.candidate.vsize;
    }
    return out;
}

} // namespace ibd
