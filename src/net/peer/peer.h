// Peer: a connection and the result of its handshake; the state of each topic is in a slot
// (PeerStates). Owned by the PeerSet, one thread. Memory: the unread messages (bounded by
// -maxreceivebuffer), and the slots, whose bounds are those of the topics.
#pragma once

#include "net/peer/peer_info.h"
#include "net/peer/peer_link.h"

#include <deque>
#include <memory>
#include <optional>

namespace ibd {

/** A topic's state of a peer. */
struct PeerSlot {
    virtual ~PeerSlot() = default;
};

struct Peer {
    explicit Peer(NewPeer made) : connection(std::move(made)) {}

    const NewPeer connection;
    PeerId Id() const { return connection.id; }
    bool Is(ConnectionKind kind) const { return connection.kind == kind; }
    bool IsInbound() const { return Is(ConnectionKind::kInbound); }
    /** Whether the connection serves only to send a transaction of a user: other data is neither
     *  sent nor accepted. */
    bool IsPrivate() const { return Is(ConnectionKind::kPrivateBroadcast); }
    /** Whether it is an automatic outbound peer, which a better one may replace. */
    bool IsReplaceable() const
    {
        return Is(ConnectionKind::kOutboundFullRelay) || Is(ConnectionKind::kBlockRelay);
    }
    bool Permits(uint32_t permissions) const
    {
        return (connection.permissions & permissions) == permissions;
    }

    // The connection.
    int64_t connected = 0; //!< seconds since 1970
    bool closing = false;  //!< Disconnect() was called: no message is read or sent any more
    bool misbehaved = false;
    std::deque<ReceivedMessage> unread;
    /** Payload bytes of the message whose requests are being served: they count as unread until
     *  then, for the memory of the requests. */
    std::optional<size_t> serving;

    // The handshake.
    uint64_t our_services = 0;
    bool version_received = false;
    bool established = false; //!< verack received
    int32_t version = 0;
    int32_t common_version = 0; //!< the lower of both versions
    uint64_t services = 0;
    std::string user_agent;
    int32_t start_height = -1;
    bool wtxid_relay = false; //!< transactions are announced by wtxid, in both directions (BIP339)
    bool may_get_txs = false; //!< transactions may be announced to it now or later
    bool wants_txs = false;   //!< announcements are allowed, and it has not declined them
    Endpoint seen_as;         //!< our address as the peer sees it

    bool OffersBlocks() const { return services & (kNodeNetwork | kNodeNetworkLimited); }
    bool IsLimited() const
    {
        return (services & kNodeNetworkLimited) && !(services & kNodeNetwork);
    }
    bool OffersWitnesses() const { return services & kNodeWitness; }
    /** Whether it is preferred for fetching headers and blocks. */
    bool IsPreferredSource() const
    {
        return version_received && (!IsInbound() || Permits(kPermitNoBan)) &&
               !Is(ConnectionKind::kAddrFetch) && !IsPrivate() && OffersBlocks();
    }

    std::vector<std::unique_ptr<PeerSlot>> slots;
};

} // namespace ibd
