// See ban_list.h.
#include "net/address/ban_list.h"

#include <algorithm>

namespace ibd {

bool BanList::Ban(const Subnet& subnet, int64_t seconds, bool absolute, int64_t now)
{
    BanEntry entry{now, 0};
    if (seconds <= 0) {
        entry.until = now + m_default_time;
    } else {
        entry.until = absolute ? seconds : now + std::min(seconds, INT64_MAX - now);
    }
    BanEntry& there = m_banned[subnet];
    if (there.until >= entry.until) return false;
    there = entry;
    return true;
}

bool BanList::Unban(const Subnet& subnet) { return m_banned.erase(subnet) > 0; }

void BanList::Clear() { m_banned.clear(); }

bool BanList::IsBanned(const NetAddress& address, int64_t now) const
{
    return std::any_of(m_banned.begin(), m_banned.end(), [&](const auto& ban) {
        return now < ban.second.until && ban.first.Contains(address);
    });
}

bool BanList::IsBanned(const Subnet& subnet, int64_t now) const
{
    const auto found = m_banned.find(subnet);
    return found != m_banned.end() && now < found->second.until;
}

const std::map<Subnet, BanEntry>& BanList::Banned(int64_t now)
{
    std::erase_if(m_banned, [&](const auto& ban) { return now > ban.second.until; });
    return m_banned;
}

} // namespace ibd
