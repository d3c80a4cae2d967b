// See options.h.
#include "node/options.h"
#include "mempool/pool_config.h"
#include "net/option_rows.h"
#include "node/option_table.h"
#include "node/start_checks.h"
#include "util/hex.h"
#include "util/strings.h"
#include "zmq/option_rows.h"

#include <algorithm>
#include <thread>

namespace ibd {

namespace {

constexpr int64_t kDefaultDbCache = 450;      //!< MiB
constexpr int64_t kLargeDbCache = 1024;       //!< MiB, with kLargeMemory at least
constexpr uint64_t kLargeMemory = 4ull << 30; //!< bytes
constexpr int64_t kMinDbCache = 4;            //!< MiB
constexpr size_t kMaxIndexCache = 1 << 30;    //!< bytes, of each index that is switched on
constexpr size_t kMaxIndexDbCache = 2 << 20;  //!< bytes
constexpr size_t kMaxCoinsDbCache = 8 << 20;  //!< bytes
constexpr int kMaxScriptThreads = 16;
constexpr const char* kReindexIfDamaged = "reindex_after_failure_noninteractive_yes";

int64_t DbCacheMebibytes(const ArgsManager& args, uint64_t machine_memory)
{
    const int64_t usual = machine_memory >= kLargeMemory ? kLargeDbCache : kDefaultDbCache;
    return std::min(args.GetInt("-dbcache", usual), std::numeric_limits<int64_t>::max() >> 20);
}

/** Gives the databases of indexes their shares, as Core does; the rest is for the chain. */
CacheSizes DivideCache(int64_t mebibytes, IndexOptions& indexes)
{
    size_t total = static_cast<size_t>(std::max(mebibytes, kMinDbCache)) << 20;
    if (indexes.tx) indexes.tx_cache = std::min(total / 10, kMaxIndexCache);
    if (indexes.spenders) indexes.spender_cache = std::min(total / 20, kMaxIndexCache);
    if (indexes.filters) indexes.filter_cache = std::min(total / 20, kMaxIndexCache);
    total -= indexes.tx_cache + indexes.spender_cache + indexes.filter_cache;
    CacheSizes sizes;
    sizes.index_db = std::min(total / 8, kMaxIndexDbCache);
    sizes.coins_db = std::min((total - sizes.index_db) / 2, kMaxCoinsDbCache);
    sizes.coins = total - sizes.index_db - sizes.coins_db;
    return sizes;
}

unsigned ScriptThreads(int64_t par)
{
    const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    if (par <= 0) par += cores;
    return static_cast<unsigned>(std::clamp<int64_t>(par, 1, kMaxScriptThreads));
}

/** Up to 64 hex digits (checked by CheckParameters()), as 64 without 0x. */
std::string FullHex(std::string_view text)
{
    if (text.starts_with("0x")) text.remove_prefix(2);
    return std::string(64 - std::min<size_t>(text.size(), 64), '0') + std::string(text);
}

Result<> ReadTrust(const ArgsManager& args, const ChainParams& params, NodeOptions& out)
{
    out.assume_valid = params.consensus.assume_valid;
    if (const auto text = args.Get("-assumevalid")) {
        const auto hash = BlockHash::FromHex(FullHex(*text));
        if (!hash) return BadData("-assumevalid={}: no hash", *text);
        out.assume_valid = *hash;
    }
    // With -assumevalid=0 the built-in block stays known as valid.
    const bool names_none = out.assume_valid.IsNull();
    out.known_valid = names_none ? params.consensus.assume_valid : out.assume_valid;
    out.minimum_work = params.consensus.minimum_chain_work;
    if (const auto text = args.Get("-minimumchainwork")) {
        const auto work = Arith256::FromHex(FullHex(*text));
        if (!work) return BadData("-minimumchainwork={}: no number", *text);
        out.minimum_work = *work;
    }
    return {};
}

} // namespace

std::vector<NodeTopic> NodeTopics()
{
    std::vector<NodeTopic> all;
    for (const auto& topics : {GeneralTopics(), BoosterTopics(), DebugTopics(), PolicyTopics()}) {
        all.insert(all.end(), topics.begin(), topics.end());
    }
    return all;
}

void AddNodeOptions(ArgsManager& args)
{
    for (const NodeTopic& topic : NodeTopics()) AddRows(args, topic);
    for (const PeerOptionTopic& topic : PeerOptionTopics()) AddRows(args, topic);
    AddRows(args, ZmqOptionRows());
    AddLogOptions(args);
    AddHiddenNames(args);
}

Path LogPath(const ArgsManager& args, const Path& net_dir)
{
    return net_dir / args.GetPath("-debuglogfile", "debug.log");
}

namespace {

Result<> ReadSignetOptions(const ArgsManager& args, NetworkOptions& options)
{
    const std::vector<std::string> challenges = args.GetAll("-signetchallenge");
    if (challenges.size() > 1) return BadData("-signetchallenge cannot be multiple values.");
    if (!challenges.empty()) {
        const auto script = FromHex(challenges[0]);
        if (!script) return BadData("-signetchallenge must be hex, not '{}'.", challenges[0]);
        options.signet_challenge = *script;
    }
    if (args.IsSet("-signetseednode")) options.dns_seeds = args.GetAll("-signetseednode");
    return {};
}

Result<> ReadDeployments(const ArgsManager& args, NetworkOptions& options)
{
    for (const std::string& value : args.GetAll("-testactivationheight")) {
        IBD_RETURN_IF_ERROR(ParseTestActivationHeight(value, options));
    }
    for (const std::string& value : args.GetAll("-vbparams")) {
        IBD_RETURN_IF_ERROR(ParseVersionBitsParameters(value, options));
    }
    return {};
}

void ReadRegtestOptions(const ArgsManager& args, NetworkOptions& options)
{
    const std::vector<std::string> tests = args.GetAll("-test");
    options.enforce_bip94 = std::find(tests.begin(), tests.end(), "bip94") != tests.end();
    options.fast_prune = args.GetBool("-fastprune", false);
}

} // namespace

Result<ChainParams> ReadChainParams(const ArgsManager& args, const std::string& chain)
{
    const auto network = NetworkFromName(chain);
    CHECK(network);
    NetworkOptions options;
    if (*network == Network::kSignet) IBD_RETURN_IF_ERROR(ReadSignetOptions(args, options));
    if (*network == Network::kRegtest) ReadRegtestOptions(args, options);
    IBD_RETURN_IF_ERROR(ReadDeployments(args, options));
    IBD_RETURN_IF_ERROR(ReadAssumeutxo(args, *network, options));
    return MakeChainParams(*network, options);
}

namespace {

/** Bytes; the value passed CheckParameters(). */
uint64_t PruneTarget(const ArgsManager& args)
{
    const auto mebibytes = static_cast<uint64_t>(args.GetInt("-prune", 0));
    if (mebibytes == 1) return kManualPruning;
    return mebibytes << 20;
}

} // namespace

Result<NodeOptions> ReadNodeOptions(const ArgsManager& args, const ChainParams& params,
                                    const Path& net_dir, uint64_t machine_memory)
{
    NodeOptions out;
    out.booster.threads = std::max(1u, std::thread::hardware_concurrency());
    for (const NodeTopic& topic : NodeTopics()) {
        IBD_RETURN_IF_ERROR(ReadRows(args, topic.rows, out));
    }
    IBD_ASSIGN_OR_RETURN(out.indexes.filters, WantsFilterIndex(args));
    out.cache = DivideCache(DbCacheMebibytes(args, machine_memory), out.indexes);
    out.script_threads = ScriptThreads(args.GetInt("-par", 0));
    const std::vector<std::string> tests = args.GetAll("-test");
    out.reindex_if_damaged = std::ranges::find(tests, kReindexIfDamaged) != tests.end();
    out.reindex_chainstate = out.reindex || out.reindex_chainstate;
    out.prune_target = PruneTarget(args);
    if (args.IsSet("-blocksdir")) {
        out.blocks_dir = std::filesystem::absolute(args.GetPath("-blocksdir", {}));
    }
    for (const std::string& file : args.GetAll("-loadblock")) {
        // An empty name is reported when it is opened.
        out.load_blocks.push_back(file.empty() ? Path() : std::filesystem::absolute(file));
    }
    IBD_ASSIGN_OR_RETURN(out.zmq, ReadZmqOptions(args));
    ReadPolicy(args, out.policy);
    out.pool.incremental_fee = out.policy.incremental_fee;
    ReadAmount(args, "-blockmintxfee", out.assembler.min_fee_rate);
    IBD_RETURN_IF_ERROR(ReadTrust(args, params, out));
    IBD_RETURN_IF_ERROR(ReadBoosterOptions(args, params, net_dir, out));
    return out;
}

// Memory left for the system and other programs, as Core computes it.
std::string DbCacheWarning(const ArgsManager& args, uint64_t machine_memory)
{
    constexpr uint64_t kReserved = 2ull << 30; //!< bytes
    const int64_t mebibytes = std::max(DbCacheMebibytes(args, machine_memory), kMinDbCache);
    const uint64_t available = machine_memory > kReserved ? machine_memory - kReserved : 0;
    const uint64_t most = std::max<uint64_t>(kDefaultDbCache << 20, available / 4 * 3);
    if (machine_memory == 0 || static_cast<uint64_t>(mebibytes) << 20 <= most) return {};
    return fmt::format("A {} MiB dbcache may be too large for a system memory of only {} MiB.",
                       mebibytes, machine_memory >> 20);
}

} // namespace ibd
