// See pcp_messages.h.
#include "net/socket/pcp_messages.h"

#include "primitives/serialize.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

using Kind = PortMapAnswer::Kind;

constexpr uint8_t kNatPmpVersion = 0;
constexpr uint8_t kPcpVersion = 2;
constexpr uint8_t kResponse = 0x80; //!< bit of the operation
constexpr uint8_t kPcpMap = 1;
constexpr uint8_t kNatPmpAddress = 0;
constexpr uint8_t kNatPmpMapTcp = 2;
constexpr uint8_t kTcp = 6; //!< protocol number
constexpr size_t kPcpSize = 60;
constexpr size_t kNatPmpErrorSize = 8;
constexpr size_t kNatPmpAddressSize = 12;
constexpr size_t kNatPmpMapSize = 16;
constexpr uint8_t kUnsupportedVersion = 1;
constexpr uint8_t kNotAuthorized = 2;
constexpr uint8_t kNatPmpNoResources = 4;
constexpr uint8_t kPcpNoResources = 8;

constexpr const char* kPcpResults[] = {"SUCCESS",
                                       "UNSUPP_VERSION",
                                       "NOT_AUTHORIZED",
                                       "MALFORMED_REQUEST",
                                       "UNSUPP_OPCODE",
                                       "UNSUPP_OPTION",
                                       "MALFORMED_OPTION",
                                       "NETWORK_FAILURE",
                                       "NO_RESOURCES",
                                       "UNSUPP_PROTOCOL",
                                       "USER_EX_QUOTA",
                                       "CANNOT_PROVIDE_EXTERNAL",
                                       "ADDRESS_MISMATCH",
                                       "EXCESSIVE_REMOTE_PEER"};
constexpr const char* kNatPmpResults[] = {"SUCCESS",         "UNSUPP_VERSION", "NOT_AUTHORIZED",
                                          "NETWORK_FAILURE", "NO_RESOURCES",   "UNSUPP_OPCODE"};

void PutBE(Bytes& out, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint32_t GetBE(ByteSpan packet, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | packet[at + static_cast<size_t>(i)];
    return value;
}

PortMapAnswer Stray(const char* why)
{
    PortMapAnswer out;
    out.text = why;
    return out;
}

template <size_t N>
PortMapAnswer Refused(uint32_t code, const char* const (&names)[N], uint8_t no_resources)
{
    PortMapAnswer out;
    out.kind = Kind::kRefused;
    out.text = fmt::format("{} (code {})", code < N ? names[code] : "(unknown)", code);
    out.not_authorized = code == kNotAuthorized;
    out.no_resources = code == no_resources;
    return out;
}

/** IPv4 is stored as IPv4-mapped IPv6, as in `addr` messages. */
NetAddress Unwrap(ByteSpan sixteen)
{
    constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (std::ranges::equal(sixteen.first(12), kMapped)) {
        return NetAddress::FromIpv4({sixteen[12], sixteen[13], sixteen[14], sixteen[15]});
    }
    std::array<uint8_t, 16> bytes{};
    std::ranges::copy(sixteen, bytes.begin());
    return NetAddress::FromIpv6(bytes);
}

} // namespace

Bytes EncodePcpMap(const PortMapRequest& request)
{
    Bytes out{kPcpVersion, kPcpMap, 0, 0};
    PutBE(out, request.seconds, 4);
    Append(out, request.internal.ToV1());
    Append(out, request.nonce);
    Append(out, std::array<uint8_t, 4>{kTcp, 0, 0, 0});
    PutBE(out, request.port, 2);
    PutBE(out, request.port, 2);
    Append(out, request.external.ToV1());
    CHECK(out.size() == kPcpSize);
    return out;
}

PortMapAnswer DecodePcpMap(ByteSpan packet, const PortMapRequest& request)
{
    if (packet.size() == kNatPmpErrorSize && packet[0] == kNatPmpVersion &&
        packet[3] == kUnsupportedVersion) {
        PortMapAnswer out;
        out.kind = Kind::kUnsupported;
        return out;
    }
    if (packet.size() < kPcpSize) return Stray("Response too small");
    if (packet[0] != kPcpVersion || packet[1] != (kResponse | kPcpMap)) {
        return Stray("Response to wrong command");
    }
    if (!std::ranges::equal(packet.subspan(24, request.nonce.size()), request.nonce)) {
        return Stray("Mapping nonce mismatch");
    }
    if (packet[36] != kTcp || GetBE(packet, 40, 2) != request.port) {
        return Stray("Response protocol or port doesn't match request");
    }
    if (packet[3] != 0) return Refused(packet[3], kPcpResults, kPcpNoResources);
    PortMapAnswer out;
    out.kind = Kind::kMapped;
    out.mapping.seconds = GetBE(packet, 4, 4);
    out.mapping.external = {Unwrap(packet.subspan(44, 16)),
                            static_cast<uint16_t>(GetBE(packet, 42, 2))};
    return out;
}

Bytes EncodeNatPmpAddress() { return {kNatPmpVersion, kNatPmpAddress}; }

PortMapAnswer DecodeNatPmpAddress(ByteSpan packet)
{
    if (packet.size() < kNatPmpAddressSize) return Stray("Response too small");
    if (packet[0] != kNatPmpVersion || packet[1] != (kResponse | kNatPmpAddress)) {
        return Stray("Response to wrong command");
    }
    const uint32_t code = GetBE(packet, 2, 2);
    if (code != 0) return Refused(code, kNatPmpResults, kNatPmpNoResources);
    PortMapAnswer out;
    out.kind = Kind::kMapped;
    out.mapping.external.address =
        NetAddress::FromIpv4({packet[8], packet[9], packet[10], packet[11]});
    return out;
}

Bytes EncodeNatPmpMap(const PortMapRequest& request)
{
    Bytes out{kNatPmpVersion, kNatPmpMapTcp, 0, 0};
    PutBE(out, request.port, 2);
    PutBE(out, request.port, 2);
    PutBE(out, request.seconds, 4);
    return out;
}

PortMapAnswer DecodeNatPmpMap(ByteSpan packet, const PortMapRequest& request,
                              const NetAddress& external)
{
    if (packet.size() < kNatPmpMapSize) return Stray("Response too small");
    if (packet[0] != kNatPmpVersion || packet[1] != (kResponse | kNatPmpMapTcp)) {
        return Stray("Response to wrong command");
    }
    if (GetBE(packet, 8, 2) != request.port) return Stray("Response port doesn't match request");
    const uint32_t code = GetBE(packet, 2, 2);
    if (code != 0) return Refused(code, kNatPmpResults, kNatPmpNoResources);
    PortMapAnswer out;
    out.kind = Kind::kMapped;
    out.mapping.external = {external, static_cast<uint16_t>(GetBE(packet, 10, 2))};
    out.mapping.seconds = GetBE(packet, 12, 4);
    return out;
}

} // namespace ibd
