// Permissions of peers, and their text form in options and RPC: "noban,relay@1.2.3.0/24" of
// -whitelist, "download@1.2.3.4:8333" of -whitebind. Pure.
#pragma once

#include "net/address/subnet.h"

namespace ibd {

/** Bits for the special permissions of a peer (-whitelist, -whitebind). */
enum PeerPermissions : uint32_t {
    kPermitNone = 0,
    kPermitBloomFilter = 1 << 1,
    kPermitRelay = 1 << 3, //!< transactions, despite -blocksonly
    kPermitForceRelay = 1 << 2 | kPermitRelay,
    kPermitMempool = 1 << 5,
    kPermitDownload = 1 << 6, //!< blocks, despite -maxuploadtarget; headers during download
    kPermitNoBan = 1 << 4 | kPermitDownload, //!< no disconnection for misbehaviour
    kPermitAddr = 1 << 7,
};

/** Set if the user named no permissions: -whitelistrelay and -whitelistforcerelay then determine
 *  them. Replaced before it is assigned to a peer. */
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
    uint32_t permissions = kPermitNone; //!< permissions of peers that connect there (-whitebind)
    bool onion = false;                 //!< its connections come from our hidden service
};
/** The value of a -whitebind; the error is Core's sentence. */
Result<Binding> ParseWhitebind(std::string_view text);

/** "bloomfilter", "noban", ... in Core's order. */
std::vector<std::string> PermissionNames(uint32_t permissions);

} // namespace ibd
