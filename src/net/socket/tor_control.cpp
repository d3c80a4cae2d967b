// See tor_control.h.
#include "net/socket/tor_control.h"

#include "crypto/hmac.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

#include <event2/event.h>

namespace ibd {

namespace {

constexpr int kOk = 250;
constexpr int kUnrecognized = 510;
constexpr int kSyntaxError = 512;
constexpr int kAsynchronous = 600;
constexpr size_t kCookieSize = 32;
constexpr size_t kNonceSize = 32;
constexpr const char* kServerKey = "Tor safe cookie authentication server-to-controller hash";
constexpr const char* kClientKey = "Tor safe cookie authentication controller-to-server hash";
constexpr const char* kNewKey = "NEW:ED25519-V3";

/** The contents of a quoted value, with C escapes as Tor writes them. */
std::optional<std::string> ReadQuoted(std::string_view text, size_t& at)
{
    std::string out;
    while (at < text.size() && text[at] != '"') {
        char c = text[at++];
        if (c == '\\') {
            if (at == text.size()) return std::nullopt;
            c = text[at++];
            if (c >= '0' && c <= '7') {
                // Up to three octal digits, the first at most 3.
                int value = c - '0';
                const int most = c <= '3' ? 2 : 1;
                for (int i = 0; i < most && at < text.size(); ++i, ++at) {
                    if (text[at] < '0' || text[at] > '7') break;
                    value = value * 8 + (text[at] - '0');
                }
                c = static_cast<char>(value);
            } else {
                switch (c) {
                case 'n': c = '\n'; break;
                case 't': c = '\t'; break;
                case 'r': c = '\r'; break;
                default: break;
                }
            }
        }
        out += c;
    }
    if (at == text.size()) return std::nullopt;
    ++at; // the closing quote
    return out;
}

Hash32 CookieHash(std::string_view key, ByteSpan cookie, ByteSpan client, ByteSpan server)
{
    return HmacSha256(AsBytes(key)).Write(cookie).Write(client).Write(server).Finalize();
}

/** The rest of a reply's line after this word; nothing if it does not start with it. */
std::optional<std::string_view> After(std::string_view line, std::string_view word)
{
    if (!line.starts_with(word)) return std::nullopt;
    line.remove_prefix(word.size());
    if (line.empty()) return line;
    if (line[0] != ' ') return std::nullopt;
    return line.substr(1);
}

/** Foreign text, made safe for the log. */
std::string Printable(std::string_view text)
{
    std::string out(text);
    std::erase_if(out, [](unsigned char c) { return c < 32 || c > 126; });
    return out;
}

} // namespace

std::map<std::string, std::string> ParseTorMapping(std::string_view text)
{
    std::map<std::string, std::string> out;
    for (size_t at = 0; at < text.size();) {
        const size_t equals = text.find_first_of("= ", at);
        if (equals == std::string_view::npos || text[equals] != '=') return {};
        const std::string key(text.substr(at, equals - at));
        at = equals + 1;
        if (at < text.size() && text[at] == '"') {
            auto value = ReadQuoted(text, ++at);
            if (!value) return {};
            out[key] = std::move(*value);
        } else {
            const size_t end = std::min(text.find(' ', at), text.size());
            out[key] = std::string(text.substr(at, end - at));
            at = end;
        }
        if (at < text.size() && text[at] == ' ') ++at;
    }
    return out;
}

void TorControl::Free::operator()(event* e) const { event_free(e); }

TorControl::TorControl(Settings settings, Events events)
    : m_settings(std::move(settings)), m_events(std::move(events))
{
    const auto retry = [](evutil_socket_t, short, void* self) {
        static_cast<TorControl*>(self)->Connect();
    };
    m_retry_timer.reset(event_new(m_settings.base, -1, 0, retry, this));
    if (auto key = ReadWholeFile(m_settings.env, m_settings.key_file); key) {
        const WipedAtEnd wiped(*key);
        m_settings.log.Debug(LogCategory::kTor, "Reading cached private key from {}",
                             m_settings.key_file.string());
        m_key = SecretText({AsChars(*key)});
    }
    Connect();
}

TorControl::~TorControl() = default;

void TorControl::Connect()
{
    m_settings.log.Debug(LogCategory::kTor, "Attempting to connect to Tor control port {}",
                         m_settings.name);
    m_answered = false;
    m_reply = {};
    m_waiting.clear();
    m_socket = std::make_unique<LineSocket>(
        m_settings.base, m_settings.control, kConnectTimeout, kLongestLine,
        [this](const std::string& line) { TakeLine(line); },
        [this](const std::string& why) { Lost(why); });
    Command("PROTOCOLINFO 1", [this](const Reply& reply) { TakeProtocolInfo(reply); });
}

void TorControl::Lost(const std::string& why)
{
    if (m_answered) {
        m_settings.log.Debug(LogCategory::kTor, "Lost connection to Tor control port: {}", why);
    } else {
        m_settings.log.Warning("tor: Error connecting to address {}", m_settings.name);
        m_settings.log.Warning("tor: Initiating connection to Tor control port {} failed",
                               m_settings.name);
    }
    m_socket.reset();
    if (m_service) m_events.service(*m_service, false);
    m_service.reset();
    m_settings.log.Debug(LogCategory::kTor, "Not connected to Tor control port {}, will retry",
                         m_settings.name);
    m_settings.log.Debug(LogCategory::kTor, "Retrying in {:.1f} seconds",
                         static_cast<double>(m_retry) / 1000);
    const timeval when{m_retry / 1000, (m_retry % 1000) * 1000};
    event_add(m_retry_timer.get(), &when);
    m_retry = std::min(m_retry + m_retry / 2, kLongestRetry);
}

void TorControl::Command(const std::string& text, OnReply on_reply)
{
    m_waiting.push_back(std::move(on_reply));
    m_socket->Send(text + "\r\n");
}

/** Lines are "250-text", "250+text" and, as the last of a reply, "250 text". */
void TorControl::TakeLine(const std::string& line)
{
    if (!std::exchange(m_answered, true)) {
        m_settings.log.Debug(LogCategory::kTor, "Successfully connected to Tor control port");
        m_retry = kFirstRetry;
        m_socket->ExpectWithin(0);
    }
    if (line.size() < 4) return;
    if (m_reply.lines.size() == kMostLines) {
        m_settings.log.Warning("tor: Error processing receive buffer: Control port reply exceeded "
                               "{} lines, disconnecting",
                               kMostLines);
        return Lost("too long a reply");
    }
    m_reply.code = ParseInteger<int>(line.substr(0, 3)).value_or(0);
    m_reply.lines.push_back(line.substr(4));
    if (line[3] != ' ') return;
    const Reply reply = std::exchange(m_reply, {});
    if (reply.code >= kAsynchronous) {
        m_settings.log.Debug(LogCategory::kTor, "Received async notification {}", reply.code);
    } else if (m_waiting.empty()) {
        m_settings.log.Debug(LogCategory::kTor, "Received unexpected sync reply {}", reply.code);
    } else {
        const OnReply take = std::move(m_waiting.front());
        m_waiting.pop_front();
        take(reply);
    }
}

// Authentication.

void TorControl::TakeProtocolInfo(const Reply& reply)
{
    if (reply.code != kOk) return m_settings.log.Warning("tor: Requesting protocol info failed");
    std::string methods;
    std::string cookie_file;
    for (const std::string& line : reply.lines) {
        if (const auto rest = After(line, "AUTH")) {
            const auto values = ParseTorMapping(*rest);
            if (const auto i = values.find("METHODS"); i != values.end()) methods = i->second;
            if (const auto i = values.find("COOKIEFILE"); i != values.end()) {
                cookie_file = i->second;
            }
        } else if (const auto version = After(line, "VERSION")) {
            const auto values = ParseTorMapping(*version);
            if (const auto i = values.find("Tor"); i != values.end()) {
                m_settings.log.Debug(LogCategory::kTor, "Connected to Tor version {}",
                                     Printable(i->second));
            }
        }
    }
    m_settings.log.Debug(LogCategory::kTor, "Supported authentication method: {}",
                         Printable(methods));
    Authenticate(methods, cookie_file);
}

void TorControl::Authenticate(const std::string& methods, const std::string& cookie_file)
{
    const auto offers = [all = "," + methods + ","](const std::string& method) {
        return all.find("," + method + ",") != std::string::npos;
    };
    const auto take = [this](const Reply& reply) { TakeAuthentication(reply); };
    Logger& log = m_settings.log;
    if (!m_settings.password.empty()) {
        if (!offers("HASHEDPASSWORD")) {
            return log.Warning("tor: Password provided with -torpassword, but HASHEDPASSWORD "
                               "authentication is not available");
        }
        log.Debug(LogCategory::kTor, "Using HASHEDPASSWORD authentication");
        std::string quoted;
        for (const char c : m_settings.password) {
            if (c == '"') quoted += '\\';
            quoted += c;
        }
        Command("AUTHENTICATE \"" + quoted + "\"", take);
    } else if (offers("NULL")) {
        log.Debug(LogCategory::kTor, "Using NULL authentication");
        Command("AUTHENTICATE", take);
    } else if (offers("SAFECOOKIE")) {
        AuthenticateByCookie(cookie_file);
    } else if (offers("HASHEDPASSWORD")) {
        log.Warning("tor: The only supported authentication mechanism left is password, but no "
                    "password provided with -torpassword");
    } else {
        log.Warning("tor: No supported authentication method");
    }
}

void TorControl::AuthenticateByCookie(const std::string& cookie_file)
{
    const std::string shown = Printable(cookie_file);
    m_settings.log.Debug(LogCategory::kTor,
                         "Using SAFECOOKIE authentication, reading cookie authentication from {}",
                         shown);
    const auto file = m_settings.env.OpenRead(cookie_file);
    Bytes cookie(kCookieSize + 1);
    const auto size = file ? (*file)->ReadAt(0, cookie) : Result<size_t>(file.GetError());
    if (!size) {
        return m_settings.log.Warning("tor: Authentication cookie {} could not be opened (check "
                                      "permissions)",
                                      shown);
    }
    if (*size != kCookieSize) {
        return m_settings.log.Warning("tor: Authentication cookie {} is not exactly {} bytes, as "
                                      "is required by the spec",
                                      shown, kCookieSize);
    }
    cookie.resize(kCookieSize);
    Bytes nonce(kNonceSize);
    m_settings.env.RandomBytes(nonce);
    Command("AUTHCHALLENGE SAFECOOKIE " + ToHex(nonce), [this, cookie, nonce](const Reply& reply) {
        TakeChallenge(reply, cookie, nonce);
    });
}

/** Tor must prove that it knows the cookie before anything derived from it is sent. */
void TorControl::TakeChallenge(const Reply& reply, const Bytes& cookie, const Bytes& nonce)
{
    Logger& log = m_settings.log;
    if (reply.code != kOk) {
        return log.Warning("tor: SAFECOOKIE authentication challenge failed");
    }
    log.Debug(LogCategory::kTor, "SAFECOOKIE authentication challenge successful");
    const auto rest = After(reply.lines[0], "AUTHCHALLENGE");
    if (!rest) return log.Warning("tor: Invalid reply to AUTHCHALLENGE");
    const auto values = ParseTorMapping(*rest);
    const auto hex = [&](const char* key) {
        const auto found = values.find(key);
        return found == values.end() ? Bytes{} : FromHex(found->second).value_or(Bytes{});
    };
    if (values.empty()) {
        return log.Warning("tor: Error parsing AUTHCHALLENGE parameters: {}", Printable(*rest));
    }
    const Bytes server_hash = hex("SERVERHASH");
    const Bytes server_nonce = hex("SERVERNONCE");
    if (server_nonce.size() != kNonceSize) {
        return log.Warning("tor: ServerNonce is not 32 bytes, as required by spec");
    }
    const Hash32 expected = CookieHash(kServerKey, cookie, nonce, server_nonce);
    if (!std::ranges::equal(server_hash, expected)) {
        return log.Warning("tor: ServerHash {} does not match expected ServerHash {}",
                           ToHex(server_hash), ToHex(expected));
    }
    Command("AUTHENTICATE " + ToHex(CookieHash(kClientKey, cookie, nonce, server_nonce)),
            [this](const Reply& answer) { TakeAuthentication(answer); });
}

void TorControl::TakeAuthentication(const Reply& reply)
{
    if (reply.code != kOk) return m_settings.log.Warning("tor: Authentication failed");
    m_settings.log.Debug(LogCategory::kTor, "Authentication successful");
    if (m_settings.find_proxy) {
        Command("GETINFO net/listeners/socks",
                [this](const Reply& answer) { TakeSocksPorts(answer); });
    }
    if (m_key.IsEmpty()) m_key = SecretText({kNewKey});
    AddOnion(true);
}

// The proxy.

namespace {

/** Chooses from `net/listeners/socks="127.0.0.1:9050" "[::1]:9050"`: one on this machine if
 *  possible. */
std::string ChooseSocks(const std::vector<std::string>& lines)
{
    constexpr std::string_view kKey = "net/listeners/socks=";
    std::string chosen;
    for (const std::string& line : lines) {
        if (!line.starts_with(kKey)) continue;
        for (size_t at = kKey.size(); at <= line.size();) {
            const size_t end = std::min(line.find(' ', at), line.size());
            std::string port = line.substr(at, end - at);
            at = end + 1;
            if (port.size() >= 2 && (port[0] == '"' || port[0] == '\'') && port.back() == port[0]) {
                port = port.substr(1, port.size() - 2);
            }
            if (port.empty()) continue;
            chosen = port;
            if (port.starts_with("127.0.0.1:")) break;
        }
    }
    return chosen;
}

} // namespace

void TorControl::TakeSocksPorts(const Reply& reply)
{
    Logger& log = m_settings.log;
    std::string chosen;
    if (reply.code == kOk) {
        chosen = ChooseSocks(reply.lines);
        if (chosen.empty()) {
            log.Warning("tor: Get SOCKS port command returned nothing");
        } else {
            log.Debug(LogCategory::kTor, "Get SOCKS port command yielded {}", Printable(chosen));
        }
    } else if (reply.code == kUnrecognized) {
        log.Warning("tor: Get SOCKS port command failed with unrecognized command (You probably "
                    "should upgrade Tor)");
    } else {
        log.Warning("tor: Get SOCKS port command failed; error code {}", reply.code);
    }
    const Endpoint usual{NetAddress::FromIpv4({127, 0, 0, 1}), kSocksPort};
    const auto given = Endpoint::Parse(chosen, kSocksPort);
    const Endpoint socks = given && given->address.IsValid() ? *given : usual;
    log.Debug(LogCategory::kTor, "Configuring onion proxy for {}", socks.ToString());
    m_events.proxy(socks);
}

// The service. Its port is always the network's usual one, as any other would distinguish the node.

void TorControl::AddOnion(bool with_pow)
{
    Command(fmt::format("ADD_ONION {}{} Port={},{}", m_key.View(),
                        with_pow ? " PoWDefensesEnabled=1" : "", m_settings.port,
                        m_settings.target.ToString()),
            [this, with_pow](const Reply& reply) { TakeOnion(reply, with_pow); });
}

void TorControl::TakeOnion(const Reply& reply, bool with_pow)
{
    Logger& log = m_settings.log;
    if (with_pow && reply.code == kSyntaxError) {
        log.Debug(LogCategory::kTor, "ADD_ONION failed with PoW defenses, retrying without");
        return AddOnion(false);
    }
    if (reply.code != kOk) return WarnOfOnion(reply);
    log.Debug(LogCategory::kTor, "ADD_ONION successful (PoW defenses {})",
              with_pow ? "enabled" : "disabled");
    std::string id;
    for (const std::string& line : reply.lines) {
        const auto values = ParseTorMapping(line);
        if (const auto i = values.find("ServiceID"); i != values.end()) id = i->second;
        if (const auto i = values.find("PrivateKey"); i != values.end()) {
            m_key = SecretText({i->second});
        }
    }
    const auto address = NetAddress::Parse(id + ".onion");
    if (!address) {
        log.Warning("tor: Error parsing ADD_ONION parameters:");
        for (const std::string& line : reply.lines) log.Warning("    {}", Printable(line));
        return;
    }
    m_service = Endpoint{*address, m_settings.port};
    log.Info("Got tor service ID {}, advertising service {}", id, m_service->ToString());
    if (WriteFileAtomically(m_settings.env, m_settings.key_file, AsBytes(m_key.View()))) {
        log.Debug(LogCategory::kTor, "Cached service private key to {}",
                  m_settings.key_file.string());
    } else {
        log.Warning("tor: Error writing service private key to {}", m_settings.key_file.string());
    }
    m_events.service(*m_service, true);
}

void TorControl::WarnOfOnion(const Reply& reply)
{
    if (reply.code == kUnrecognized) {
        m_settings.log.Warning("tor: Add onion failed with unrecognized command (You probably need "
                               "to upgrade Tor)");
    } else {
        m_settings.log.Warning("tor: Add onion failed; error code {}", reply.code);
    }
}

} // namespace ibd
