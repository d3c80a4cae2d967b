// See auth.h.
#include "jsonrpc/auth.h"
#include "crypto/hmac.h"
#include "util/base64.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr std::string_view kCookieUser = "__cookie__";

/** Takes the same time for all texts of the same length. */
bool EqualInConstantTime(std::string_view a, std::string_view b)
{
    if (b.empty()) return a.empty();
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned>(static_cast<uint8_t>(a[i] ^ b[i % b.size()]));
    }
    return difference == 0;
}

/** "rw-r-----". */
std::string SymbolicPerms(std::filesystem::perms perms)
{
    constexpr std::string_view kLetters = "rwxrwxrwx";
    std::string out;
    for (size_t i = 0; i < kLetters.size(); ++i) {
        const auto bit = static_cast<std::filesystem::perms>(1u << (kLetters.size() - 1 - i));
        const bool is_set = (perms & bit) != std::filesystem::perms::none;
        out += is_set ? kLetters[i] : '-';
    }
    return out;
}

} // namespace

Result<std::unique_ptr<RpcAuth>> RpcAuth::Make(Env& env, Logger& logger,
                                               const RpcAuthOptions& options)
{
    std::unique_ptr<RpcAuth> auth(new RpcAuth(env));
    if (!options.password.empty()) {
        logger.Info("Using rpcuser/rpcpassword authentication.");
        logger.Warning("The use of rpcuser/rpcpassword is less secure, because credentials are "
                       "configured in plain text. Use the cookie or -rpcauth instead.");
        auth->m_user_password = SecretText({options.user, ":", options.password});
    } else if (options.cookie) {
        IBD_RETURN_IF_ERROR(auth->WriteCookie(options, logger));
        logger.Info("Using random cookie authentication.");
    } else {
        logger.Info("RPC authentication cookie file generation is disabled.");
    }
    if (!options.salted.empty()) logger.Info("Using rpcauth authentication.");
    for (const std::string& entry : options.salted) {
        const auto user_and_rest = Split(entry, ':');
        const auto salt_and_hash = Split(user_and_rest.back(), '$');
        if (user_and_rest.size() != 2 || salt_and_hash.size() != 2) {
            return BadData("Invalid -rpcauth argument.");
        }
        auth->m_salted.push_back({std::string(user_and_rest[0]), std::string(salt_and_hash[0]),
                                  std::string(salt_and_hash[1])});
    }
    IBD_RETURN_IF_ERROR(auth->ReadWhitelist(options));
    return auth;
}

// The cookie is written under another name and renamed, so that it is complete when it appears. Its
// permissions are set before it has the secret.
Result<> RpcAuth::WriteCookie(const RpcAuthOptions& options, Logger& logger)
{
    SecretArray<32> secret;
    m_env.RandomBytes(secret);
    std::string password = ToHex(secret);
    m_user_password = SecretText({kCookieUser, ":", password});
    ::explicit_bzero(password.data(), password.size());
    Path beside = *options.cookie;
    beside += ".tmp";
    const auto write = [&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenWrite(beside, /*truncate=*/true));
        std::error_code code;
        std::filesystem::permissions(beside, options.cookie_perms, code);
        if (code) return SystemError("cannot protect '{}': {}", beside.string(), code.message());
        return file->WriteAt(0, AsBytes(m_user_password.View()));
    };
    const auto written = write();
    if (!written.Ok()) {
        return SystemError("Unable to open cookie authentication file {} for writing: {}",
                           beside.string(), written.Message());
    }
    IBD_RETURN_IF_ERROR(m_env.Rename(beside, *options.cookie));
    m_cookie = options.cookie;
    logger.Info("Generated RPC authentication cookie {}", options.cookie->string());
    logger.Info("Permissions used for cookie: {}", SymbolicPerms(options.cookie_perms));
    return {};
}

Result<> RpcAuth::ReadWhitelist(const RpcAuthOptions& options)
{
    m_whitelist_default = options.whitelist_default.value_or(!options.whitelist.empty());
    for (const std::string& entry : options.whitelist) {
        const size_t colon = entry.find(':');
        const std::string user = entry.substr(0, colon);
        std::set<std::string> methods;
        if (colon != std::string::npos) {
            for (const std::string_view part :
                 Split(std::string_view(entry).substr(colon + 1), ',')) {
                for (const std::string_view name : Split(part, ' ')) {
                    if (!name.empty()) methods.emplace(name);
                }
            }
        }
        const auto [it, is_new] = m_whitelist.emplace(user, methods);
        if (is_new) continue;
        // With two entries, a user may make the calls that both allow.
        std::set<std::string> both;
        std::set_intersection(methods.begin(), methods.end(), it->second.begin(), it->second.end(),
                              std::inserter(both, both.end()));
        it->second = std::move(both);
    }
    return {};
}

RpcAuth::~RpcAuth()
{
    if (m_cookie) (void)m_env.Remove(*m_cookie);
}

std::optional<std::string> RpcAuth::Check(std::string_view header) const
{
    if (!header.starts_with("Basic ")) return std::nullopt;
    const auto decoded = FromBase64(Trim(header.substr(6)));
    if (!decoded) return std::nullopt;
    const std::string given(AsChars(*decoded));
    const size_t colon = given.find(':');
    if (colon == std::string::npos) return std::nullopt;
    const std::string user = given.substr(0, colon);
    if (!m_user_password.IsEmpty() && EqualInConstantTime(given, m_user_password.View()))
        return user;
    for (const Salted& entry : m_salted) {
        if (!EqualInConstantTime(user, entry.user)) continue;
        HmacSha256 hmac(AsBytes(entry.salt));
        hmac.Write(AsBytes(std::string_view(given).substr(colon + 1)));
        if (EqualInConstantTime(ToHex(hmac.Finalize()), entry.hash)) return user;
    }
    return std::nullopt;
}

bool RpcAuth::MayCall(const std::string& user, const std::string& method) const
{
    const auto it = m_whitelist.find(user);
    if (it == m_whitelist.end()) return !m_whitelist_default;
    return it->second.contains(method);
}

} // namespace ibd
