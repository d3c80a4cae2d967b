// See option_table.h. Options for tests and the log.
#include "node/option_table.h"
#include "util/log_file.h"

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;
constexpr unsigned kHidden = OptionSpec::kHidden;
constexpr unsigned kNoEffect = OptionSpec::kNoEffect;

constexpr int64_t kMaxSignatureCache = 16 << 10; //!< MiB

constexpr OptionRow<NodeOptions> kDebug[] = {
    {"-acceptstalefeeestimates", "", "Use old fee estimates; regtest only", kHidden,
     kFlag<&NodeOptions::accept_old_fees>},
    {"-assumeutxo", "=<height>:<hash>:<txcount>",
     "On test networks: loadtxoutset also accepts a snapshot of a block of this height, whose "
     "coins have this hash (hash_serialized_3) and whose chain has this number of transactions up "
     "to the block. May be given several times",
     kHidden},
    {"-checkblockindex", "", "Check the block index regularly; no effect in this version",
     kHidden | kNoEffect},
    {"-checkblocks", "=<n>", "Blocks to check at start; 0 is all (default: 6)", kHidden,
     kClamped<&NodeOptions::check_blocks>.From(INT32_MIN, INT32_MAX)},
    {"-checklevel", "=<n>",
     "Depth of the check of -checkblocks. 0: read blocks, 1: rules of a block by itself, 2: undo "
     "data, 3: disconnect in memory, 4: connect again (default: 3)",
     kHidden, kClamped<&NodeOptions::check_level>.From(INT32_MIN, INT32_MAX)},
    {"-checkmempool", "=<n>", "Check the pool regularly; no effect in this version",
     kHidden | kNoEffect},
    {"-debugexclude", "=<category>", "Do not log this category; takes precedence over -debug"},
    {"-fastprune", "", "Small block files (regtest)", kHidden,
     kFlag<&NodeOptions::small_block_files>},
    {"-help-debug", "", "Print all options, those for developers included, and exit"},
    {"-limitancestorcount", "=<n>", "No effect in this version", kHidden | kNoEffect},
    {"-limitclustercount", "=<n>",
     "Maximum number of transactions in a cluster (default: 64, at "
     "most 64)",
     kHidden, kClamped<&NodeOptions::pool, &PoolLimits::cluster_count>.From(0, UINT32_MAX)},
    {"-limitclustersize", "=<n>", "Maximum size of a cluster, kvB (default: 101)", kHidden,
     kClamped<&NodeOptions::pool, &PoolLimits::cluster_vsize>.From(0, UINT32_MAX, "", 1000)},
    {"-limitdescendantcount", "=<n>", "No effect in this version", kHidden | kNoEffect},
    {"-maxsigcachesize", "=<n>",
     "Memory for verified signatures and scripts together, MiB (default: 32)", kHidden,
     kClamped<&NodeOptions::signature_cache_bytes>.From(0, kMaxSignatureCache, "", 1 << 20)},
    {"-maxtipage", "=<n>",
     "The node is in initial download if its tip is older than this, in seconds (default: 86400)",
     kHidden, kClamped<&NodeOptions::max_tip_age>},
    {"-mocktime", "=<n>",
     "Clock that the rules use, seconds since 1970 (default: 0, the system's clock)", kHidden},
    {"-printpriority", "", "Log fee rates when a block is made; no effect in this version",
     kHidden | kNoEffect},
    {"-stopafterblockimport", "",
     "Stop once the blocks on disk and those of -loadblock are connected (default: 0)", kHidden,
     kFlag<&NodeOptions::stop_after_import>},
    {"-stopatheight", "", "Stop once the chain has this height (default: 0, never)", kHidden,
     kClamped<&NodeOptions::stop_at_height>.From(INT32_MIN, INT32_MAX)},
    {"-test", "=<option>",
     "On regtest: bip94 (enforce BIP94), reindex_after_failure_noninteractive_yes (rebuild "
     "databases that cannot be loaded), addrman (addresses get the same places at each start)",
     kHidden},
    {"-uacomment", "=<cmt>", "Comment in the name that peers and getnetworkinfo see"},
};

constexpr OptionRow<LogOptions> kLog[] = {
    {"-loglevelalways", "", "Show category and level in every line (default: 0)", kPlain,
     kFlag<&LogOptions::always_level>},
    {"-logratelimit", "", "Limit the bytes that one source line may log per hour (default: 1)",
     kPlain, kFlag<&LogOptions::limit_rate>},
    {"-logsourcelocations", "", "Show where in the source a line comes from (default: 0)", kPlain,
     kFlag<&LogOptions::places>},
    {"-logthreadnames", "", "Show the thread in every line (default: 0)", kPlain,
     kFlag<&LogOptions::thread_names>},
    {"-logtimemicros", "", "Show microseconds (default: 0)", kHidden,
     kFlag<&LogOptions::time_micros>},
    {"-logtimestamps", "", "Show the time (default: 1)", kPlain, kFlag<&LogOptions::timestamps>},
    {"-printtoconsole", "", "Log to the console too (default: 1 unless -daemon)", kPlain,
     kFlag<&LogOptions::to_console>},
    {"-shrinkdebugfile", "", "Shorten a long debug.log at start (default: 1 unless -debug)", kPlain,
     kFlag<&LogOptions::shrink_at_start>},
};

} // namespace

OptionTopic<LogOptions> LogTopic() { return {OptionGroup::kDebug, kLog}; }

std::vector<NodeTopic> DebugTopics() { return {{OptionGroup::kDebug, kDebug}}; }

Result<> ReadAssumeutxo(const ArgsManager& args, Network network, NetworkOptions& out)
{
    const std::vector<std::string> values = args.GetAll("-assumeutxo");
    if (!values.empty() && network == Network::kMain) {
        return BadData("-assumeutxo is for test networks: on the main one the node takes snapshots "
                       "of the blocks that are built in");
    }
    for (const std::string& value : values) IBD_RETURN_IF_ERROR(ParseAssumeutxo(value, out));
    return {};
}

void AddLogOptions(ArgsManager& args)
{
    AddRows(args, LogTopic());
    args.Add("-debug", "=<category>",
             "Log this category, or all with 1 or without a value; 0 discards the categories "
             "before it. May be given several times. Categories: " +
                 LogCategoryNames(),
             OptionGroup::kDebug);
    args.Add("-loglevel", "=<level>|<category>:<level>",
             fmt::format("Lowest level to log in the categories of -debug, for all of them or for "
                         "one: {} (default: debug)",
                         kSettableLogLevels),
             OptionGroup::kDebug,
             OptionSpec::kHidden | OptionSpec::kNoNegation | OptionSpec::kNoElision);
}

} // namespace ibd
