// See option_table.h. Options for a start and the data directory, and lists of names.
#include "node/option_table.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;
constexpr unsigned kHidden = OptionSpec::kHidden;
constexpr unsigned kNoEffect = OptionSpec::kNoEffect;

constexpr int64_t kMaxPrevoutThreads = 16;
constexpr int64_t kMaxCount = UINT32_MAX; //!< so that units can be multiplied
constexpr int64_t kMegabyte = 1'000'000;  //!< bytes
constexpr int64_t kHour = 60 * 60;        //!< seconds

constexpr OptionRow<NodeOptions> kGeneral[] = {
    {"-alertnotify", "=<cmd>",
     "Command to run when the node has a new warning (%s is its text in quotes)", kPlain,
     kText<&NodeOptions::alert_notify>},
    {"-allowignoredconf", "",
     "Only warn if the data directory has a bitcoin.conf that is ignored, because another "
     "configuration file is used (default: 0)"},
    {"-assumevalid", "=<hex>",
     "Assume that the scripts of this block and its ancestors are valid; 0 runs all scripts "
     "(default: set by the network)"},
    {"-blockfilterindex", "=<type>",
     "Keep an index of compact block filters (BIP158), for getblockfilter and scanblocks: basic, "
     "or 1 for all types (default: 0)"},
    {"-blocknotify", "=<cmd>", "Command to run when the best block changes (%s is its hash)",
     kPlain, kText<&NodeOptions::block_notify>},
    {"-blocksdir", "=<dir>",
     "Directory for blocks/*.dat; the block index stays in the data directory (default: the data "
     "directory)"},
    {"-blocksxor", "",
     "Obfuscate the files of a new blocks directory with a random key (default: 1)", kPlain,
     kFlag<&NodeOptions::obfuscate_blocks>},
    {"-chainstatedir", "=<dir>",
     "Directory for chainstate, for example on a faster disk. Bitcoin Core has no such option: "
     "before it uses the data directory, move chainstate back (default: the data directory)",
     kPlain, kFolder<&NodeOptions::chainstate_dir>},
    {"-coinstatsindex", "",
     "Keep an index of the statistics of all coins after each block, for gettxoutsetinfo (default: "
     "0)",
     kPlain, kFlag<&NodeOptions::indexes, &IndexOptions::coin_stats>},
    {"-daemon", "", "Run in the background and accept commands (default: 0)"},
    {"-daemonwait", "",
     "Run in the background, and return only after the node has started "
     "(default: 0)"},
    {"-dbbatchsize", "", "Largest batch written to the coins database, bytes (default: 33554432)",
     kHidden, kClamped<&NodeOptions::batch_bytes>.From(1)},
    {"-dbcache", "=<n>",
     "Memory for the coins and database caches, MiB (at least 4, default: 1024, or 450 if the "
     "machine has less than 4 GiB of memory)"},
    {"-debuglogfile", "=<file>", "Log file; -nodebuglogfile: none (default: debug.log)"},
    {"-indexdir", "=<dir>",
     "Directory for indexes. Bitcoin Core has no such option: before it uses the data directory, "
     "move indexes back, or it builds them anew (default: the data directory)",
     kPlain, kFolder<&NodeOptions::index_dir>},
    {"-loadblock", "=<file>", "Import the blocks of this file at start"},
    {"-maxmempool", "=<n>", "Memory for unconfirmed transactions, MB, at least 5 (default: 300)",
     kPlain,
     kClamped<&NodeOptions::pool, &PoolLimits::max_bytes>.From(0, kMaxCount, "", kMegabyte)},
    {"-mempoolexpiry", "=<n>", "Hours for which an unconfirmed transaction is kept (default: 336)",
     kPlain, kClamped<&NodeOptions::pool, &PoolLimits::expiry>.From(0, kMaxCount, "", kHour)},
    {"-minimumchainwork", "=<hex>",
     "Work that the best chain must have (default: set by the network)", kHidden},
    {"-par", "=<n>",
     "Threads that run scripts: 0 is one for each core, -n leaves n cores free (default: 0, at "
     "most 16)"},
    {"-persistmempool", "",
     "Keep unconfirmed transactions over a restart, in mempool.dat (default: 1)", kPlain,
     kFlag<&NodeOptions::persist_pool>},
    {"-persistmempoolv1", "",
     "Write mempool.dat in the older format, without obfuscation "
     "(default: 0)",
     kPlain, kFlag<&NodeOptions::persist_pool_v1>},
    {"-pid", "=<file>", "File with the process id (default: bitcoind.pid)"},
    {"-prevoutfetchthreads", "=<n>",
     "Threads that read the coins of a block before it is connected; 0: none (default: 8, at most "
     "16)",
     kPlain, kClamped<&NodeOptions::prevout_threads>.From(0, kMaxPrevoutThreads)},
    {"-prune", "=<n>",
     "Delete old blocks. 0: none (default); 1: only by pruneblockchain; 550 or more: keep block "
     "and undo files below this number of MiB. The last 288 blocks are kept. A later start without "
     "-prune needs -reindex, which downloads all blocks again"},
    {"-reindex", "",
     "Rebuild the block index, the chainstate and all active indexes from the block files", kPlain,
     kFlag<&NodeOptions::reindex>},
    {"-reindex-chainstate", "", "Rebuild the chainstate from the blocks in the block index", kPlain,
     kFlag<&NodeOptions::reindex_chainstate>},
    {"-settings", "=<file>",
     "File of settings that programs write; they take precedence over bitcoin.conf. -nosettings: "
     "none (default: settings.json in the network's data directory)"},
    {"-shutdownnotify", "=<cmd>",
     "Command to run when the node begins to stop; the node waits for its end. May be given "
     "several times",
     kPlain, kTexts<&NodeOptions::shutdown_notify>},
    {"-startupnotify", "=<cmd>", "Command to run after the node has started", kPlain,
     kText<&NodeOptions::startup_notify>},
    {"-txindex", "",
     "Keep an index of all transactions, for getrawtransaction without a block's hash. Not with "
     "-prune (default: 0)",
     kPlain, kFlag<&NodeOptions::indexes, &IndexOptions::tx>},
    {"-txospenderindex", "",
     "Keep an index of the transactions that spend outputs, for gettxspendingprevout. Not with "
     "-prune (default: 0)",
     kPlain, kFlag<&NodeOptions::indexes, &IndexOptions::spenders>},
};

