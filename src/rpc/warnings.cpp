// See warnings.h.
#include "rpc/warnings.h"

namespace ibd {

void NodeWarnings::Set(NodeWarning kind, const std::string& text)
{
    {
        const std::lock_guard lock(m_mutex);
        if (!m_texts.emplace(kind, text).second) return;
    }
    if (m_on_new) m_on_new(text);
}

void NodeWarnings::Clear(NodeWarning kind)
{
    const std::lock_guard lock(m_mutex);
    m_texts.erase(kind);
}

std::vector<std::string> NodeWarnings::Messages() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::string> out;
    for (const auto& [kind, text] : m_texts) out.push_back(text);
    return out;
}

UniValue NodeWarnings::Json(bool deprecated) const
{
    const std::vector<std::string> messages = Messages();
    if (deprecated) return messages.empty() ? std::string() : messages.back();
    UniValue out(UniValue::VARR);
    for (const std::string& text : messages) out.push_back(text);
    return out;
}

} // namespace ibd
