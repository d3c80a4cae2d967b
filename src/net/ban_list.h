// BanList: ranges of addresses that a user has banned until a time, and addresses that are
// discouraged as their peers misbehaved, for as long as the node runs. Owned by the peer logic, one
// thread; time comes with each call (seconds since 1970). What is on disk is the caller's:
// banlist.json has what Banned() gives.
#pragma once

#include "net/rolling_set.h"
#include "net/subnet.h"

#include <map>
#include <vector>

namespace ibd {

struct BanEntry {
    int64_t created = 0; //!< seconds since 1970
    int64_t until = 0;   //!< likewise
    bool operator==(const BanEntry&) const = default;
};

class BanList {
public:
    static constexpr size_t kDiscouraged = 50'000; //!< addresses remembered at least
    static constexpr int64_t kDefaultBanTime = 24 * 60 * 60;

    /** `key`: chance. `default_time`: seconds, -bantime. */
    explicit BanList(SipKey key, int64_t default_time = kDefaultBanTime)
        : m_default_time(default_time), m_discouraged(kDiscouraged, key)
    {
    }

    /** Bans for `seconds` from now on, or until that time if `absolute`; for the default time if
     *  that is not above 0. Whether this made a ban longer or new. */
    bool Ban(const Subnet& subnet, int64_t seconds, bool absolute, int64_t now);
    /** Whether there was such a ban. */
    bool Unban(const Subnet& subnet);
    void Clear();
    /** In any range that is banned. */
    bool IsBanned(const NetAddress& address, int64_t now) const;
    /** Exactly this range. */
    bool IsBanned(const Subnet& subnet, int64_t now) const;

    void Discourage(const NetAddress& address) { m_discouraged.Insert(address.KeyBytes()); }
    bool IsDiscouraged(const NetAddress& address) const
    {
        return m_discouraged.Contains(address.KeyBytes());
    }

    /** All that still hold, by range; those that ended are forgotten. */
    const std::map<Subnet, BanEntry>& Banned(int64_t now);
    /** From disk. */
    void Load(std::map<Subnet, BanEntry> banned) { m_banned = std::move(banned); }

private:
    int64_t m_default_time;
    std::map<Subnet, BanEntry> m_banned;
    RollingSet m_discouraged;
};

} // namespace ibd
