// See deferred_inputs.h.
#include "consensus/deferred_inputs.h"

#include "script/verify.h"
#include "util/check.h"

#include <utility>

namespace ibd {

void DeferredInputs::Begin(ScriptFlags flags)
{
    m_flags = flags;
    m_signatures.Clear();
    m_waiting.clear();
    m_waiting_cost = 0;
}

RuleResult DeferredInputs::RunPlainly(const Input& input)
{
    m_broken_tag = input.tag;
    return CheckInputScripts(*input.tx, input.spent, *input.hashes, m_flags, input.index,
                             input.index + 1);
}

/** False: the run failed. */
bool DeferredInputs::RunDeferred(const Input& input)
{
    m_signatures.BeginInput();
    const ScriptError error = VerifyInput(*input.tx, input.index, input.spent[input.index],
                                          *input.hashes, m_flags, {}, &m_signatures);
    const size_t cost = m_signatures.Cost();
    if (error == ScriptError::kOk && !m_signatures.Overrun()) {
        m_waiting.push_back({input, cost});
        m_waiting_cost += cost;
        return true;
    }
    m_signatures.DropInput();
    m_budget.AddWasted(cost);
    return false;
}

RuleResult DeferredInputs::Run(const Input& input)
{
    if (!m_budget.Left() || !RunDeferred(input)) {
        IBD_RETURN_IF_VIOLATED(Prove()); // earlier inputs have precedence
        return RunPlainly(input);
    }
    const bool full = m_signatures.Notes() >= kBatchNotes || m_waiting_cost >= kBatchCost;
    return full ? Prove() : std::nullopt;
}

RuleResult DeferredInputs::Prove()
{
    if (m_waiting.empty()) return std::nullopt;
    const std::vector<bool> proven = m_signatures.Prove();
    CHECK(proven.size() == m_waiting.size());
    const std::vector<Waiting> waiting = std::exchange(m_waiting, {});
    m_waiting_cost = 0;
    for (size_t i = 0; i < waiting.size(); ++i) {
        if (proven[i]) {
            m_budget.AddUseful(waiting[i].cost);
            continue;
        }
        m_budget.AddWasted(waiting[i].cost);
        IBD_RETURN_IF_VIOLATED(RunPlainly(waiting[i].input));
    }
    return std::nullopt;
}

} // namespace ibd
