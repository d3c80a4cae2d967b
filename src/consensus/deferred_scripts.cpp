// See deferred_scripts.h.
#include "consensus/deferred_scripts.h"

namespace ibd {

void DeferredScripts::Begin(ScriptFlags flags, bool batches)
{
    m_flags = flags;
    m_batches = batches && m_mode != LanesMode::kOff;
    m_budget = {};
    m_inputs.Begin(flags);
    m_held.clear();
    m_held_bytes = 0;
}

/** Copies the caller's scripts. Waiting inputs see the copies, because they point to held.spent. */
void DeferredScripts::KeepScripts(Held& held)
{
    size_t size = 0;
    for (const SpentOutput& output : held.spent) size += output.script_pubkey.size();
    held.scripts.reserve(size);
    for (SpentOutput& output : held.spent) {
        const size_t begin = held.scripts.size();
        Append(held.scripts, output.script_pubkey);
        output.script_pubkey = ByteSpan(held.scripts).subspan(begin);
    }
    m_held_bytes += size;
}

RuleResult DeferredScripts::Add(const TxView& tx, std::span<const SpentOutput> spent)
{
    if (!m_batches || !m_budget.Left()) {
        IBD_RETURN_IF_VIOLATED(Finish());
        const TxHashes hashes(tx, spent);
        return CheckInputScripts(tx, spent, hashes, m_flags, 0, spent.size());
    }
    Held& held = m_held.emplace_back();
    held.spent.assign(spent.begin(), spent.end());
    held.hashes.emplace(tx, held.spent);
    for (size_t i = 0; i < spent.size(); ++i) {
        IBD_RETURN_IF_VIOLATED(m_inputs.Run({&tx, held.spent, &*held.hashes, i}));
    }
    if (m_inputs.Waits(tx)) {
        KeepScripts(held);
    } else {
        m_held.pop_back();
    }
    return m_held_bytes >= kHeldScriptBytes ? Finish() : std::nullopt;
}

RuleResult DeferredScripts::Finish()
{
    RuleResult broken = m_inputs.Prove();
    m_held.clear();
    m_held_bytes = 0;
    return broken;
}

} // namespace ibd
