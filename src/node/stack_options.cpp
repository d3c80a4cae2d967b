// See stack_options.h.
#include "node/stack_options.h"

#include "crypto/random_key.h"

namespace ibd {

namespace {

// Sizes of block files with -fastprune, bytes.
constexpr uint64_t kSmallBlockFile = 64 << 10;
constexpr uint64_t kSmallBlockFileChunk = 16 << 10;

ChainManagerOptions ManagerOptions(Env& env, const NodeOptions& options)
{
    ChainManagerOptions out;
    out.cache_bytes = options.cache.coins;
    out.assume_valid = options.assume_valid;
    out.known_valid = options.known_valid;
    out.minimum_work = options.minimum_work;
    out.threads = 1 + options.prevout_threads;
    out.max_tip_age = options.max_tip_age;
    out.prune_target = options.prune_target;
    out.peers_bring_blocks = options.network.MayHavePeers();
    out.hash_key = RandomKey(env);
    return out;
}

} // namespace

ChainStackOptions StackOptions(Env& env, const NodeOptions& options)
{
    ChainStackOptions out;
    out.manager = ManagerOptions(env, options);
    out.index.cache_bytes = options.cache.index_db;
    out.blocks.obfuscate_new = options.obfuscate_blocks;
    if (options.small_block_files) {
        out.blocks.max_file_size = kSmallBlockFile;
        out.blocks.block_chunk = kSmallBlockFileChunk;
    }
    out.coins.cache_bytes = options.cache.coins_db;
    out.coins.batch_bytes = options.batch_bytes;
    out.index.compact = out.coins.compact = options.compact_databases;
    return out;
}

} // namespace ibd
