// See suspect_hints.h.
#include "booster/suspect_hints.h"

#include <algorithm>

namespace ibd {

void SuspectHints::Add(Entry entry)
{
    const Lock lock(m_mutex);
    m_entries.push_back(std::move(entry));
}

void SuspectHints::Proven(const HeaderNode& valid)
{
    const Lock lock(m_mutex);
    const auto is_below = [&](const Entry& entry) {
        return valid.height >= entry.height && valid.Ancestor(entry.height)->hash == entry.terminal;
    };
    for (const Entry& entry : m_entries) {
        if (!is_below(entry)) continue;
        const Result<> noted = m_kept.RememberBad(entry.id, entry.terminal, entry.why);
        if (!noted) m_log.Warning("IBD Booster: wrong hints are not noted: {}", noted.Message());
    }
    std::erase_if(m_entries, is_below);
}

} // namespace ibd
