// NodeOptions: the options of the node as values. Read by node/options.h, once.
#pragma once

#include "booster/hints_choice.h"
#include "booster/own_hints.h"
#include "consensus/params.h"
#include "index/index_options.h"
#include "mempool/policy.h"
#include "mempool/tx_pool.h"
#include "mining/block_assembler.h"
#include "net/network_options.h"
#include "swiftsync/engine.h"
#include "util/env.h"
#include "zmq/options.h"

namespace ibd {

/** The division of -dbcache, in bytes. */
struct CacheSizes {
    size_t index_db = 0;
    size_t coins_db = 0;
    size_t coins = 0; //!< CoinsCache
};

struct NodeOptions {
    CacheSizes cache;
    size_t batch_bytes = 32 << 20;           //!< -dbbatchsize
    bool compact_databases = false;          //!< -forcecompactdb: once, when they are opened
    unsigned script_threads = 1;             //!< -par, resolved
    unsigned prevout_threads = 8;            //!< -prevoutfetchthreads, 0: no reading ahead
    size_t signature_cache_bytes = 32 << 20; //!< -maxsigcachesize, both caches together
    int64_t max_tip_age = 24 * 60 * 60;      //!< -maxtipage, seconds
    BlockHash assume_valid;
    BlockHash known_valid; //!< see ChainManagerOptions
    Arith256 minimum_work;
    bool reindex = false;
    bool reindex_chainstate = false; //!< also set with -reindex
    int check_blocks = 6;
    int check_level = 3;
    int stop_at_height = 0; //!< 0: never
    bool stop_after_import = false;
    bool obfuscate_blocks = true;
    bool small_block_files = false;            //!< -fastprune
    uint64_t prune_target = 0;                 //!< bytes (-prune); see ChainManagerOptions
    std::atomic<int64_t>* mock_time = nullptr; //!< set by setmocktime
    std::optional<Path> blocks_dir;
    Path chainstate_dir; //!< empty: the data directory
    Path index_dir;      //!< the same
    std::vector<Path> load_blocks;
    HintsChoice hints;
    OwnHintsOptions own_hints;        //!< -ibdbooster, -ibdboosterundo
    bool serve_hints = true;          //!< -servehints
    int64_t hints_wait_seconds = 60;  //!< -ibdboosterwait
    BoosterOptions booster;           //!< without `chainstate`
    int booster_peers = 2;            //!< -ibdboosterpeers
    PolicyOptions policy;
    PoolLimits pool;
    bool accept_old_fees = false; //!< -acceptstalefeeestimates
    bool persist_pool = true;     //!< -persistmempool
    bool persist_pool_v1 = false; //!< -persistmempoolv1
    AssemblerOptions assembler;
    PeerNetworkOptions network; //!< read separately (network_config.h)
    std::string alert_notify;
    std::string block_notify;
    std::string startup_notify;
    std::vector<std::string> shutdown_notify;
    IndexOptions indexes;
    ZmqOptions zmq;                  //!< -zmqpub...
    bool reindex_if_damaged = false; //!< -test: rebuild without asking the user
};

} // namespace ibd
