// Text of net_address.h: the form of addresses in options, commands and logs.
#include "crypto/sha3.h"
#include "net/address/net_address.h"
#include "util/base32.h"
#include "util/endian.h"
#include "util/strings.h"

#include <memory>

#include <netdb.h>
#include <netinet/in.h>

namespace ibd {

namespace {

using Net = AddressNetwork;

constexpr uint8_t kOnionVersion = 3;
constexpr std::string_view kOnionSuffix = ".onion";
constexpr std::string_view kI2pSuffix = ".b32.i2p";
constexpr size_t kI2pDigits = 52; //!< base32 of 32 bytes

constexpr const char* kNetworkNames[kAddressNetworkCount] = {
    "not_publicly_routable", "ipv4", "ipv6", "onion", "i2p", "cjdns", "internal"};

/** Public key, checksum, version: the contents of a Tor name (rend-spec-v3). */
Bytes OnionBytes(ByteSpan public_key)
{
    Bytes hashed;
    Append(hashed, AsBytes(".onion checksum"));
    Append(hashed, public_key);
    hashed.push_back(kOnionVersion);
    const Hash32 hash = Sha3Of(hashed);
    Bytes out(public_key.begin(), public_key.end());
    Append(out, ByteSpan(hash).first(2));
    out.push_back(kOnionVersion);
    return out;
}

/** RFC 5952: the first of the longest runs of zero groups, if longer than one, becomes "::". */
std::string Ipv6Text(ByteSpan bytes)
{
    size_t longest = 1, start = 8;
    for (size_t i = 0, run = 0; i < 8; ++i) {
        run = ReadBE<uint16_t>(bytes.data() + 2 * i) == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            start = i + 1 - run;
        }
    }
    std::string out;
    for (size_t i = 0; i < 8; ++i) {
        if (i == start) {
            out += "::";
            i += longest - 1;
            continue;
        }
        if (!out.empty() && out.back() != ':') out += ':';
        out += fmt::format("{:x}", ReadBE<uint16_t>(bytes.data() + 2 * i));
    }
    return out;
}

/** Parses numeric addresses by the system, which accepts short forms ("127.1") and scopes. No name
 *  look-up. */
std::optional<NetAddress> ParseNumeric(const std::string& text)
{
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_protocol = IPPROTO_TCP;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (::getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
    if (found->ai_family == AF_INET) {
        const auto* const v4 = reinterpret_cast<const sockaddr_in*>(found->ai_addr);
        std::array<uint8_t, 4> bytes;
        std::memcpy(bytes.data(), &v4->sin_addr, bytes.size());
        return NetAddress::FromIpv4(bytes);
    }
    if (found->ai_family != AF_INET6) return std::nullopt;
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(found->ai_addr);
    std::array<uint8_t, 16> bytes;
    std::memcpy(bytes.data(), &v6->sin6_addr, bytes.size());
    return NetAddress::FromIpv6(bytes, v6->sin6_scope_id);
}

struct HostAndPort {
    std::string_view host;
    uint16_t port;
};

/** Splits as Core does; an invalid port stays with the host, which is then invalid. */
HostAndPort SplitPort(std::string_view text, uint16_t default_port)
{
    HostAndPort out{text, default_port};
    const size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        const std::string_view before = text.substr(0, colon);
        const bool bracketed = before.starts_with('[') && before.ends_with(']');
        if (bracketed || before.find(':') == std::string_view::npos) {
            if (const auto port = ParseInteger<uint16_t>(text.substr(colon + 1))) {
                out = {before, *port};
            }
        }
    }
    if (out.host.starts_with('[') && out.host.ends_with(']')) {
        out.host = out.host.substr(1, out.host.size() - 2);
    }
    return out;
}

} // namespace

const char* AddressNetworkName(AddressNetwork network)
{
    return kNetworkNames[static_cast<size_t>(network)];
}

std::optional<AddressNetwork> ParseAddressNetwork(std::string_view name)
{
    const std::string lower = ToLower(name);
    for (const Net network : {Net::kIpv4, Net::kIpv6, Net::kOnion, Net::kI2p, Net::kCjdns}) {
        if (lower == AddressNetworkName(network)) return network;
    }
    return std::nullopt;
}

std::optional<NetAddress> NetAddress::ParseOnion(std::string_view text)
{
    if (!text.ends_with(kOnionSuffix)) return std::nullopt;
    text.remove_suffix(kOnionSuffix.size());
    const auto bytes = FromBase32(text);
    if (!bytes || bytes->size() != SizeOf(Net::kOnion) + 3) return std::nullopt;
    const ByteSpan key = ByteSpan(*bytes).first(SizeOf(Net::kOnion));
    if (*bytes != OnionBytes(key)) return std::nullopt;
    return NetAddress(Net::kOnion, key);
}

std::optional<NetAddress> NetAddress::ParseI2p(std::string_view text)
{
    if (text.size() != kI2pDigits + kI2pSuffix.size()) return std::nullopt;
    if (ToLower(text.substr(kI2pDigits)) != kI2pSuffix) return std::nullopt;
    const auto bytes = FromBase32(std::string(text.substr(0, kI2pDigits)) + "====");
    if (!bytes || bytes->size() != SizeOf(Net::kI2p)) return std::nullopt;
    return NetAddress(Net::kI2p, *bytes);
}

std::optional<NetAddress> NetAddress::Parse(std::string_view text, bool brackets)
{
    if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
    if (brackets && text.size() >= 2 && text.starts_with('[') && text.ends_with(']')) {
        text = text.substr(1, text.size() - 2);
    }
    if (const auto onion = ParseOnion(text)) return onion;
    if (const auto i2p = ParseI2p(text)) return i2p;
    const auto numeric = ParseNumeric(std::string(text));
    // Internal addresses are not for input.
    if (!numeric || numeric->IsInternal()) return std::nullopt;
    return numeric;
}

std::string NetAddress::ToString() const
{
    switch (m_network) {
    case Net::kIpv4:
        return fmt::format("{}.{}.{}.{}", m_bytes[0], m_bytes[1], m_bytes[2], m_bytes[3]);
    case Net::kOnion: return ToBase32(OnionBytes(Raw())) + std::string(kOnionSuffix);
    case Net::kI2p: return ToBase32(Raw(), false) + std::string(kI2pSuffix);
    case Net::kInternal: return ToBase32(Raw()) + ".internal";
    case Net::kIpv6:
        return Ipv6Text(Raw()) + (m_scope != 0 ? fmt::format("%{}", m_scope) : std::string());
    default: return Ipv6Text(Raw());
    }
}

std::optional<Endpoint> Endpoint::Parse(std::string_view text, uint16_t default_port)
{
    if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
    const HostAndPort parts = SplitPort(text, default_port);
    const auto address = NetAddress::Parse(parts.host, false);
    if (!address) return std::nullopt;
    return Endpoint{*address, parts.port};
}

std::string Endpoint::ToString() const
{
    const bool colons = address.Is(Net::kIpv6) || address.Is(Net::kCjdns);
    const std::string host = address.ToString();
    return colons ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

} // namespace ibd
