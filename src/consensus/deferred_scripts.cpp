// See deferred_scripts.h.
#include "consensus/deferred_scripts.h"

#include "script/verify.h"
#include "util/check.h"

#include <utility>

namespace ibd {

void DeferredScripts::Begin(ScriptFlags flags)
{
    m_flags = flags;
    m_failures = 0;
    if (m_signatures.Inputs() != 0) m_signatures.Prove();
    m_inputs.clear();
    m_held.clear();
    m_held_bytes = 0;
}

const DeferredScripts::Held& DeferredScripts::Hold(const TxView& tx,
                                                   std::span<const SpentOutput> spent)
{
    Held& held = m_held.emplace_back();
    held.tx = &tx;
    size_t size = 0;
    for (const SpentOutput& output : spent) size += output.script_pubkey.size();
    held.scripts.reserve(size);
    for (const SpentOutput& output : spent) {
        const size_t begin = held.scripts.size();
        Append(held.scripts, output.script_pubkey);
        held.spent.push_back({output.value, ByteSpan(held.scripts).subspan(begin)});
    }
    held.hashes.emplace(tx, held.spent);
    m_held_bytes += size;
    return held;
}

RuleResult DeferredScripts::RunPlainly(const Input& input) const
{
    const Held& held = *input.held;
    return CheckInputScripts(*held.tx, held.spent, *held.hashes, m_flags, input.index,
                             input.index + 1);
}

RuleResult DeferredScripts::Add(const TxView& tx, std::span<const SpentOutput> spent)
{
    if (!Deferring()) {
        IBD_RETURN_IF_VIOLATED(Finish());
        const TxHashes hashes(tx, spent);
        return CheckInputScripts(tx, spent, hashes, m_flags, 0, spent.size());
    }
    const Held& held = Hold(tx, spent);
    for (size_t i = 0; i < spent.size(); ++i) {
        m_signatures.BeginInput();
        const ScriptError error =
            VerifyInput(tx, i, held.spent[i], *held.hashes, m_flags, {}, &m_signatures);
        if (error != ScriptError::kOk) {
            m_signatures.DropInput();
            ++m_failures;
            if (RuleResult broken = RunPlainly({&held, i})) {
                IBD_RETURN_IF_VIOLATED(Finish()); // an earlier input has precedence
                return broken;
            }
            continue;
        }
        m_inputs.push_back({&held, i});
        if (m_signatures.Notes() >= kBatchNotes) IBD_RETURN_IF_VIOLATED(Prove());
    }
    return m_held_bytes >= kHeldScriptBytes ? Finish() : std::nullopt;
}

/** Runs inputs with failed assumptions again; the first that breaks a rule is the verdict. */
RuleResult DeferredScripts::Prove()
{
    const std::vector<bool> proven = m_signatures.Prove();
    CHECK(proven.size() == m_inputs.size());
    const std::vector<Input> inputs = std::exchange(m_inputs, {});
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (proven[i]) continue;
        ++m_failures;
        IBD_RETURN_IF_VIOLATED(RunPlainly(inputs[i]));
    }
    return std::nullopt;
}

RuleResult DeferredScripts::Finish()
{
    RuleResult broken = Prove();
    m_held.clear();
    m_held_bytes = 0;
    return broken;
}

} // namespace ibd
