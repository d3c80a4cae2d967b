// See net_address.h.
#include "net/address/net_address.h"

#include "crypto/sha256.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

using Net = AddressNetwork;

// Prefixes of other networks' addresses in `addr` messages and IPv6 sockets. The last two are in
// fc00::/7, which is not routable.
constexpr std::array<uint8_t, 12> kIpv4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<uint8_t, 6> kTorV2Prefix = {0xfd, 0x87, 0xd8, 0x7e, 0xeb, 0x43};
constexpr std::array<uint8_t, 6> kInternalPrefix = {0xfd, 0x6b, 0x88, 0xc0, 0x87, 0x24};

// Numbers of networks in `addrv2` (BIP155).
constexpr uint8_t kBip155Ipv4 = 1;
constexpr uint8_t kBip155Ipv6 = 2;
constexpr uint8_t kBip155TorV3 = 4;
constexpr uint8_t kBip155I2p = 5;
constexpr uint8_t kBip155Cjdns = 6;

template <typename Prefix>
bool StartsWith(ByteSpan bytes, const Prefix& prefix)
{
    return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

uint8_t Bip155Number(Net network)
{
    switch (network) {
    case Net::kIpv4: return kBip155Ipv4;
    case Net::kOnion: return kBip155TorV3;
    case Net::kI2p: return kBip155I2p;
    case Net::kCjdns: return kBip155Cjdns;
    default: return kBip155Ipv6;
    }
}

struct Bip155Entry {
    Net network;
    const char* name; //!< as in Core's log
};

std::optional<Bip155Entry> Bip155Network(uint8_t number)
{
    switch (number) {
    case kBip155Ipv4: return Bip155Entry{Net::kIpv4, "IPv4"};
    case kBip155Ipv6: return Bip155Entry{Net::kIpv6, "IPv6"};
    case kBip155TorV3: return Bip155Entry{Net::kOnion, "TORv3"};
    case kBip155I2p: return Bip155Entry{Net::kI2p, "I2P"};
    case kBip155Cjdns: return Bip155Entry{Net::kCjdns, "CJDNS"};
    default: return std::nullopt;
    }
}

bool HasPrefix(const NetAddress& address, Net network, std::initializer_list<uint8_t> prefix)
{
    return address.Is(network) && StartsWith(address.Raw(), prefix);
}

// Ranges by the RFC that reserves them.

/** IPv4: private. */
bool IsRfc1918(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv4, {10}) || HasPrefix(address, Net::kIpv4, {192, 168}) ||
           (HasPrefix(address, Net::kIpv4, {172}) && address.Raw()[1] >> 4 == 1);
}
/** IPv4: benchmarks between networks, 198.18.0.0/15. */
bool IsRfc2544(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv4, {198, 18}) || HasPrefix(address, Net::kIpv4, {198, 19});
}
/** IPv4: link-local. */
bool IsRfc3927(const NetAddress& address) { return HasPrefix(address, Net::kIpv4, {169, 254}); }
/** IPv4: documentation. */
bool IsRfc5737(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv4, {192, 0, 2}) ||
           HasPrefix(address, Net::kIpv4, {198, 51, 100}) ||
           HasPrefix(address, Net::kIpv4, {203, 0, 113});
}
/** IPv4: shared by an ISP's customers, 100.64.0.0/10. */
bool IsRfc6598(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv4, {100}) && address.Raw()[1] >> 6 == 1;
}
/** IPv6: documentation, 2001:db8::/32. */
bool IsRfc3849(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0x20, 0x01, 0x0d, 0xb8});
}
/** IPv6: 6to4. */
bool IsRfc3964(const NetAddress& address) { return HasPrefix(address, Net::kIpv6, {0x20, 0x02}); }
/** IPv6: unique local. */
bool IsRfc4193(const NetAddress& address)
{
    return address.Is(Net::kIpv6) && (address.Raw()[0] & 0xfe) == 0xfc;
}
/** IPv6: Teredo. */
bool IsRfc4380(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0x20, 0x01, 0, 0});
}
/** IPv6: ORCHID. */
bool IsRfc4843(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0x20, 0x01, 0}) && (address.Raw()[3] & 0xf0) == 0x10;
}
/** IPv6: link-local. */
bool IsRfc4862(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0xfe, 0x80, 0, 0, 0, 0, 0, 0});
}
/** IPv6: IPv4 in 64:ff9b::/96. */
bool IsRfc6052(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0});
}
/** IPv6: IPv4 translated. */
bool IsRfc6145(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0});
}
/** IPv6: ORCHID version 2. */
bool IsRfc7343(const NetAddress& address)
{
    return HasPrefix(address, Net::kIpv6, {0x20, 0x01, 0}) && (address.Raw()[3] & 0xf0) == 0x20;
}

} // namespace

NetAddress::NetAddress(AddressNetwork network, ByteSpan bytes) : m_network(network)
{
    CHECK(bytes.size() == SizeOf(network));
    std::copy(bytes.begin(), bytes.end(), m_bytes.begin());
}

