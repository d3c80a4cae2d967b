// Text form of peers' permissions in options and RPC: "noban,relay@1.2.3.0/24" of -whitelist,
// "download@1.2.3.4:8333" of -whitebind. Bits: PeerPermissions (peer_link.h). Pure.
#pragma once

#include "net/peer_link.h"
#include "net/subnet.h"

namespace ibd {

/** Set if the user named no permissions: -whitelistrelay and -whitelistforcerelay then determine
 *  them. Replaced before a peer gets it. */
inline constexpr uint32_t kPermitImplicit = 1U << 31;
inline constexpr uint32_t kPermitAll =
    kPermitBloomFilter | kPermitForceRelay | kPermitNoBan | kPermitMempool | kPermitAddr;

/** A range of addresses and the permissions of its peers. */
struct Whitelisted {
    Subnet range;
    uint32_t permissions = kPermitNone;
    bool incoming = true;  //!< for inbound peers
    bool outgoing = false; //!< for outbound peers named by the user
};
/** The value of a -whitelist; the error is Core's sentence. */
Result<Whitelisted> ParseWhitelist(std::string_view text, bool cjdns_reachable);

/** An address to listen on. */
struct Binding {
    Endpoint address;
    uint32_t permissions = kPermitNone; //!< for peers that connect there (-whitebind)
    bool onion = false;                 //!< its connections come from our hidden service
};
/** The value of a -whitebind; the error is Core's sentence. */
Result<Binding> ParseWhitebind(std::string_view text);

/** "bloomfilter", "noban", ... in Core's order. */
std::vector<std::string> PermissionNames(uint32_t permissions);

} // namespace ibd
