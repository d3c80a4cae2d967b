// See option_table.h. Options for a start and the data directory, and lists of names.
#include "node/option_table.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr unsigned kHidden = OptionSpec::kHidden;

constexpr OptionRow kGeneral[] = {
    {"-alertnotify", "=<cmd>",
     "Command to run when the node has a new warning (%s is its text in quotes)"},
    {"-allowignoredconf", "",
     "Only warn of a bitcoin.conf in the data directory that does not count, as another "
     "configuration file does (default: 0)"},
    {"-assumevalid", "=<hex>",
     "Block whose ancestors are taken to have valid scripts; 0 runs all scripts (default: set by "
     "the network)"},
    {"-blockfilterindex", "=<type>", "Not supported by this version: an error unless 0"},
    {"-blocknotify", "=<cmd>", "Command to run when the best block changes (%s is its hash)"},
    {"-blockreconstructionextratxn", "=<n>",
     "Further transactions kept to rebuild compact blocks; no effect in this version"},
    {"-blocksdir", "=<dir>",
     "Directory for blocks/*.dat; the index of blocks stays in the data directory (default: the "
     "data directory)"},
    {"-blocksonly", "",
     "Tolerate no transactions from peers; this version asks for none (default: 0)"},
    {"-blocksxor", "",
     "Obfuscate the files of a new blocks directory with a random key (default: 1)"},
    {"-coinstatsindex", "", "Not supported by this version: an error unless 0"},
    {"-daemon", "", "Go to the background and take commands (default: 0)"},
    {"-daemonwait", "", "As -daemon, and return only once the node has started (default: 0)"},
    {"-dbbatchsize", "", "Largest batch written to the coins database, bytes", kHidden},
    {"-dbcache", "=<n>",
     "Memory for the coins and database caches, MiB (at least 4, default: 1024, or 450 where there "
     "is less than 4 GiB of memory)"},
    {"-debuglogfile", "=<file>", "Log file; -nodebuglogfile: none (default: debug.log)"},
    {"-loadblock", "=<file>", "Take the blocks of this file at start"},
    {"-maxmempool", "=<n>", "Memory for unconfirmed transactions, MB, at least 5 (default: 300)"},
    {"-mempoolexpiry", "=<n>", "Hours an unconfirmed transaction is kept (default: 336)"},
    {"-minimumchainwork", "=<hex>",
     "Work that the best chain must have (default: set by the network)", kHidden},
    {"-par", "=<n>",
     "Threads that run scripts: 0 is one for each core, -n leaves n cores free (default: 0, at "
     "most 16)"},
    {"-persistmempool", "",
     "Keep unconfirmed transactions over a restart; no effect in this version (default: 1)"},
    {"-persistmempoolv1", "",
     "Write them in the older format; no effect in this version (default: 0)"},
    {"-pid", "=<file>", "File with the process id (default: bitcoind.pid)"},
    {"-prevoutfetchthreads", "=<n>",
     "Threads that read the coins a block spends ahead of it: 0 is none (default: 8, at most 16)"},
    {"-prune", "=<n>",
     "Delete old blocks: 0 none (default), 1 only by pruneblockchain, 550 or more: keep block and "
     "undo files below this number of MiB. The last 288 blocks are kept. Going back needs "
     "-reindex, which downloads all blocks again"},
    {"-reindex", "", "Rebuild the block index and the chainstate from the block files"},
    {"-reindex-chainstate", "", "Rebuild the chainstate from the blocks that are indexed"},
    {"-settings", "=<file>",
     "Settings that programs wrote; they count more than bitcoin.conf. -nosettings: none (default: "
     "settings.json in the network's data directory)"},
    {"-shutdownnotify", "=<cmd>",
     "Command to run when the node begins to stop, which waits for it. May be given several times"},
    {"-startupnotify", "=<cmd>", "Command to run once the node has started"},
    {"-txindex", "", "Not supported by this version: an error unless 0"},
    {"-txospenderindex", "", "Not supported by this version: an error unless 0"},
};

/** Options of the wallet, of ZeroMQ notifications and of the GUI; and -checkpoints and the like,
 *  which Core keeps only to reject them. */
