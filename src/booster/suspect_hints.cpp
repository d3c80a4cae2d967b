// See suspect_hints.h.
#include "booster/suspect_hints.h"

#include <algorithm>

namespace ibd {

void SuspectHints::LoadOnce()
{
    if (m_loaded) return;
    m_loaded = true;
    auto entries = m_kept.Suspects();
    if (entries) {
        m_entries = std::move(*entries);
    } else {
        m_log.Warning("IBD Booster: the record of suspect hints: {}", entries.Message());
    }
}

void SuspectHints::Save()
{
    const Result<> saved = m_kept.SaveSuspects(m_entries);
    if (!saved) m_log.Warning("IBD Booster: suspect hints are not noted: {}", saved.Message());
}

void SuspectHints::Add(SuspectEntry entry)
{
    const Lock lock(m_mutex);
    LoadOnce();
    const auto is_same = [&](const SuspectEntry& other) {
        return other.id == entry.id && other.terminal == entry.terminal;
    };
    if (std::ranges::any_of(m_entries, is_same)) return;
    m_entries.push_back(std::move(entry));
    Save();
}

std::optional<std::string> SuspectHints::Suspicion(const Uint256& hints_id,
                                                   const BlockHash& terminal)
{
    const Lock lock(m_mutex);
    LoadOnce();
    for (const SuspectEntry& entry : m_entries) {
        if (entry.id == hints_id && entry.terminal == terminal) return entry.why;
    }
    return std::nullopt;
}

void SuspectHints::Clear(const Uint256& hints_id)
{
    const Lock lock(m_mutex);
    LoadOnce();
    const auto is_of = [&](const SuspectEntry& entry) { return entry.id == hints_id; };
    if (std::erase_if(m_entries, is_of) > 0) Save();
}

void SuspectHints::Proven(const HeaderNode& valid)
{
    const Lock lock(m_mutex);
    LoadOnce();
    const auto is_below = [&](const SuspectEntry& entry) {
        return entry.height >= 0 && valid.height >= entry.height &&
               valid.Ancestor(entry.height)->hash == entry.terminal;
    };
    for (const SuspectEntry& entry : m_entries) {
        if (!is_below(entry)) continue;
        const Result<> noted = m_kept.RememberBad(entry.id, entry.terminal, entry.why);
        if (!noted) m_log.Warning("IBD Booster: wrong hints are not noted: {}", noted.Message());
    }
    if (std::erase_if(m_entries, is_below) > 0) Save();
}

} // namespace ibd
