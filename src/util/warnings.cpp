// See warnings.h.
#include "util/warnings.h"

namespace ibd {

bool NodeWarnings::Set(NodeWarning kind, const std::string& text)
{
    const Lock lock(m_mutex);
    return m_texts.emplace(kind, text).second;
}

void NodeWarnings::Clear(NodeWarning kind)
{
    const Lock lock(m_mutex);
    m_texts.erase(kind);
}

std::vector<std::string> NodeWarnings::Messages() const
{
    const Lock lock(m_mutex);
    std::vector<std::string> out;
    for (const auto& [kind, text] : m_texts) out.push_back(text);
    return out;
}

} // namespace ibd
