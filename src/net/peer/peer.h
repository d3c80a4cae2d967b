// Peer: the node's state of one connection; PeerInfo: the part shown to users. Owned by the
// PeerManager, one thread. Memory: at most kMaxInventory requests, kMaxAnnouncements hashes, the
// addresses of Gossip (below 1 MB), the unread messages (bounded by -maxreceivebuffer), a
// HeaderSync and a BloomFilter.
#pragma once

#include "net/address/rolling_set.h"
#include "net/peer/peer_link.h"
#include "net/peer/spoilt_blocks.h"
#include "net/wire/bloom_filter.h"
#include "net/wire/hints_messages.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace ibd {

struct Peer {
    explicit Peer(NewPeer made) : connection(std::move(made)) {}

    const NewPeer connection;
    PeerId Id() const { return connection.id; }
    bool Is(ConnectionKind kind) const { return connection.kind == kind; }
    bool IsInbound() const { return Is(ConnectionKind::kInbound); }
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

    // Handshake.
    uint64_t our_nonce = 0;
    uint64_t our_services = 0;
    bool version_received = false;
    bool established = false; //!< verack received
    int32_t version = 0;
    int32_t common_version = 0; //!< the lower of both versions
    uint64_t services = 0;
    std::string user_agent;
    int32_t start_height = -1;
    bool wants_txs = false;
    Endpoint seen_as;        //!< our address as the peer sees it
    int64_t time_offset = 0; //!< seconds that its clock is ahead of ours
    bool wtxid_relay = false;
    bool wants_addrv2 = false;
    bool getaddr_received = false;
    bool prefers_headers = false;
    bool sendheaders_sent = false;
    bool provides_compact = false;            //!< it supports compact blocks
    bool wants_compact_announcements = false; //!< it requested announcements by compact block
    bool announces_compact = false;           //!< we requested announcements by compact block
    int64_t fee_filter = 0;                   //!< satoshi per 1,000 virtual bytes

    /** Address gossip; times in microseconds. */
    struct Gossip {
        static constexpr size_t kKnown = 5'000; //!< addresses that are certainly not sent to it
                                                //!< again

        std::optional<RollingSet> known; //!< addresses it sent or received; nothing: no gossip with
                                         //!< it
        std::vector<PeerAddress> to_send; //!< at most kMaxAddresses
        bool asked = false;               //!< a getaddr was sent, and its answer is incomplete
        double tokens = 1;                //!< number of addresses that it may send now
        int64_t tokens_at = 0;
        int64_t next_send = 0;
        int64_t next_self = 0; //!< next announcement of our address; 0: none was sent
        uint64_t processed = 0;
        uint64_t limited = 0;
    } gossip;

    /** Hints for it or from it. */
    struct Hints {
        bool asked = false;             //!< we announced that we want hints
        bool offered = false;           //!< it has sent its offers
        bool wanted = false;            //!< it wants hints
        uint64_t quota = 0;             //!< bytes that it may still receive
        std::deque<HintsPart> requests; //!< at most kMaxHintsRequests
    } hints;

    // Pings; microseconds.
    uint64_t ping_nonce = 0; //!< of the pending ping; 0: none
    int64_t ping_sent = 0;
    int64_t ping_time = -1;     //!< -1: unknown
    int64_t ping_shortest = -1; //!< -1: unknown
    bool ping_wanted = false;   //!< requested by the user

    // Headers.
    std::unique_ptr<HeaderSync> header_sync;
    bool sync_started = false;
    bool asked_for_best = false;            //!< whether it has our best header's chain
    bool inv_asked_headers = false;         //!< an inv caused a getheaders before sync_started
    int64_t getheaders_sent = 0;            //!< microseconds; 0: none is pending
    bool headers_told = false;              //!< its last answer was not full: it has no more
                                            //!< headers
    int64_t headers_timeout = 0;            //!< microseconds; kNever: it caught up once
    const HeaderNode* best_known = nullptr; //!< greatest work that it is known to have
    BlockHash last_unknown;                 //!< announced block that we do not know
    const HeaderNode* best_sent = nullptr;  //!< last header that we sent to it
    bool was_compared = false; //!< it once had a chain as good as ours, to fetch blocks from
    /** The deadline for showing a chain as good as ours, after which it is replaced. */
    struct ChainCheck {
        int64_t timeout = 0; //!< seconds since 1970; 0: no deadline
        const HeaderNode* benchmark = nullptr;
        bool asked = false;
        bool is_protected = false;
    } chain_check;

    // Blocks.
    /** Never null. A peer named by the user shares it with earlier peers at its address. */
    std::shared_ptr<SpoiltBlocks> spoilt = std::make_shared<SpoiltBlocks>();
    bool preferred_download = false;
    int64_t last_announcement = 0;      //!< seconds since 1970, of its last header above our tip
    int64_t last_block = 0;             //!< seconds since 1970, of its last block; 0: never
    bool awaits_verdict = false;        //!< the sink may be processing one of its blocks
    std::deque<InventoryItem> requests; //!< of its getdata, not served yet
    std::deque<const HeaderNode*> to_announce;
    std::vector<BlockHash> to_inv;
    std::optional<BloomFilter> bloom; //!< for the transactions that it wants (BIP37)
    BlockHash continuation; //!< last block of a getblocks answer: when it is fetched, more are
                            //!< offered

    bool OffersBlocks() const { return services & (kNodeNetwork | kNodeNetworkLimited); }
    bool IsLimited() const
    {
        return (services & kNodeNetworkLimited) && !(services & kNodeNetwork);
    }
    bool OffersWitnesses() const { return services & kNodeWitness; }
};

/** The data of `getpeerinfo`, as values. Times in seconds since 1970, pings in microseconds. */
struct PeerInfo {
    NewPeer connection;
    PeerTraffic traffic;
    int64_t connected = 0;
    uint64_t services = 0;
    uint64_t our_services = 0;
    int32_t version = 0;
    std::string user_agent;
    int32_t start_height = -1;
    bool relays_txs = false;
    bool bloom_filter = false; //!< it has sent one
    bool established = false;
    Endpoint seen_as;
    int64_t time_offset = 0;
    int64_t ping_time = -1;     //!< -1: unknown
    int64_t ping_shortest = -1; //!< -1: unknown
    int64_t ping_wait = -1;     //!< of the pending ping; -1: none
    int64_t fee_filter = 0;
    bool compact_from = false; //!< it requested announcements by compact block
    int64_t presynced_headers = -1;
    int32_t synced_headers = -1;
    int32_t synced_blocks = -1;
    std::vector<int32_t> in_flight; //!< heights
    int64_t last_block = 0;         //!< time of its last wanted block; 0: never
    int64_t last_transaction = 0;   //!< time of its last wanted transaction; 0: never
    uint64_t last_inventory = 0;    //!< sequence number of the pool at the last announcement of
                                    //!< transactions
    size_t to_announce = 0;         //!< transactions still to be announced to it
    bool compact_to = false;        //!< we requested announcements by compact block
    bool has_desirable_services = false;
    // Address gossip.
    bool relays_addresses = false;
    uint64_t addresses_processed = 0;
    uint64_t addresses_limited = 0; //!< dropped by the rate limit
    // Filled in by PeerNetwork.
    std::map<std::string, uint64_t> sent_by_type;     //!< bytes
    std::map<std::string, uint64_t> received_by_type; //!< bytes
    uint32_t mapped_as = 0;                           //!< 0: unknown
};

} // namespace ibd
