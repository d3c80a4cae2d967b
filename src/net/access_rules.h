// AccessRules: which peers are unwanted and which are privileged: bans, discouraged addresses, and
// -whitelist. Owned by PeerNetwork; net-msg.
#pragma once

#include "net/network_state.h"

namespace ibd {

class AccessRules {
public:
    explicit AccessRules(NetworkState& state);

    bool IsBanned(const NetAddress& address) const;
    bool IsDiscouraged(const NetAddress& address) const { return m_bans.IsDiscouraged(address); }
    /** Banned or discouraged. */
    bool IsUnwanted(const NetAddress& address) const;
    void Discourage(const NetAddress& address) { m_bans.Discourage(address); }
    /** The permissions of a peer with those of -whitelist; `address`: null if it is hidden. */
    uint32_t WithWhitelist(uint32_t permissions, const NetAddress* address, bool incoming) const;

    // Bans by the user; see BanList. Each change is saved.

    bool Ban(const Subnet& range, int64_t seconds, bool absolute);
    bool Unban(const Subnet& range);
    void ClearBans();
    bool IsBanned(const Subnet& range) const;
    const std::map<Subnet, BanEntry>& Bans();

private:
    void Save();

    const NetworkState& m_state;
    BanList m_bans;
};

} // namespace ibd
