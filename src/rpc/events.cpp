// See events.h.
#include "rpc/events.h"

namespace ibd {

namespace {

NodeWarning ToNodeWarning(ChainWarning warning)
{
    switch (warning) {
    case ChainWarning::kUnknownRules: return NodeWarning::kUnknownRules;
    case ChainWarning::kMissingUndo: return NodeWarning::kMissingUndo;
    default: return NodeWarning::kInvalidChain;
    }
}

} // namespace

void ChainEvents::WarningSet(ChainWarning warning, const std::string& text)
{
    m_warnings.Set(ToNodeWarning(warning), text);
}

void ChainEvents::WarningCleared(ChainWarning warning) { m_warnings.Clear(ToNodeWarning(warning)); }

void ChainEvents::TipChanged(const HeaderNode& node)
{
    Reset({node.hash, node.height});
    if (m_on_tip) m_on_tip(node);
}

void ChainEvents::Reset(const Tip& tip)
{
    const std::lock_guard lock(m_mutex);
    m_tip = tip;
    m_changed.notify_all();
}

void ChainEvents::BlockChecked(const BlockHash& hash, const RuleResult& verdict)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_watched.find(hash);
    if (it != m_watched.end()) it->second = verdict;
}

ChainEvents::Tip ChainEvents::Wait(const Condition& condition, std::chrono::milliseconds timeout)
{
    std::unique_lock lock(m_mutex);
    const auto done = [&] { return m_stopped || condition(m_tip); };
    if (timeout.count() == 0)
        m_changed.wait(lock, done);
    else
        m_changed.wait_for(lock, timeout, done);
    return m_tip;
}

void ChainEvents::Stop()
{
    const std::lock_guard lock(m_mutex);
    m_stopped = true;
    m_changed.notify_all();
}

void ChainEvents::Watch(const BlockHash& hash)
{
    const std::lock_guard lock(m_mutex);
    m_watched[hash].reset();
}

std::optional<RuleResult> ChainEvents::Forget(const BlockHash& hash)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_watched.find(hash);
    if (it == m_watched.end()) return std::nullopt;
    std::optional<RuleResult> verdict = std::move(it->second);
    m_watched.erase(it);
    return verdict;
}

} // namespace ibd