/** For developers of the server. */
constexpr OptionRow<NodeOptions> kServers[] = {
    {"-rpcdoccheck", "", "Check the help of calls; no effect in this version (default: 0)",
     kHidden | kNoEffect},
};

// clang-format off
/** Options of the wallet and for developers. */
constexpr const char* kNamesWithoutEffect[] = {
    "-addresstype", "-avoidpartialspends", "-changetype", "-consolidatefeerate", "-dbcrashratio",
    "-discardfee", "-fallbackfee", "-keypool", "-maxapsfee", "-maxtxfee", "-mintxfee", "-signer",
    "-spendzeroconfchange", "-txconfirmtarget", "-unsafesqlitesync", "-walletbroadcast",
    "-walletcrosschain", "-walletnotify", "-wallet", "-walletdir", "-walletrbf",
    "-walletrejectlongchains"};

/** Options that configure missing features, and those that Core keeps only to reject them. */
constexpr const char* kNamesOnly[] = {
    "-choosedatadir", "-disablewallet", "-lang", "-limitancestorsize", "-limitdescendantsize",
    "-checkpoints", "-min", "-resetguisettings", "-splash", "-uiplatform"};
// clang-format on

constexpr OptionRow<NodeOptions> kHiddenRows[] = {
    {"-forcecompactdb", "", "", kPlain, kFlag<&NodeOptions::compact_databases>},
};

} // namespace

std::vector<NodeTopic> GeneralTopics()
{
    return {{OptionGroup::kGeneral, kGeneral},
            {OptionGroup::kRpc, kServers},
            {OptionGroup::kHidden, kHiddenRows}};
}

void AddHiddenNames(ArgsManager& args)
{
    for (const char* name : kNamesOnly) args.Add(name, "", "", OptionGroup::kHidden);
    for (const char* name : kNamesWithoutEffect) {
        args.Add(name, "", "", OptionGroup::kHidden, kNoEffect);
    }
}

std::vector<std::string> OptionsWithoutEffect(const ArgsManager& args)
{
    std::vector<std::string> set;
    for (const std::string& name : args.NamesWith(OptionSpec::kNoEffect)) {
        const std::vector<std::string> values = args.GetAll(name);
        const bool asks = std::ranges::any_of(values, [](const auto& text) { return text != "0"; });
        if (asks && !args.IsForced(name)) set.push_back(name);
    }
    return set;
}

} // namespace ibd
