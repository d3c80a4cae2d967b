// The messages to a router to forward a TCP port to us: requests and responses of PCP (RFC 6887)
// and of NAT-PMP (RFC 6886), as bytes. Values and pure functions. An unrelated packet is
// distinguished from a refusal.
#pragma once

#include "net/address/net_address.h"
#include "util/bytes.h"
#include "util/result.h"

#include <array>

namespace ibd {

inline constexpr uint16_t kPcpPort = 5351; //!< UDP port of the router, for both protocols
inline constexpr size_t kLongestPcp = 1100;

/** Random, and the same in each renewal, because changing a mapping requires it. */
using PcpNonce = std::array<uint8_t, 12>;

struct PortMapRequest {
    PcpNonce nonce{};
    NetAddress internal;  //!< our address in the router's network
    NetAddress external;  //!< any address of that family
    uint16_t port = 0;    //!< internal and external port
    uint32_t seconds = 0; //!< duration
};

struct PortMapping {
    Endpoint external;
    uint32_t seconds = 0; //!< granted
};

/** A packet from the router. */
struct PortMapAnswer {
    enum class Kind {
        kStray,       //!< not an answer to the request: `text` has the reason
        kUnsupported, //!< the router supports only NAT-PMP
        kRefused,     //!< `text` has the reason, with the code
        kMapped,
    };
    Kind kind = Kind::kStray;
    std::string text;
    bool not_authorized = false; //!< probably permanent: the router's owner forbids it
    bool no_resources = false;   //!< another mapping may use the port
    PortMapping mapping;
};

/** PCP's MAP for TCP (RFC 6887, section 11). */
Bytes EncodePcpMap(const PortMapRequest& request);
/** `request`: the sent request; an answer to another one is kStray. */
PortMapAnswer DecodePcpMap(ByteSpan packet, const PortMapRequest& request);

/** NAT-PMP's request for the router's external address (RFC 6886, section 3.2). */
Bytes EncodeNatPmpAddress();
/** kMapped: `mapping.external` has the address, without port. */
PortMapAnswer DecodeNatPmpAddress(ByteSpan packet);
/** A TCP mapping by NAT-PMP (RFC 6886, section 3.3). */
Bytes EncodeNatPmpMap(const PortMapRequest& request);
/** `external`: the router's address from the earlier answer. */
PortMapAnswer DecodeNatPmpMap(ByteSpan packet, const PortMapRequest& request,
                              const NetAddress& external);

} // namespace ibd
