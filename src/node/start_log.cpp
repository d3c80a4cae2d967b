// See start_log.h.
#include "node/start_log.h"

#include "consensus/params_deployments.h"
#include "mempool/pool_config.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

constexpr int64_t kMegabyte = 1'000'000;
constexpr int64_t kDefaultClusterKvb = 101; //!< -limitclustersize
constexpr int64_t kLeastClusters = 40;      //!< clusters of the largest size that the pool must
                                            //!< hold

/** The bytes, limited to the range of the type. */
int64_t BytesOf(int64_t count, int64_t unit)
{
    const int64_t most = std::numeric_limits<int64_t>::max() / unit;
    return std::clamp(count, -most, most) * unit;
}

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

} // namespace

void LogDeployments(const ArgsManager& args, Logger& log)
{
    NetworkOptions given;
    for (const std::string& value : args.GetAll("-vbparams")) {
        CHECK(ParseVersionBitsParameters(value, given));
    }
    for (const VersionBitsOption& option : given.version_bits) {
        log.Info("Setting version bits activation parameters for {} to start={}, timeout={}, "
                 "min_activation_height={}",
                 DeploymentName(option.deployment), option.start_time, option.timeout,
                 option.min_activation_height);
    }
}

void LogRelayFee(const ArgsManager& args, const PolicyOptions& policy, Logger& log)
{
    if (args.IsSet("-minrelaytxfee") || policy.min_relay_fee == PolicyOptions().min_relay_fee) {
        return;
    }
    log.Info("Increasing minrelaytxfee to {} BTC/kvB to match incrementalrelayfee",
             FormatAmount(policy.min_relay_fee));
}

Result<> LogCaches(const ArgsManager& args, const NodeOptions& options, Logger& log)
{
    const auto tell = [&log](size_t bytes, const char* what) {
        log.Info("* Using {:.1f} MiB for {} database", Mebibytes(static_cast<int64_t>(bytes)),
                 what);
    };
    const CacheSizes& cache = options.cache;
    const IndexOptions& indexes = options.indexes;
    log.Info("Cache configuration:");
    tell(cache.index_db, "block index");
    if (indexes.tx) tell(indexes.tx_cache, "transaction index");
    if (indexes.spenders) tell(indexes.spender_cache, "transaction output spender index");
    if (indexes.filters) tell(indexes.filter_cache, "basic block filter index");
    tell(cache.coins_db, "chain state");
    const int64_t pool = BytesOf(args.GetInt("-maxmempool", 300), kMegabyte);
    const int64_t least =
        BytesOf(args.GetInt("-limitclustersize", kDefaultClusterKvb), 1'000 * kLeastClusters);
    if (pool < 0 || (pool > 0 && pool < least)) {
        return BadData("-maxmempool must be at least {} MB",
                       least / kMegabyte + (least % kMegabyte > 0));
    }
    // No part of the pool's memory is lent to the cache.
    log.Info("* Using {:.1f} MiB for in-memory UTXO set (plus up to {:.1f} MiB of unused mempool "
             "space)",
             Mebibytes(static_cast<int64_t>(cache.coins)), 0.0);
    return {};
}

void LogTrust(const NodeOptions& options, const ChainParams& params, Logger& log)
{
    if (params.consensus.signet_blocks) {
        log.Info("Signet with challenge {}", ToHex(params.consensus.signet_challenge));
    }
    if (options.assume_valid.IsNull()) {
        log.Info("Validating signatures for all blocks.");
    } else {
        log.Info("Assuming ancestors of block {} have valid signatures.",
                 options.assume_valid.ToHex());
    }
    log.Info("Setting nMinimumChainWork={}", options.minimum_work.ToHex());
    const Arith256& usual = params.consensus.minimum_chain_work;
    if (options.minimum_work < usual) {
        log.Warning("nMinimumChainWork set below default value of {}", usual.ToHex());
    }
    if (options.prune_target == kManualPruning) {
        log.Info("Block pruning enabled. Use RPC call pruneblockchain(height) to manually prune "
                 "block and undo files.");
    } else if (options.prune_target != 0) {
        log.Info("Prune configured to target {} MiB on disk for block and undo files.",
                 options.prune_target >> 20);
    }
}

void LogChain(const ChainView& chain, Logger& log)
{
    const HeaderNode* const tip = chain.Tip();
    log.Info("block tree size = {}", chain.Read().Tree().Size());
    log.Info("nBestHeight = {}", tip == nullptr ? -1 : tip->height);
}

} // namespace ibd
