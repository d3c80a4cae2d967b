// BanList: ranges of addresses that the user has banned until a time, and addresses discouraged for
// misbehaviour, until the node ends. Owned by the peer logic, one thread; time is passed with each
// call (seconds since 1970). The caller stores bans: banlist.json contains Banned().
#pragma once

#include "net/address/rolling_set.h"
#include "net/address/subnet.h"

#include <map>
#include <vector>

namespace ibd {

struct BanEntry {
    int64_t created = 0; //!< seconds since 1970
    int64_t until = 0;   //!< seconds since 1970
    bool operator==(const BanEntry&) const = default;
};

class BanList {
public:
    static constexpr size_t kDiscouraged = 50'000; //!< least number of remembered addresses
    static constexpr int64_t kDefaultBanTime = 24 * 60 * 60;

    /** `key`: random. `default_time`: seconds, -bantime. */
    explicit BanList(SipKey key, int64_t default_time = kDefaultBanTime)
        : m_default_time(default_time), m_discouraged(kDiscouraged, key)
    {
    }

    /** Bans for `seconds` from now; if `absolute`, until that time. If `seconds` is not above 0,
     *  for the default time. Returns whether the ban is new or longer than the existing one. */
    bool Ban(const Subnet& subnet, int64_t seconds, bool absolute, int64_t now);
    /** Returns whether there was such a ban. */
    bool Unban(const Subnet& subnet);
    void Clear();
    /** Whether the address is in any banned range. */
    bool IsBanned(const NetAddress& address, int64_t now) const;
    /** Whether exactly this range is banned. */
    bool IsBanned(const Subnet& subnet, int64_t now) const;

    void Discourage(const NetAddress& address) { m_discouraged.Insert(address.KeyBytes()); }
    bool IsDiscouraged(const NetAddress& address) const
    {
        return m_discouraged.Contains(address.KeyBytes());
    }

    /** All current bans, by range; removes expired bans. */
    const std::map<Subnet, BanEntry>& Banned(int64_t now);
    /** Sets the bans from disk. */
    void Load(std::map<Subnet, BanEntry> banned) { m_banned = std::move(banned); }

private:
    int64_t m_default_time;
    std::map<Subnet, BanEntry> m_banned;
    RollingSet m_discouraged;
};

} // namespace ibd
