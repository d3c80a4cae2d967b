// What a connection to a peer is, and PeerLink: how the thread that owns the peers reaches what
// owns the sockets. Owned by net; implemented by Connections, and by tests that have no sockets.
#pragma once

#include "net/header_sync.h"
#include "net/net_groups.h"
#include "net/transport.h"

namespace ibd {

enum class ConnectionKind {
    kInbound,
    kOutboundFullRelay,
    kManual, //!< asked for by the user
    kFeeler, //!< to see whether an address is alive
    kBlockRelay,
    kAddrFetch, //!< for addresses only, short
};
/** "inbound", "outbound-full-relay", "manual", "feeler", "block-relay-only", "addr-fetch". */
const char* ConnectionKindName(ConnectionKind kind);

/** Bits of what a peer may do beyond others (-whitelist, -whitebind). */
enum PeerPermissions : uint32_t {
    kPermitNone = 0,
    kPermitBloomFilter = 1 << 1,
    kPermitRelay = 1 << 3, //!< transactions, in spite of -blocksonly
    kPermitForceRelay = 1 << 2 | kPermitRelay,
    kPermitMempool = 1 << 5,
    kPermitDownload = 1 << 6, //!< blocks, in spite of -maxuploadtarget; headers during download
    kPermitNoBan = 1 << 4 | kPermitDownload, //!< no disconnection for misbehaviour
    kPermitAddr = 1 << 7,
};

/** A connection that was made. */
struct NewPeer {
    PeerId id = -1;
    ConnectionKind kind = ConnectionKind::kInbound;
    Endpoint address;
    Endpoint local;   //!< our end of it
    std::string name; //!< as the user gave it, or the address
    uint32_t permissions = kPermitNone;
    uint64_t services = 0;      //!< what gossip says that it offers
    bool through_proxy = false; //!< its address is not to be told to it
    bool inbound_onion = false; //!< came in by our hidden service

    /** By which it is connected. */
    AddressNetwork Network() const
    {
        return inbound_onion ? AddressNetwork::kOnion : address.address.NetworkClass();
    }
};

/** What went over a connection until now. */
struct PeerTraffic {
    int64_t last_send = 0;    //!< seconds since 1970; 0: nothing yet
    int64_t last_receive = 0; //!< likewise
    uint64_t bytes_sent = 0;
    uint64_t bytes_received = 0;
    TransportInfo transport;
};

class PeerLink {
public:
    virtual ~PeerLink() = default;

    /** Queues a message. What is queued is bounded by who calls: nothing is asked of a peer or
     *  answered while SendPaused(). */
    virtual void Send(PeerId peer, OutgoingMessage message) = 0;
    /** Whether more is queued than -maxsendbuffer. */
    virtual bool SendPaused(PeerId peer) const = 0;
    /** A message that it gave out is done with: its bytes no longer count as received and unread.
     */
    virtual void Consumed(PeerId peer, size_t bytes) = 0;
    /** Closes the connection soon. */
    virtual void Disconnect(PeerId peer) = 0;
    /** Connections from there are not wanted for now. */
    virtual void Discourage(const NetAddress& address) = 0;
    virtual PeerTraffic Traffic(PeerId peer) const = 0;
    /** Whether what is left of -maxuploadtarget suffices for old blocks, too. */
    virtual bool MayUploadHistory() const { return true; }
    /** Whether anything is left of it. */
    virtual bool MayUpload() const { return true; }
    /** The network group of an address: who has one address of it easily has more. */
    virtual Bytes GroupOf(const NetAddress& address) const { return NetGroups().GroupOf(address); }
};

} // namespace ibd