NetAddress NetAddress::FromIpv4(const std::array<uint8_t, 4>& bytes) { return {Net::kIpv4, bytes}; }

NetAddress NetAddress::FromIpv6(const std::array<uint8_t, 16>& bytes, uint32_t scope)
{
    const ByteSpan all(bytes);
    NetAddress out;
    if (StartsWith(all, kIpv4Prefix)) {
        out = {Net::kIpv4, all.subspan(kIpv4Prefix.size())};
    } else if (StartsWith(all, kInternalPrefix)) {
        out = {Net::kInternal, all.subspan(kInternalPrefix.size())};
    } else if (!StartsWith(all, kTorV2Prefix)) {
        out = {Net::kIpv6, all};
    }
    out.m_scope = scope;
    return out;
}

NetAddress NetAddress::Internal(std::string_view name)
{
    CHECK(!name.empty());
    const Hash32 hash = Sha256Of(AsBytes(name));
    return {Net::kInternal, ByteSpan(hash).first(SizeOf(Net::kInternal))};
}

bool NetAddress::IsLocal() const
{
    return HasPrefix(*this, Net::kIpv4, {127}) || HasPrefix(*this, Net::kIpv4, {0}) ||
           HasPrefix(*this, Net::kIpv6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

bool NetAddress::IsBindAny() const
{
    return (Is(Net::kIpv4) || Is(Net::kIpv6)) &&
           std::all_of(m_bytes.begin(), m_bytes.end(), [](uint8_t b) { return b == 0; });
}

bool NetAddress::IsValid() const
{
    if (IsBindAny() || IsInternal() || IsRfc3849(*this)) return false;
    if (Is(Net::kCjdns) && !HasCjdnsPrefix()) return false;
    return !HasPrefix(*this, Net::kIpv4, {255, 255, 255, 255});
}

bool NetAddress::IsRoutable() const
{
    return IsValid() && !IsRfc1918(*this) && !IsRfc2544(*this) && !IsRfc3927(*this) &&
           !IsRfc4862(*this) && !IsRfc6598(*this) && !IsRfc5737(*this) && !IsRfc4193(*this) &&
           !IsRfc4843(*this) && !IsRfc7343(*this) && !IsLocal();
}

bool NetAddress::IsPrivacyNetwork() const { return Is(Net::kOnion) || Is(Net::kI2p); }

bool NetAddress::FitsV1() const { return Is(Net::kIpv4) || Is(Net::kIpv6) || IsInternal(); }

AddressNetwork NetAddress::RoutableNetwork() const
{
    if (IsInternal()) return Net::kInternal;
    return IsRoutable() ? m_network : Net::kUnroutable;
}

AddressNetwork NetAddress::NetworkClass() const
{
    return LinkedIpv4() ? Net::kIpv4 : RoutableNetwork();
}

std::optional<uint32_t> NetAddress::LinkedIpv4() const
{
    if (!IsRoutable()) return std::nullopt;
    if (Is(Net::kIpv4)) return ReadBE32(m_bytes.data());
    if (IsRfc6052(*this) || IsRfc6145(*this)) return ReadBE32(m_bytes.data() + 12);
    if (IsRfc3964(*this)) return ReadBE32(m_bytes.data() + 2);
    if (IsRfc4380(*this)) return ~ReadBE32(m_bytes.data() + 12); // Teredo stores it inverted
    return std::nullopt;
}

int NetAddress::ReachabilityFrom(const NetAddress& partner) const
{
    enum { kNot, kDefault, kTeredo, kIpv6Weak, kIpv4, kIpv6Strong, kPrivate };
    if (!IsRoutable()) return kNot;
    const Net net = m_network;
    const bool tunnel = IsRfc3964(*this) || IsRfc6052(*this) || IsRfc6145(*this);
    // Reachability for a partner whose IPv6 is not its best network.
    const auto behind_teredo = [&] {
        if (IsRfc4380(*this)) return kTeredo;
        return net == Net::kIpv6 ? kIpv6Weak : net == Net::kIpv4 ? kIpv4 : kDefault;
    };
    if (IsRfc4380(partner)) return behind_teredo();
    switch (partner.RoutableNetwork()) {
    case Net::kIpv4: return net == Net::kIpv4 ? kIpv4 : kDefault;
    case Net::kIpv6:
        if (IsRfc4380(*this)) return kTeredo;
        if (net == Net::kIpv6) return tunnel ? kIpv6Weak : kIpv6Strong;
        return net == Net::kIpv4 ? kIpv4 : kDefault;
    case Net::kOnion: return net == Net::kOnion ? kPrivate : net == Net::kIpv4 ? kIpv4 : kDefault;
    case Net::kI2p:
    case Net::kCjdns: return net == partner.m_network ? kPrivate : kDefault;
    default: return net == Net::kOnion ? kPrivate : behind_teredo();
    }
}

NetAddress NetAddress::WithCjdns(bool cjdns_reachable) const
{
    NetAddress out = *this;
    if (cjdns_reachable && Is(Net::kIpv6) && HasCjdnsPrefix()) out.m_network = Net::kCjdns;
    return out;
}

Bytes NetAddress::KeyBytes() const
{
    if (!FitsV1()) return {Raw().begin(), Raw().end()};
    const auto v1 = ToV1();
    return {v1.begin(), v1.end()};
}

NetAddress NetAddress::FirstOfRange(size_t bits) const
{
    NetAddress out = *this;
    for (size_t i = 0; i < Raw().size(); ++i) out.m_bytes[i] &= ByteOfMask(bits, i);
    return out;
}

std::strong_ordering NetAddress::operator<=>(const NetAddress& other) const
{
    if (const auto order = m_network <=> other.m_network; order != 0) return order;
    return m_bytes <=> other.m_bytes;
}

std::array<uint8_t, 16> NetAddress::ToV1() const
{
    std::array<uint8_t, 16> out{};
    if (!FitsV1()) return out;
    if (Is(Net::kIpv4)) std::copy(kIpv4Prefix.begin(), kIpv4Prefix.end(), out.begin());
    if (IsInternal()) std::copy(kInternalPrefix.begin(), kInternalPrefix.end(), out.begin());
    const ByteSpan raw = Raw();
    std::copy(raw.begin(), raw.end(), out.end() - static_cast<std::ptrdiff_t>(raw.size()));
    return out;
}

void NetAddress::EncodeV2(Writer& writer) const
{
    writer.U8(Bip155Number(m_network));
    if (IsInternal()) {
        writer.VarBytes(ToV1()); // peers.dat stores them this way
    } else {
        writer.VarBytes(Raw());
    }
}

NetAddress NetAddress::DecodeV2(PayloadReader& reader)
{
    const uint8_t number = reader.U8();
    const uint64_t size = reader.CompactSize();
    if (size > kMaxV2Size)
        reader.Refuse(fmt::format("Address too long: {} > {}", size, kMaxV2Size));
    const auto known = Bip155Network(number);
    if (known && size != SizeOf(known->network)) {
        reader.Refuse(fmt::format("BIP155 {} address with length {} (should be {})", known->name,
                                  size, SizeOf(known->network)));
    }
    if (!known && size > reader.Remaining()) reader.Fail("DataStream::ignore(): end of data");
    const ByteSpan bytes = reader.Span(reader.Ok() ? size : 0);
    if (!reader.Ok() || !known) return {};
    if (known->network != Net::kIpv6) return {known->network, bytes};
    if (StartsWith(bytes, kInternalPrefix)) {
        return {Net::kInternal, bytes.subspan(kInternalPrefix.size())};
    }
    // Those have their own numbers here, or are obsolete: not to be relayed.
    if (StartsWith(bytes, kIpv4Prefix) || StartsWith(bytes, kTorV2Prefix)) return {};
    return {Net::kIpv6, bytes};
}

Bytes Endpoint::Key() const
{
    Bytes out = address.KeyBytes();
    out.push_back(static_cast<uint8_t>(port >> 8));
    out.push_back(static_cast<uint8_t>(port));
    return out;
}

namespace {

void EncodePort(Writer& writer, uint16_t port) { writer.U16(ByteSwap(port)); }
uint16_t DecodePort(Reader& reader) { return ByteSwap(reader.U16()); }

} // namespace

void Endpoint::EncodeV1(Writer& writer) const
{
    writer.Raw(address.ToV1());
    EncodePort(writer, port);
}

Endpoint Endpoint::DecodeV1(PayloadReader& reader)
{
    std::array<uint8_t, 16> bytes{};
    const ByteSpan read = reader.Span(bytes.size());
    std::copy(read.begin(), read.end(), bytes.begin());
    return {NetAddress::FromIpv6(bytes), DecodePort(reader)};
}

void Endpoint::EncodeV2(Writer& writer) const
{
    address.EncodeV2(writer);
    EncodePort(writer, port);
}

Endpoint Endpoint::DecodeV2(PayloadReader& reader)
{
    const NetAddress address = NetAddress::DecodeV2(reader);
    return {address, DecodePort(reader)};
}

void PeerAddress::EncodeV1(Writer& writer) const
{
    writer.U32(time);
    writer.U64(services);
    endpoint.EncodeV1(writer);
}

PeerAddress PeerAddress::DecodeV1(PayloadReader& reader)
{
    PeerAddress out;
    out.time = reader.U32();
    out.services = reader.U64();
    out.endpoint = Endpoint::DecodeV1(reader);
    return out;
}

void PeerAddress::EncodeV2(Writer& writer) const
{
    writer.U32(time);
    writer.CompactSize(services);
    endpoint.EncodeV2(writer);
}

PeerAddress PeerAddress::DecodeV2(PayloadReader& reader)
{
    PeerAddress out;
    out.time = reader.U32();
    out.services = reader.CompactSize(false);
    out.endpoint = Endpoint::DecodeV2(reader);
    return out;
}

} // namespace ibd
