// See subnet.h.
#include "rpc/subnet.h"
#include "util/strings.h"

#include <algorithm>

#include <arpa/inet.h>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool IsIp4(const IpBytes& ip)
{
    return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), ip.begin());
}

/** Ones from the front, then zeros. */
bool IsMask(const IpBytes& mask)
{
    bool zeros = false;
    for (size_t bit = 0; bit < 128; ++bit) {
        const bool one = (mask[bit / 8] >> (7 - bit % 8) & 1) != 0;
        if (one && zeros) return false;
        zeros = zeros || !one;
    }
    return true;
}

IpBytes MaskOfBits(size_t bits)
{
    IpBytes mask{};
    for (size_t bit = 0; bit < bits; ++bit) mask[bit / 8] |= static_cast<uint8_t>(0x80 >> bit % 8);
    return mask;
}

} // namespace

std::optional<IpBytes> ParseIp(std::string_view text)
{
    if (text.size() > 1 && text.front() == '[' && text.back() == ']') {
        text = text.substr(1, text.size() - 2);
    }
    const std::string plain(text.substr(0, text.find('%')));
    IpBytes ip{};
    if (::inet_pton(AF_INET6, plain.c_str(), ip.data()) == 1) return ip;
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), ip.begin());
    if (::inet_pton(AF_INET, plain.c_str(), ip.data() + 12) == 1) return ip;
    return std::nullopt;
}

std::optional<Subnet> Subnet::Parse(std::string_view text, bool has_cjdns)
{
    constexpr uint8_t kCjdnsPrefix = 0xfc;
    const size_t slash = text.find('/');
    const auto base = ParseIp(text.substr(0, slash));
    if (!base) return std::nullopt;
    Subnet subnet;
    subnet.m_base = *base;
    if (slash == std::string_view::npos) {
        subnet.m_mask = MaskOfBits(128);
        return subnet;
    }
    if (has_cjdns && base->front() == kCjdnsPrefix) return std::nullopt;
    const std::string_view rest = text.substr(slash + 1);
    const size_t skipped = IsIp4(*base) ? 96 : 0;
    if (const auto bits = ParseInteger<uint8_t>(rest)) {
        if (*bits > 128 - skipped) return std::nullopt;
        subnet.m_mask = MaskOfBits(skipped + *bits);
    } else {
        const auto mask = ParseIp(rest);
        if (!mask || IsIp4(*mask) != IsIp4(*base)) return std::nullopt;
        subnet.m_mask = *mask;
        if (skipped != 0) std::fill_n(subnet.m_mask.begin(), 12, uint8_t{0xff});
        if (!IsMask(subnet.m_mask)) return std::nullopt;
    }
    return subnet;
}

bool Subnet::Contains(const IpBytes& ip) const
{
    for (size_t i = 0; i < ip.size(); ++i) {
        if (((ip[i] ^ m_base[i]) & m_mask[i]) != 0) return false;
    }
    return true;
}

} // namespace ibd
