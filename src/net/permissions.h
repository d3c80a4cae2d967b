// Permissions of peers as options and RPC write them: "noban,relay@1.2.3.0/24" of -whitelist,
// "download@1.2.3.4:8333" of -whitebind. Bits: PeerPermissions (peer_link.h). Pure.
#pragma once

#include "net/peer_link.h"
#include "net/subnet.h"

namespace ibd {

/** Set where the user named no permissions: which these are then depends on -whitelistrelay and
 *  -whitelistforcerelay. Replaced before a peer is told of. */
inline constexpr uint32_t kPermitImplicit = 1U << 31;
inline constexpr uint32_t kPermitAll =
    kPermitBloomFilter | kPermitForceRelay | kPermitNoBan | kPermitMempool | kPermitAddr;

/** Peers of a range of addresses, and what they may. */
struct Whitelisted {
    Subnet range;
    uint32_t permissions = kPermitNone;
    bool incoming = true;  //!< of those who call us
    bool outgoing = false; //!< of those whom the user has us call
};
/** The value of a -whitelist; the error is Core's sentence. */
Result<Whitelisted> ParseWhitelist(std::string_view text, bool cjdns_reachable);

/** An address to listen at. */
struct Binding {
    Endpoint address;
    uint32_t permissions = kPermitNone; //!< of who calls there (-whitebind)
    bool onion = false;                 //!< what comes there comes from our hidden service
};
/** The value of a -whitebind; the error is Core's sentence. */
Result<Binding> ParseWhitebind(std::string_view text);

/** "bloomfilter", "noban", ... in Core's order. */
std::vector<std::string> PermissionNames(uint32_t permissions);

} // namespace ibd
