// Peer: all that the node remembers of one connection, and PeerInfo: what it tells of it. Owned by
// the PeerManager, one thread. Memory: kMaxInventory requests, kMaxAnnouncements hashes, the
// addresses of Gossip (below a megabyte), the
// messages that are received and unread (bounded by who hands them over, -maxreceivebuffer), a
// HeaderSync and a BloomFilter at most.
#pragma once

#include "net/bloom_filter.h"
#include "net/hints_messages.h"
#include "net/peer_link.h"
#include "net/rolling_set.h"
#include "net/spoilt_blocks.h"

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
    /** Chosen by us, so that it may be replaced by a better one. */
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
    bool closing = false;  //!< Disconnect() was called: nothing more is read or sent
    bool misbehaved = false;
    std::deque<ReceivedMessage> unread;

    // Handshake.
    uint64_t our_nonce = 0;
    uint64_t our_services = 0;
    bool version_received = false;
    bool established = false; //!< verack received
    int32_t version = 0;
    int32_t common_version = 0; //!< the lower of both
    uint64_t services = 0;
    std::string user_agent;
    int32_t start_height = -1;
    bool wants_txs = false;
    Endpoint seen_as;        //!< our address as the peer sees it
    int64_t time_offset = 0; //!< seconds that its clock is ahead
    bool wtxid_relay = false;
    bool wants_addrv2 = false;
    bool getaddr_received = false;
    bool prefers_headers = false;
    bool sendheaders_sent = false;
    bool provides_compact = false;            //!< compact blocks may be asked of it
    bool wants_compact_announcements = false; //!< it asked for them
    bool announces_compact = false;           //!< we asked it to
    int64_t fee_filter = 0;                   //!< satoshi per 1,000 virtual bytes

    /** Of addresses; times in microseconds. */
    struct Gossip {
        static constexpr size_t kKnown = 5'000; //!< addresses that it surely is not told twice

        std::optional<RollingSet> known; //!< what it told and was told; none: it does not take part
        std::vector<PeerAddress> to_send; //!< at most kMaxAddresses
        bool asked = false;               //!< it was sent a getaddr, and the answer is not complete
        double tokens = 1;                //!< so many it may tell now
        int64_t tokens_at = 0;
        int64_t next_send = 0;
        int64_t next_self = 0; //!< when it is told of us; 0: it was not yet
        uint64_t processed = 0;
        uint64_t limited = 0;
    } gossip;

    /** Hints for it or from it. */
    struct Hints {
        bool asked = false;             //!< it was told that we want some
        bool offered = false;           //!< it has said what it has
        bool wanted = false;            //!< it wants some
        uint64_t quota = 0;             //!< bytes that it may still be sent
        std::deque<HintsPart> requests; //!< at most kMaxHintsRequests
    } hints;

    // Pings; microseconds.
    uint64_t ping_nonce = 0; //!< of the one under way; 0: none
    int64_t ping_sent = 0;
    int64_t ping_time = -1;     //!< -1: not known yet
    int64_t ping_shortest = -1; //!< likewise
    bool ping_wanted = false;   //!< by the user

    // Headers.
    std::unique_ptr<HeaderSync> header_sync;
    bool sync_started = false;
    bool inv_asked_headers = false;         //!< an inv made us ask for headers before sync_started
    int64_t getheaders_sent = 0;            //!< microseconds; 0: none is under way
    bool headers_told = false;              //!< its last answer was not full: there are no more
    int64_t headers_timeout = 0;            //!< microseconds; kNever: caught up once
    const HeaderNode* best_known = nullptr; //!< most work that it is known to have
    BlockHash last_unknown;                 //!< announced, and not known to us
    const HeaderNode* best_sent = nullptr;  //!< last header that it got from us
    bool was_compared = false; //!< it once had a chain as good as ours to fetch blocks from
    /** It must show a chain as good as ours in time, or is replaced. */
    struct ChainCheck {
        int64_t timeout = 0; //!< seconds since 1970; 0: none set
        const HeaderNode* benchmark = nullptr;
        bool asked = false;
        bool is_protected = false;
    } chain_check;

    // Blocks.
    /** Never null. A peer that the user named shares them with those that were at its address
     *  before. */
    std::shared_ptr<SpoiltBlocks> spoilt = std::make_shared<SpoiltBlocks>();
    bool preferred_download = false;
    int64_t last_announcement = 0;      //!< seconds since 1970, of a header above our tip
    int64_t last_block = 0;             //!< seconds since 1970, when it brought one; 0: never
    bool awaits_verdict = false;        //!< the sink may be at work on a block of it
    std::deque<InventoryItem> requests; //!< of its getdata, still to be served
    std::deque<const HeaderNode*> to_announce;
    std::vector<BlockHash> to_inv;
    std::optional<BloomFilter> bloom; //!< of the transactions that it wants to see (BIP37)
    BlockHash continuation; //!< last of a getblocks answer: when it is fetched, more is offered

    bool OffersBlocks() const { return services & (kNodeNetwork | kNodeNetworkLimited); }
    bool IsLimited() const
    {
        return (services & kNodeNetworkLimited) && !(services & kNodeNetwork);
    }
    bool OffersWitnesses() const { return services & kNodeWitness; }
};

/** What `getpeerinfo` shows, as values. Times in seconds since 1970, pings in microseconds. */
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
    bool bloom_filter = false; //!< it has given one
    bool established = false;
    Endpoint seen_as;
    int64_t time_offset = 0;
    int64_t ping_time = -1;     //!< -1: not known yet
    int64_t ping_shortest = -1; //!< likewise
    int64_t ping_wait = -1;     //!< of the one under way; -1: none
    int64_t fee_filter = 0;
    bool compact_from = false; //!< it asked for announcements by compact block
    int64_t presynced_headers = -1;
    int32_t synced_headers = -1;
    int32_t synced_blocks = -1;
    std::vector<int32_t> in_flight; //!< heights
    int64_t last_block = 0;         //!< when it last brought one that was wanted; 0: never
    int64_t last_transaction = 0;   //!< likewise of transactions
    uint64_t last_inventory = 0;    //!< of the pool when it was last told of transactions
    size_t to_announce = 0;         //!< transactions that it is still to be told of
    bool compact_to = false;        //!< we asked it for announcements by compact block
    bool has_desirable_services = false;
    // Gossip of addresses.
    bool relays_addresses = false;
    uint64_t addresses_processed = 0;
    uint64_t addresses_limited = 0; //!< dropped, as they were too many
    // Filled in by PeerNetwork.
    std::map<std::string, uint64_t> sent_by_type;     //!< bytes
    std::map<std::string, uint64_t> received_by_type; //!< likewise
    uint32_t mapped_as = 0;                           //!< 0: not known
};

} // namespace ibd
