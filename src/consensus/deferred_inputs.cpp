// See deferred_inputs.h.
#include "consensus/deferred_inputs.h"

#include "script/verify.h"
#include "util/check.h"

#include <algorithm>
#include <utility>

namespace ibd {

void DeferredInputs::Begin(ScriptFlags flags)
{
    m_flags = flags;
    m_signatures.Clear();
    m_waiting.clear();
}

RuleResult DeferredInputs::RunPlainly(const Input& input)
{
    m_broken_tag = input.tag;
    return CheckInputScripts(*input.tx, input.spent, *input.hashes, m_flags, input.index,
                             input.index + 1);
}

DeferredInputs::Deferred DeferredInputs::RunDeferred(const Input& input)
{
    // Half: after one that does not fit, the next may.
    m_signatures.BeginInput(
        std::min<uint64_t>(m_budget.Room() / 2, DeferredSignatures::kMaxInputCost));
    const ScriptError error = VerifyInput(*input.tx, input.index, input.spent[input.index],
                                          *input.hashes, m_flags, {}, &m_signatures);
    const size_t cost = m_signatures.Cost();
    const bool ok = error == ScriptError::kOk && !m_signatures.Overrun();
    if (ok && m_signatures.AssumedAny()) {
        m_waiting.push_back({input, cost, m_signatures.Signatures()});
        m_budget.AddWaiting(cost);
        return Deferred::kWaits;
    }
    m_signatures.DropInput();
    if (ok) return Deferred::kValid; // it was a plain run
    m_budget.AddWasted(cost);
    return Deferred::kRunPlainly;
}

/** Full also when it uses more than the room that is left, so that the next input has room. */
bool DeferredInputs::IsBatchFull() const
{
    const uint64_t waiting = m_budget.Waiting();
    return m_signatures.Notes() >= kBatchNotes || waiting >= kBatchCost ||
           waiting >= m_budget.Room();
}

RuleResult DeferredInputs::Run(const Input& input)
{
    if (m_budget.Room() < DeferBudget::kLeastRoom) IBD_RETURN_IF_VIOLATED(Prove());
    const bool room = m_budget.Room() >= DeferBudget::kLeastRoom;
    switch (room ? RunDeferred(input) : Deferred::kRunPlainly) {
    case Deferred::kValid: return std::nullopt;
    case Deferred::kWaits: return IsBatchFull() ? Prove() : std::nullopt;
    case Deferred::kRunPlainly: break;
    }
    IBD_RETURN_IF_VIOLATED(Prove()); // earlier inputs have precedence
    return RunPlainly(input);
}

RuleResult DeferredInputs::Prove()
{
    if (m_waiting.empty()) {
        m_signatures.Clear(); // notes of inputs that failed
        return std::nullopt;
    }
    const bool saves = m_signatures.Notes() >= kLeastNotes;
    const std::vector<bool> proven = m_signatures.Prove();
    CHECK(proven.size() == m_waiting.size());
    const std::vector<Waiting> waiting = std::exchange(m_waiting, {});
    for (size_t i = 0; i < waiting.size(); ++i) {
        if (proven[i]) {
            m_budget.SettleProven(waiting[i].cost, saves ? waiting[i].signatures : 0);
        } else {
            m_budget.SettleLost(waiting[i].cost);
        }
    }
    for (size_t i = 0; i < waiting.size(); ++i) {
        if (!proven[i]) IBD_RETURN_IF_VIOLATED(RunPlainly(waiting[i].input));
    }
    return std::nullopt;
}

} // namespace ibd
