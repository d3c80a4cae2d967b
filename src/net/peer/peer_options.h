// PeerOptions: the checked options about the protocol with peers. Values.
#pragma once

#include "net/address/services.h"
#include "primitives/arith256.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ibd {

struct PeerOptions {
    uint64_t services = kNodeNetwork | kNodeWitness | kNodeNetworkLimited | kNodeP2pV2;
    std::string user_agent;
    Arith256 minimum_work;          //!< least work of a chain to download (-minimumchainwork)
    bool blocks_only = false;       //!< transactions from peers are a violation (-blocksonly)
    bool reconciles = false;        //!< -txreconciliation
    size_t extra_txs = 100;         //!< number kept for compact blocks
                                    //!< (-blockreconstructionextratxn)
    bool log_addresses = false;     //!< -logips
    int64_t handshake_seconds = 60; //!< -peertimeout
    bool prune_mode = false;
    bool serve_spent_coins = false; //!< -peerspentcoins
    int pack_level = 0;             //!< of zstd; 0: nothing is packed (-blockcompression)
    int64_t pack_percent = 25;      //!< of a core, to pack (-blockcompressioncpu)
    bool pack_anonymously = false;  //!< also by Tor, I2P, proxies (-blockcompressionprivacy)
    // Slots of automatic outbound peers.
    size_t max_full_relay = 8;
    size_t max_block_relay = 2;
    bool may_want_more = true; //!< one more peer may be connected when the tip is stale
};

} // namespace ibd
