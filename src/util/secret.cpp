// See secret.h.
#include "util/secret.h"

namespace ibd {

SecretText::SecretText(std::initializer_list<std::string_view> parts)
{
    for (const std::string_view part : parts) m_size += part.size();
    m_text = static_cast<char*>(LockedPool::OfProcess().Allocate(m_size));
    char* at = m_text;
    for (const std::string_view part : parts) at = std::copy(part.begin(), part.end(), at);
}

SecretText::SecretText(SecretText&& other) noexcept
    : m_text(std::exchange(other.m_text, nullptr)), m_size(std::exchange(other.m_size, 0))
{
}

SecretText& SecretText::operator=(SecretText&& other) noexcept
{
    std::swap(m_text, other.m_text);
    std::swap(m_size, other.m_size);
    return *this;
}

} // namespace ibd
