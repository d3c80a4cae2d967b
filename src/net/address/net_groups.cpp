// See net_groups.h.
#include "net/address/net_groups.h"

#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

using Net = AddressNetwork;

/** IPv6 tunnels of he.net, 2001:470::/32. */
bool IsHurricane(const NetAddress& address)
{
    constexpr std::array<uint8_t, 4> kPrefix{0x20, 0x01, 0x04, 0x70};
    return address.Is(Net::kIpv6) &&
           std::equal(kPrefix.begin(), kPrefix.end(), address.Raw().begin());
}

/** Bits of an address that determine its group. */
size_t GroupBits(const NetAddress& address)
{
    switch (address.Network()) {
    case Net::kOnion:
    case Net::kI2p: return 4;
    case Net::kCjdns: return 12; // the first 8 are always the same
    case Net::kInternal: return 8 * address.Raw().size();
    default: return IsHurricane(address) ? 36 : 32;
    }
}

/** Appends the first bits, with ones up to the end of the last byte. */
void AppendBits(Bytes& out, ByteSpan bytes, size_t bits)
{
    Append(out, bytes.first(bits / 8));
    if (bits % 8 != 0) out.push_back(static_cast<uint8_t>(bytes[bits / 8] | 0xff >> bits % 8));
}

std::array<uint8_t, 4> BigEndian(uint32_t v)
{
    std::array<uint8_t, 4> out;
    WriteBE32(out.data(), v);
    return out;
}

} // namespace

Bytes NetGroups::GroupOf(const NetAddress& address) const
{
    Bytes out;
    if (const uint32_t system = MappedAs(address)) {
        out.push_back(static_cast<uint8_t>(Net::kIpv6)); // one group for both kinds of IP
        Writer(out).U32(system);
        return out;
    }
    out.push_back(static_cast<uint8_t>(address.NetworkClass()));
    if (address.IsLocal() || (!address.IsRoutable() && !address.IsInternal())) return out;
    if (const auto linked = address.LinkedIpv4()) {
        Append(out, ByteSpan(BigEndian(*linked)).first(2));
    } else {
        AppendBits(out, address.Raw(), GroupBits(address));
    }
    return out;
}

uint32_t NetGroups::MappedAs(const NetAddress& address) const
{
    const Net network = address.NetworkClass();
    if (!m_asmap || (network != Net::kIpv4 && network != Net::kIpv6)) return 0;
    if (const auto linked = address.LinkedIpv4()) {
        return m_asmap->Lookup(NetAddress::FromIpv4(BigEndian(*linked)).ToV1());
    }
    return m_asmap->Lookup(address.ToV1());
}

} // namespace ibd
