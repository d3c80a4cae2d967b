// The properties of a connection, and PeerLink: the interface of the thread of the peers to the
// sockets. Owned by net; implemented by Connections, and by tests without sockets.
#pragma once

#include "net/address/net_groups.h"
#include "net/address/permissions.h"
#include "net/peer/header_sync.h"
#include "net/wire/transport.h"

namespace ibd {

enum class ConnectionKind {
    kInbound,
    kOutboundFullRelay,
    kManual, //!< requested by the user
    kFeeler, //!< tests whether an address is alive
    kBlockRelay,
    kAddrFetch,        //!< short, for addresses only
    kPrivateBroadcast, //!< short, for a transaction of a user (-privatebroadcast)
};
/** "inbound", "outbound-full-relay", "manual", "feeler", "block-relay-only", "addr-fetch",
 *  "private-broadcast". */
const char* ConnectionKindName(ConnectionKind kind);

/** A new connection. */
struct NewPeer {
    PeerId id = -1;
    ConnectionKind kind = ConnectionKind::kInbound;
    Endpoint address;
    Endpoint local;   //!< our end
    std::string name; //!< as the user gave it, or the address
    uint32_t permissions = kPermitNone;
    uint64_t services = 0;      //!< offered services according to gossip
    bool through_proxy = false; //!< do not send it its own address
    bool inbound_onion = false; //!< came through our hidden service

    /** The network of the connection. */
    AddressNetwork Network() const
    {
        return inbound_onion ? AddressNetwork::kOnion : address.address.NetworkClass();
    }
};

/** Traffic of a connection so far. */
struct PeerTraffic {
    int64_t last_send = 0;    //!< seconds since 1970; 0: none yet
    int64_t last_receive = 0; //!< seconds since 1970; 0: none yet
    uint64_t bytes_sent = 0;
    uint64_t bytes_received = 0;
    TransportInfo transport;
};

class PeerLink {
public:
    virtual ~PeerLink() = default;

    /** Queues a message. The caller bounds the queue: no request or answer while SendPaused(). */
    virtual void Send(PeerId peer, OutgoingMessage message) = 0;
    /** Whether more than -maxsendbuffer is queued. */
    virtual bool SendPaused(PeerId peer) const = 0;
    /** A received message was processed: its bytes no longer count as unread. */
    virtual void Consumed(PeerId peer, size_t bytes) = 0;
    /** Closes the connection soon. */
    virtual void Disconnect(PeerId peer) = 0;
    /** Discourages the address (BanList): its connections are then unwanted. */
    virtual void Discourage(const NetAddress& address) = 0;
    virtual PeerTraffic Traffic(PeerId peer) const = 0;
    /** Whether the rest of -maxuploadtarget suffices for old blocks too. */
    virtual bool MayUploadHistory() const { return true; }
    /** Whether anything is left of -maxuploadtarget. */
    virtual bool MayUpload() const { return true; }
    /** The network group of an address: an operator with one address of a group can easily get more
     *  of them. */
    virtual Bytes GroupOf(const NetAddress& address) const { return NetGroups().GroupOf(address); }
};

} // namespace ibd
