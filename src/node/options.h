// NodeOptions: the options of the node from command line and bitcoin.conf, read and checked once.
#pragma once

#include "booster/hints_choice.h"
#include "booster/own_hints.h"
#include "consensus/params.h"
#include "mempool/policy.h"
#include "mempool/tx_pool.h"
#include "mining/block_assembler.h"
#include "net/network_options.h"
#include "swiftsync/engine.h"
#include "util/args.h"
#include "util/config.h"

namespace ibd {

/** All options of bitcoind, except those of RPC and AddCommonOptions(). */
void AddNodeOptions(ArgsManager& args);

/** The division of -dbcache, in bytes. */
struct CacheSizes {
    size_t index_db = 0;
    size_t coins_db = 0;
    size_t coins = 0; //!< CoinsCache
};

/** When to make undo data of blocks that the booster folded. */
enum class UndoWhen {
    kOff,
    kBackground, //!< while the node is in use
    kNow,        //!< before
};

struct NodeOptions {
    CacheSizes cache;
    size_t batch_bytes = 0;                  //!< -dbbatchsize
    bool compact_databases = false;          //!< -forcecompactdb: once, when they are opened
    unsigned script_threads = 1;             //!< -par, resolved
    unsigned prevout_threads = 0;            //!< -prevoutfetchthreads, 0: no reading ahead
    size_t signature_cache_bytes = 32 << 20; //!< -maxsigcachesize, both caches together
    int64_t max_tip_age = 24 * 60 * 60;      //!< -maxtipage, seconds
    BlockHash assume_valid;
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
    std::vector<Path> load_blocks;
    HintsChoice hints;
    OwnHintsOptions own_hints;
    UndoWhen undo = UndoWhen::kOff; //!< -ibdboosterundo
    bool serve_hints = true;          //!< -servehints
    int64_t hints_wait_seconds = 60;  //!< -ibdboosterwait
    BoosterOptions booster;           //!< without `chainstate`
    int booster_peers = 2;            //!< -ibdboosterpeers
    PolicyOptions policy;
    PoolLimits pool;
    AssemblerOptions assembler;
    PeerNetworkOptions network; //!< read separately (network_config.h)
    std::string alert_notify;
    std::string block_notify;
    std::string startup_notify;
    std::vector<std::string> shutdown_notify;
    bool reindex_if_damaged = false; //!< -test: rebuild without asking the user
};

/** Path of the log file. */
Path LogPath(const ArgsManager& args, const Path& net_dir);

/** The parameters of the chosen network, modified by options. */
Result<ChainParams> ReadChainParams(const ArgsManager& args, const std::string& chain);

/** Reads options that passed CheckParameters(). Errors name the option and the allowed values.
 *  `net_dir`: folder of the network; `machine_memory`: bytes, for the default of -dbcache. */
Result<NodeOptions> ReadNodeOptions(const ArgsManager& args, const ChainParams& params,
                                    const Path& net_dir, uint64_t machine_memory);
/** "A 9000 MiB dbcache may be too large for a system memory of only 8000 MiB.", or nothing. */
std::string DbCacheWarning(const ArgsManager& args, uint64_t machine_memory);

} // namespace ibd
