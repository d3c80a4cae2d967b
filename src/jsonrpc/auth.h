// Authentication and permissions of callers: the cookie, -rpcuser/-rpcpassword, salted -rpcauth
// entries and -rpcwhitelist. Made at start-up, const afterwards; any thread.
#pragma once

#include "util/env.h"
#include "util/log.h"
#include "util/secret.h"

#include <map>
#include <optional>
#include <set>

namespace ibd {

struct RpcAuthOptions {
    std::string user;                     //!< -rpcuser
    std::string password;                 //!< -rpcpassword; empty: a cookie is made instead
    std::vector<std::string> salted;      //!< -rpcauth=user:salt$hash
    std::optional<Path> cookie;           //!< path of the cookie; nothing: no cookie
    std::filesystem::perms cookie_perms = //!< -rpccookieperms; 0600 by default
        std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    std::vector<std::string> whitelist;    //!< -rpcwhitelist=user:method,method
    std::optional<bool> whitelist_default; //!< -rpcwhitelistdefault
};

class RpcAuth {
public:
    /** Writes the cookie. An error names the malformed option or the file, in Core's words. */
    static Result<std::unique_ptr<RpcAuth>> Make(Env& env, Logger& logger,
                                                 const RpcAuthOptions& options);
    /** Removes the cookie. */
    ~RpcAuth();
    RpcAuth(const RpcAuth&) = delete;
    RpcAuth& operator=(const RpcAuth&) = delete;

    /** The user of an `Authorization:` header; nothing: malformed or wrong. */
    std::optional<std::string> Check(std::string_view header) const;
    /** Whether some calls are forbidden to the user. */
    bool IsLimited(const std::string& user) const
    {
        return m_whitelist_default || m_whitelist.contains(user);
    }
    bool MayCallNothing(const std::string& user) const
    {
        return m_whitelist_default && !m_whitelist.contains(user);
    }
    bool MayCall(const std::string& user, const std::string& method) const;

private:
    struct Salted {
        std::string user;
        std::string salt;
        std::string hash; //!< hex of HMAC-SHA256(salt, password)
    };

    explicit RpcAuth(Env& env) : m_env(env) {}
    Result<> WriteCookie(const RpcAuthOptions& options, Logger& logger);
    Result<> ReadWhitelist(const RpcAuthOptions& options);

    Env& m_env;
    SecretText m_user_password; //!< "user:password"; empty: none
    std::vector<Salted> m_salted;
    std::optional<Path> m_cookie;
    std::map<std::string, std::set<std::string>> m_whitelist;
    bool m_whitelist_default = false;
};

} // namespace ibd