constexpr const char* kNamesOnly[] = {"-addresstype",
                                      "-avoidpartialspends",
                                      "-changetype",
                                      "-choosedatadir",
                                      "-consolidatefeerate",
                                      "-dbcrashratio",
                                      "-disablewallet",
                                      "-discardfee",
                                      "-fallbackfee",
                                      "-forcecompactdb",
                                      "-keypool",
                                      "-lang",
                                      "-limitancestorsize",
                                      "-limitdescendantsize",
                                      "-checkpoints",
                                      "-maxapsfee",
                                      "-maxtxfee",
                                      "-min",
                                      "-mintxfee",
                                      "-resetguisettings",
                                      "-signer",
                                      "-spendzeroconfchange",
                                      "-splash",
                                      "-txconfirmtarget",
                                      "-uiplatform",
                                      "-unsafesqlitesync",
                                      "-walletbroadcast",
                                      "-walletcrosschain",
                                      "-walletnotify",
                                      "-wallet",
                                      "-walletdir",
                                      "-walletrbf",
                                      "-walletrejectlongchains",
                                      "-zmqpubhashblock",
                                      "-zmqpubhashblockhwm",
                                      "-zmqpubhashtx",
                                      "-zmqpubhashtxhwm",
                                      "-zmqpubrawblock",
                                      "-zmqpubrawblockhwm",
                                      "-zmqpubrawtx",
                                      "-zmqpubrawtxhwm",
                                      "-zmqpubsequence",
                                      "-zmqpubsequencehwm"};

/** Options for features that this version lacks, including those that only configure such features
 *  (fees, limits, addresses). */
constexpr const char* kWithoutEffect[] = {
    // peers
    "-peerblockfilters", "-privatebroadcast", "-txreconciliation",
    // transaction pool, fee estimates, mining
    "-acceptstalefeeestimates", "-blockreconstructionextratxn", "-checkmempool",
    "-limitancestorcount", "-limitdescendantcount", "-persistmempool", "-persistmempoolv1",
    "-printpriority",
    // wallet
    "-addresstype", "-avoidpartialspends", "-changetype", "-consolidatefeerate", "-discardfee",
    "-fallbackfee", "-keypool", "-maxapsfee", "-maxtxfee", "-mintxfee", "-signer",
    "-spendzeroconfchange", "-txconfirmtarget", "-unsafesqlitesync", "-wallet", "-walletbroadcast",
    "-walletcrosschain", "-walletdir", "-walletnotify", "-walletrbf", "-walletrejectlongchains",
    // other servers
    "-rest", "-zmqpubhashblock", "-zmqpubhashblockhwm", "-zmqpubhashtx", "-zmqpubhashtxhwm",
    "-zmqpubrawblock", "-zmqpubrawblockhwm", "-zmqpubrawtx", "-zmqpubrawtxhwm", "-zmqpubsequence",
    "-zmqpubsequencehwm",
    // for developers
    "-checkblockindex", "-dbcrashratio", "-rpcdoccheck"};

} // namespace

void AddGeneralOptions(ArgsManager& args)
{
    AddRows(args, OptionGroup::kGeneral, kGeneral);
    args.Add("-rest", "", "Answer REST requests; no effect in this version (default: 0)",
             OptionGroup::kRpc);
    args.Add("-rpcdoccheck", "", "Check the help of calls; no effect in this version (default: 0)",
             OptionGroup::kRpc, kHidden);
}

void AddHiddenOptions(ArgsManager& args)
{
    for (const char* name : kNamesOnly) args.Add(name, "", "", OptionGroup::kHidden);
}

std::vector<std::string> OptionsWithoutEffect(const ArgsManager& args)
{
    std::vector<std::string> set;
    for (const char* name : kWithoutEffect) {
        const std::vector<std::string> values = args.GetAll(name);
        const bool asks = std::ranges::any_of(values, [](const auto& text) { return text != "0"; });
        if (asks && !args.IsForced(name)) set.emplace_back(name);
    }
    std::sort(set.begin(), set.end());
    return set;
}

} // namespace ibd
