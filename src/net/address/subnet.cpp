// See subnet.h.
#include "net/address/subnet.h"
#include "util/strings.h"

#include <bit>

namespace ibd {

namespace {

bool IsIp(const NetAddress& address)
{
    return address.Is(AddressNetwork::kIpv4) || address.Is(AddressNetwork::kIpv6);
}

/** Number of leading ones in a mask; nothing if there are more after the first zero. */
std::optional<size_t> MaskBits(ByteSpan mask)
{
    size_t ones = 0;
    for (const uint8_t byte : mask) ones += static_cast<size_t>(std::popcount(byte));
    for (size_t bit = 0; bit < ones; ++bit) {
        if ((mask[bit / 8] >> (7 - bit % 8) & 1) == 0) return std::nullopt;
    }
    return ones;
}

} // namespace

Subnet::Subnet(const NetAddress& address) : Subnet(address, 8 * address.Raw().size())
{
    CHECK(!address.IsInternal());
}

Subnet::Subnet(const NetAddress& base, size_t bits)
    : m_base(base.FirstOfRange(bits)), m_bits(static_cast<uint16_t>(bits))
{
}

std::optional<Subnet> Subnet::Parse(std::string_view text, bool cjdns_reachable)
{
    const size_t slash = text.rfind('/');
    auto base = NetAddress::Parse(text.substr(0, slash));
    if (!base) return std::nullopt;
    base = base->WithCjdns(cjdns_reachable);
    if (slash == std::string_view::npos) return Subnet(*base);
    if (!IsIp(*base)) return std::nullopt;
    const std::string_view rest = text.substr(slash + 1);
    if (const auto bits = ParseInteger<uint8_t>(rest)) {
        if (*bits > 8 * base->Raw().size()) return std::nullopt;
        return Subnet(*base, *bits);
    }
    const auto mask = NetAddress::Parse(rest);
    if (!mask || mask->Network() != base->Network()) return std::nullopt;
    const auto bits = MaskBits(mask->Raw());
    if (!bits) return std::nullopt;
    return Subnet(*base, *bits);
}

bool Subnet::Contains(const NetAddress& address) const
{
    if (!address.IsValid() || address.Network() != m_base.Network()) return false;
    for (size_t i = 0; i < address.Raw().size(); ++i) {
        if ((address.Raw()[i] & ByteOfMask(m_bits, i)) != m_base.Raw()[i]) return false;
    }
    return true;
}

std::string Subnet::ToString() const
{
    return m_base.ToString() + (IsIp(m_base) ? fmt::format("/{}", m_bits) : std::string());
}

} // namespace ibd
