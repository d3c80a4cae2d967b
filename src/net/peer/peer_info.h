// PeerInfo: the data about a connection that users see. A value.
#pragma once

#include "net/peer/peer_link.h"

#include <map>

namespace ibd {

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
    bool sends_spent_coins = false; //!< the coins that a block spends (BIP455)
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
