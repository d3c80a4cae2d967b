// See access_rules.h.
#include "net/access_rules.h"

namespace ibd {

AccessRules::AccessRules(NetworkState& state)
    : m_state(state), m_bans(state.RandomKey(), state.options.ban_time)
{
    m_bans.Load(state.options.bans);
}

bool AccessRules::IsBanned(const NetAddress& address) const
{
    return m_bans.IsBanned(address, m_state.NowSeconds());
}

bool AccessRules::IsUnwanted(const NetAddress& address) const
{
    return IsDiscouraged(address) || IsBanned(address);
}

uint32_t AccessRules::WithWhitelist(uint32_t permissions, const NetAddress* address,
                                    bool incoming) const
{
    for (const Whitelisted& entry : m_state.options.whitelist) {
        if (!(incoming ? entry.incoming : entry.outgoing)) continue;
        if (address && entry.range.Contains(*address)) permissions |= entry.permissions;
    }
    if (!(permissions & kPermitImplicit)) return permissions;
    permissions &= ~kPermitImplicit;
    if (m_state.options.whitelist_forcerelay) permissions |= kPermitForceRelay;
    if (m_state.options.whitelist_relay) permissions |= kPermitRelay;
    return permissions | kPermitMempool | kPermitNoBan;
}

bool AccessRules::Ban(const Subnet& range, int64_t seconds, bool absolute)
{
    if (!m_bans.Ban(range, seconds, absolute, m_state.NowSeconds())) return false;
    Save();
    return true;
}

bool AccessRules::Unban(const Subnet& range)
{
    if (!m_bans.Unban(range)) return false;
    Save();
    return true;
}

void AccessRules::ClearBans()
{
    m_bans.Clear();
    Save();
}

bool AccessRules::IsBanned(const Subnet& range) const
{
    return m_bans.IsBanned(range, m_state.NowSeconds());
}

const std::map<Subnet, BanEntry>& AccessRules::Bans()
{
    return m_bans.Banned(m_state.NowSeconds());
}

void AccessRules::Save()
{
    if (m_state.at.save_bans) m_state.at.save_bans(Bans());
}

} // namespace ibd
