// What is said to a router for it to forward a TCP port to us: requests and responses of PCP
// (RFC 6887) and of NAT-PMP (RFC 6886), as bytes. Values and pure functions; a response that is not
// the answer to the request is told from one that says no.
#pragma once

#include "net/net_address.h"
#include "util/bytes.h"
#include "util/result.h"

#include <array>

namespace ibd {

inline constexpr uint16_t kPcpPort = 5351; //!< of the router, UDP, for both
inline constexpr size_t kLongestPcp = 1100;

/** Chance, the same in each renewal: who does not know it cannot change the mapping. */
using PcpNonce = std::array<uint8_t, 12>;

struct PortMapRequest {
    PcpNonce nonce{};
    NetAddress internal;  //!< ours, towards the router
    NetAddress external;  //!< what is asked for: any of this kind of address
    uint16_t port = 0;    //!< of both
    uint32_t seconds = 0; //!< for how long
};

struct PortMapping {
    Endpoint external;
    uint32_t seconds = 0; //!< granted
};

/** What a packet from the router is. */
struct PortMapAnswer {
    enum class Kind {
        kStray,       //!< no answer to this: `text` says why
        kUnsupported, //!< the router speaks NAT-PMP only
        kRefused,     //!< `text` says why, with the code
        kMapped,
    };
    Kind kind = Kind::kStray;
    std::string text;
    bool not_authorized = false; //!< likely for long, as the user of the router has it
    bool no_resources = false;   //!< the port may be another's
    PortMapping mapping;
};

/** PCP's MAP for TCP (RFC 6887, section 11). */
Bytes EncodePcpMap(const PortMapRequest& request);
/** `request`: what was asked; the answer to anything else is kStray. */
PortMapAnswer DecodePcpMap(ByteSpan packet, const PortMapRequest& request);

/** NAT-PMP's question for the router's own address (RFC 6886, section 3.2). */
Bytes EncodeNatPmpAddress();
/** kMapped: `mapping.external` has the address, and no port. */
PortMapAnswer DecodeNatPmpAddress(ByteSpan packet);
/** A mapping of TCP by NAT-PMP (RFC 6886, section 3.3). */
Bytes EncodeNatPmpMap(const PortMapRequest& request);
/** Of the address that is known from before. */
PortMapAnswer DecodeNatPmpMap(ByteSpan packet, const PortMapRequest& request,
                              const NetAddress& external);

} // namespace ibd
