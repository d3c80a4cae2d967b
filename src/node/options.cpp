// See options.h.
#include "node/options.h"

#include "util/hex.h"

#include <algorithm>
#include <thread>

namespace ibd {

namespace {

constexpr int64_t kDefaultDbCache = 450;     //!< MiB
constexpr int64_t kMinDbCache = 4;           //!< MiB
constexpr size_t kMaxIndexDbCache = 2 << 20; //!< bytes
constexpr size_t kMaxCoinsDbCache = 8 << 20; //!< bytes
constexpr int64_t kDefaultBatchSize = 32 << 20;
constexpr int kMaxScriptThreads = 16;
constexpr int64_t kDefaultSignatureCache = 32;   //!< MiB
constexpr int64_t kMaxSignatureCache = 16 << 10; //!< MiB
constexpr int64_t kDefaultTipAge = 24 * 60 * 60; //!< seconds
constexpr int64_t kDefaultBoosterMem = 96;       //!< MiB
constexpr int64_t kMinBoosterMem = 1;            //!< MiB
constexpr int64_t kMaxBoosterMem = 64 << 10;     //!< MiB; all coins take less
constexpr int64_t kMaxInterval = 86'400;         //!< seconds

void AddGeneral(ArgsManager& args)
{
    const auto add = [&](const char* name, const char* argument, const char* help,
                         unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kGeneral, flags);
    };
    add("-allowignoredconf", "",
        "Only warn of a bitcoin.conf in the data directory that does not count, as another "
        "configuration file does (default: 0)");
    add("-assumevalid", "=<hex>",
        "Block whose ancestors are taken to have valid scripts; 0 runs all scripts (default: set "
        "by the network)");
    add("-blocknotify", "=<cmd>", "Command to run when the best block changes (%s is its hash)");
    add("-blocksdir", "=<dir>", "Directory of the block files (default: the data directory)");
    add("-blocksxor", "",
        "Obfuscate the files of a new blocks directory with a random key (default: 1)");
    add("-daemon", "", "Go to the background and take commands (default: 0)");
    add("-daemonwait", "", "As -daemon, and return only once the node has started (default: 0)");
    add("-dbbatchsize", "=<n>", "Largest batch written to the coins database, bytes",
        OptionSpec::kHidden);
    add("-dbcache", "=<n>",
        "Memory for the coins and database caches, MiB (at least 4, default: 450)");
    add("-loadblock", "=<file>", "Take the blocks of this file at start");
    add("-minimumchainwork", "=<hex>",
        "Work that the best chain must have (default: set by the network)", OptionSpec::kHidden);
    add("-par", "=<n>",
        "Threads that run scripts: 0 is one for each core, <0 leaves so many cores free (default: "
        "0, at most 16)");
    add("-pid", "=<file>", "File with the process id (default: bitcoind.pid)");
    add("-reindex", "", "Rebuild the block index and the chainstate from the block files");
    add("-reindex-chainstate", "", "Rebuild the chainstate from the blocks that are indexed");
    add("-alertnotify", "=<cmd>",
        "Command to run when the node has a new warning (%s is its text in quotes)");
    add("-settings", "=<file>",
        "Settings that programs wrote; they count more than bitcoin.conf (default: settings.json "
        "in the network's data directory)");
    add("-shutdownnotify", "=<cmd>", "Command to run when the node begins to stop");
    add("-startupnotify", "=<cmd>", "Command to run once the node has started");
}

void AddBooster(ArgsManager& args)
{
    const auto add = [&](const char* name, const char* argument, const char* help,
                         unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kBooster, flags);
    };
    add("-ibdboosterfile", "=<file>",
        "Hints file: build the chainstate up to its terminal block with the IBD Booster. Takes "
        "effect when there is no chainstate, or with -reindex or -reindex-chainstate");
    add("-ibdboosteraggregate", "=<kind>",
        "Aggregate that must be zero at the terminal block: sha256 or muhash (default: sha256)");
    add("-ibdboosterdir", "=<dir>",
        "Where runs and checkpoints lie while the booster works, in a folder for this data "
        "directory "
        "alone (default: ibdbooster in the network's data directory)");
    add("-ibdboosterinterval", "=<n>",
        "Seconds of work that a crash of the booster may cost at most (default: 60)");
    args.Add("-ibdboosterintervalbytes", "=<n>",
             "Bytes of blocks that it may cost at most, whichever is less (default: 32 GiB)",
             OptionGroup::kBooster, OptionSpec::kHidden);
    add("-ibdboosterfullvalidation", "",
        "Check every rule and script, with spent coins from the undo files (rev*.dat), which every "
        "block must have: keep them with -reindex-chainstate. Assumes no block valid (default: 0)",
        OptionSpec::kYesOrNo);
    add("-ibdboosterloader", "=<kind>",
        "How the chainstate is written: table, sorted tables at once, or batch, through the "
        "database (default: table)");
    add("-ibdboostermem", "=<n>", "Memory for the coins being sorted, MiB (default: 96)");
    add("-ibdboosterthreads", "=<n>", "Threads of the booster (default: one for each core)");
}

void AddDebug(ArgsManager& args)
{
    const auto add = [&](const char* name, const char* argument, const char* help,
                         unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kDebug, flags);
    };
    add("-checkblocks", "=<n>", "Blocks to check at start; 0 is all (default: 6)",
        OptionSpec::kHidden);
    add("-checklevel", "=<n>",
        "How thorough: 0 read, 1 rules of a block, 2 undo data, 3 take back, 4 connect again "
        "(default: 3)",
        OptionSpec::kHidden);
    add("-debug", "=<category>",
        "Log this category, or all with 1 or without a value. May be given several times. This "
        "version writes to http, leveldb, reindex and rpc; the others of Core are accepted");
    add("-help-debug", "", "Print all options, those for developers included, and exit",
        OptionSpec::kCommandLineOnly);
    add("-debugexclude", "=<category>", "Do not log this category");
    add("-debuglogfile", "=<file>", "Log file; -nodebuglogfile: none (default: debug.log)");
    add("-loglevel", "=<level>|<category>:<level>", "Lowest level logged", OptionSpec::kHidden);
    add("-loglevelalways", "", "Show the level in every line (default: 0)");
    add("-logthreadnames", "", "Show the thread in every line (default: 0)");
    add("-logtimemicros", "", "Show microseconds (default: 0)", OptionSpec::kHidden);
    add("-logtimestamps", "", "Show the time (default: 1)");
    add("-maxsigcachesize", "=<n>",
        "Memory for verified signatures and scripts together, MiB (default: 32)",
        OptionSpec::kHidden);
    add("-maxtipage", "=<n>",
        "Age of the tip from which it counts as initial download, seconds (default: 86400)",
        OptionSpec::kHidden);
    add("-mocktime", "=<n>",
        "Time that rules go by, seconds since 1970, in place of the clock's (default: 0, the "
        "clock)",
        OptionSpec::kHidden);
    add("-printtoconsole", "", "Log to the console too (default: 1 unless -daemon)");
    add("-shrinkdebugfile", "", "Cut a long debug.log at start (default: 1 unless -debug)");
    add("-stopafterblockimport", "",
        "Stop once the blocks on disk and those of -loadblock are connected (default: 0)",
        OptionSpec::kHidden);
    add("-stopatheight", "=<n>", "Stop once the chain has this height", OptionSpec::kHidden);
}

void AddChain(ArgsManager& args)
{
    const auto add = [&](const char* name, const char* argument, const char* help) {
        args.Add(name, argument, help, OptionGroup::kChain, OptionSpec::kHidden);
    };
    add("-testactivationheight", "=<name>@<height>",
        "Height at which segwit, bip34, dersig, cltv or csv is enforced (regtest)");
    add("-vbparams", "=<deployment>:<start>:<end>[:<height>]",
        "Start, timeout and minimum height of a version-bits deployment (regtest)");
    add("-fastprune", "", "Small block files (regtest)");
    add("-test", "=<option>", "bip94: enforce it (regtest)");
    add("-signetseednode", "=<host>", "Seed node of a custom signet");
}

/** Options of Core about what this version has not: accepted, so that configuration files and
 *  scripts made for Core work, and named in the log when they are set. */
constexpr const char* kWithoutEffect[] = {
    // peers
    "-addnode", "-asmap", "-bantime", "-bind", "-blocksonly", "-capturemessages", "-checkaddrman",
    "-cjdnsreachable", "-connect", "-discover", "-dns", "-dnsseed", "-externalip", "-fixedseeds",
    "-forcednsseed", "-i2pacceptincoming", "-i2psam", "-listen", "-listenonion", "-maxconnections",
    "-maxreceivebuffer", "-maxsendbuffer", "-maxuploadtarget", "-natpmp", "-networkactive",
    "-onion", "-onlynet", "-peerblockfilters", "-peerbloomfilters", "-peertimeout", "-port",
    "-privatebroadcast", "-proxy", "-proxyrandomize", "-seednode", "-timeout", "-torcontrol",
    "-torpassword", "-txreconciliation", "-uacomment", "-upnp", "-v2transport", "-whitebind",
    "-whitelist", "-whitelistforcerelay", "-whitelistrelay",
    // pool of transactions, fee estimates, mining
    "-acceptnonstdtxn", "-acceptstalefeeestimates", "-blockmaxweight", "-blockmintxfee",
    "-blockreconstructionextratxn", "-blockreservedweight", "-blockversion", "-bytespersigop",
    "-checkmempool", "-datacarrier", "-datacarriersize", "-dustrelayfee", "-incrementalrelayfee",
    "-limitancestorcount", "-limitancestorsize", "-limitclustercount", "-limitclustersize",
    "-limitdescendantcount", "-limitdescendantsize", "-maxmempool", "-maxorphantx",
    "-mempoolexpiry", "-mempoolfullrbf", "-minrelaytxfee", "-permitbaremultisig", "-persistmempool",
    "-persistmempoolv1", "-printpriority",
    // wallet
    "-addresstype", "-avoidpartialspends", "-changetype", "-consolidatefeerate", "-disablewallet",
    "-discardfee", "-fallbackfee", "-flushwallet", "-keypool", "-maxapsfee", "-maxtxfee",
    "-mintxfee", "-paytxfee", "-signer", "-spendzeroconfchange", "-swapbdbendian",
    "-txconfirmtarget", "-unsafesqlitesync", "-wallet", "-walletbroadcast", "-walletcrosschain",
    "-walletdir", "-walletnotify", "-walletrbf", "-walletrejectlongchains",
    // other servers
    "-ipcbind", "-rest", "-zmqpubhashblock", "-zmqpubhashblockhwm", "-zmqpubhashtx",
    "-zmqpubhashtxhwm", "-zmqpubrawblock", "-zmqpubrawblockhwm", "-zmqpubrawtx", "-zmqpubrawtxhwm",
    "-zmqpubsequence", "-zmqpubsequencehwm",
    // what only developers use, or what Core itself has dropped
    "-checkblockindex", "-checkpoints", "-dbcrashratio", "-logips", "-logratelimit",
    "-logsourcelocations", "-rpcdoccheck", "-rpcserialversion"};

/** Of these, what outside of its section holds on main only, as in Core. */
constexpr std::string_view kOfOneNetwork[] = {"-addnode", "-bind",   "-connect",
                                              "-port",    "-wallet", "-walletdir"};

void AddWithoutEffect(ArgsManager& args)
{
    for (const std::string_view name : kWithoutEffect) {
        unsigned flags = OptionSpec::kHidden;
        if (name == "-torpassword") flags |= OptionSpec::kSensitive;
        if (std::ranges::find(kOfOneNetwork, name) != std::end(kOfOneNetwork)) {
            flags |= OptionSpec::kNetworkOnly;
        }
        args.Add(std::string(name), "", "Accepted for compatibility; has no effect in this version",
                 OptionGroup::kConnection, flags);
    }
}

constexpr const char* kUnsupported[] = {"-blockfilterindex", "-coinstatsindex", "-prune",
                                        "-txindex", "-txospenderindex"};

void AddUnsupported(ArgsManager& args)
{
    for (const char* name : kUnsupported) {
        args.Add(name, "=<n>", "Not supported by this version: an error unless 0",
                 OptionGroup::kGeneral, OptionSpec::kHidden);
    }
}

Result<> RefuseUnsupported(const ArgsManager& args)
{
    for (const char* name : kUnsupported) {
        // A filter index is asked for by name too: -blockfilterindex=basic.
        const std::string value = args.Get(name, "0");
        if (value == "0") continue;
        return BadData("{}={} is not supported by this version; start with {}=0 to do without",
                       name, value, name);
    }
    return {};
}

CacheSizes DivideCache(int64_t mebibytes)
{
    const size_t total = static_cast<size_t>(std::max(mebibytes, kMinDbCache)) << 20;
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

Result<> ReadTrust(const ArgsManager& args, const ChainParams& params, NodeOptions& out)
{
    out.assume_valid = params.consensus.assume_valid;
    if (const auto text = args.Get("-assumevalid")) {
        const auto hash = BlockHash::FromHex(*text);
        if (!hash && *text != "0" && !text->empty()) {
            return BadData("-assumevalid={}: must be the 64 hex digits of a block hash, or 0",
                           *text);
        }
        out.assume_valid = hash.value_or(BlockHash{});
    }
    out.minimum_work = params.consensus.minimum_chain_work;
    if (const auto text = args.Get("-minimumchainwork")) {
        const size_t missing = text->size() < 64 ? 64 - text->size() : 0;
        const auto work = Arith256::FromHex(std::string(missing, '0') + *text);
        if (!work) return BadData("-minimumchainwork={}: must be up to 64 hex digits", *text);
        out.minimum_work = *work;
    }
    return {};
}

/** A folder of this network and data directory alone, below one that nodes may share: none takes or
 *  removes the unfinished work of another. */
Path OwnFolderIn(const Path& shared, const ChainParams& params, const Path& net_dir)
{
    std::error_code code;
    const Path canonical = std::filesystem::weakly_canonical(net_dir, code);
    const Hash32 digest = Sha256Of(AsBytes((code ? net_dir : canonical).string()));
    return std::filesystem::absolute(shared) /
           fmt::format("{}-{}", params.name, ToHex(ByteSpan(digest).first(4)));
}

Result<> ReadBooster(const ArgsManager& args, const ChainParams& params, const Path& net_dir,
                     NodeOptions& out)
{
    if (const auto file = args.Get("-ibdboosterfile"); file && !args.IsNegated("-ibdboosterfile")) {
        if (file->empty()) return BadData("-ibdboosterfile: names no file");
        out.hints = std::filesystem::absolute(*file);
    }
    BoosterOptions& booster = out.booster;
    const std::string name = args.Get("-ibdboosteraggregate", "sha256");
    const auto aggregate = AggregateKindFromName(name);
    if (!aggregate) return BadData("-ibdboosteraggregate={}: must be sha256 or muhash", name);
    booster.aggregate = *aggregate;
    const std::string loader = args.Get("-ibdboosterloader", "table");
    if (loader != "table" && loader != "batch") {
        return BadData("-ibdboosterloader={}: must be table or batch", loader);
    }
    booster.loader = loader == "table" ? LoaderKind::kTable : LoaderKind::kBatch;
    const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const int64_t threads = args.GetInt("-ibdboosterthreads", cores);
    if (threads < 1 || threads > 1024) {
        return BadData("-ibdboosterthreads={}: must be 1 to 1024", threads);
    }
    booster.threads = static_cast<unsigned>(threads);
    const int64_t mem = args.GetInt("-ibdboostermem", kDefaultBoosterMem);
    if (mem < kMinBoosterMem || mem > kMaxBoosterMem) {
        return BadData("-ibdboostermem={}: must be {} to {} MiB", mem, kMinBoosterMem,
                       kMaxBoosterMem);
    }
    booster.memory_bytes = static_cast<size_t>(mem) << 20;
    booster.checkpoint_seconds = args.GetInt("-ibdboosterinterval", booster.checkpoint_seconds);
    if (booster.checkpoint_seconds < 1 || booster.checkpoint_seconds > kMaxInterval) {
        return BadData("-ibdboosterinterval={}: must be 1 to {} seconds",
                       booster.checkpoint_seconds, kMaxInterval);
    }
    const int64_t bytes =
        args.GetInt("-ibdboosterintervalbytes", static_cast<int64_t>(booster.checkpoint_bytes));
    if (bytes < 1) return BadData("-ibdboosterintervalbytes={}: must be at least 1", bytes);
    booster.checkpoint_bytes = static_cast<uint64_t>(bytes);
    booster.full_validation = args.GetBool("-ibdboosterfullvalidation", false);
    booster.directory = net_dir / "ibdbooster";
    const auto dir = args.Get("-ibdboosterdir");
    if (dir && !args.IsNegated("-ibdboosterdir")) {
        if (dir->empty()) return BadData("-ibdboosterdir: names no directory");
        booster.directory = OwnFolderIn(*dir, params, net_dir);
    }
    return {};
}

} // namespace

void AddNodeOptions(ArgsManager& args)
{
    AddGeneral(args);
    AddBooster(args);
    AddDebug(args);
    AddChain(args);
    AddWithoutEffect(args);
    AddUnsupported(args);
}

std::vector<std::string> OptionsWithoutEffect(const ArgsManager& args)
{
    std::vector<std::string> set;
    for (const char* name : kWithoutEffect) {
        if (args.IsSet(name)) set.emplace_back(name);
    }
    std::sort(set.begin(), set.end());
    return set;
}

Path LogPath(const ArgsManager& args, const Path& net_dir)
{
    return net_dir / args.Get("-debuglogfile", "debug.log");
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

Result<> ReadRegtestOptions(const ArgsManager& args, NetworkOptions& options)
{
    for (const std::string& value : args.GetAll("-testactivationheight")) {
        IBD_RETURN_IF_ERROR(ParseTestActivationHeight(value, options));
    }
    for (const std::string& value : args.GetAll("-vbparams")) {
        IBD_RETURN_IF_ERROR(ParseVersionBitsParameters(value, options));
    }
    const std::vector<std::string> tests = args.GetAll("-test");
    options.enforce_bip94 = std::find(tests.begin(), tests.end(), "bip94") != tests.end();
    options.fast_prune = args.GetBool("-fastprune", false);
    return {};
}

} // namespace

Result<ChainParams> ReadChainParams(const ArgsManager& args, const std::string& chain)
{
    const auto network = NetworkFromName(chain);
    CHECK(network);
    NetworkOptions options;
    if (*network == Network::kSignet) IBD_RETURN_IF_ERROR(ReadSignetOptions(args, options));
    if (*network == Network::kRegtest) IBD_RETURN_IF_ERROR(ReadRegtestOptions(args, options));
    if (args.IsSet("-test") && *network != Network::kRegtest) {
        return BadData("-test=<option> can only be used with regtest");
    }
    return MakeChainParams(*network, options);
}

Result<NodeOptions> ReadNodeOptions(const ArgsManager& args, const ChainParams& params,
                                    const Path& net_dir)
{
    IBD_RETURN_IF_ERROR(RefuseUnsupported(args));
    NodeOptions out;
    out.cache = DivideCache(args.GetInt("-dbcache", kDefaultDbCache));
    out.batch_bytes =
        static_cast<size_t>(std::max<int64_t>(1, args.GetInt("-dbbatchsize", kDefaultBatchSize)));
    out.script_threads = ScriptThreads(args.GetInt("-par", 0));
    out.reindex = args.GetBool("-reindex", false);
    out.reindex_chainstate = out.reindex || args.GetBool("-reindex-chainstate", false);
    out.check_blocks = static_cast<int>(args.GetInt("-checkblocks", 6));
    out.check_level = static_cast<int>(args.GetInt("-checklevel", 3));
    out.stop_at_height = static_cast<int>(args.GetInt("-stopatheight", 0));
    out.stop_after_import = args.GetBool("-stopafterblockimport", false);
    out.obfuscate_blocks = args.GetBool("-blocksxor", true);
    if (const auto dir = args.Get("-blocksdir")) {
        out.blocks_dir = std::filesystem::absolute(*dir);
        std::error_code code;
        if (!std::filesystem::is_directory(*out.blocks_dir, code)) {
            return SystemError("blocks directory '{}' (-blocksdir) does not exist", *dir);
        }
    }
    for (const std::string& file : args.GetAll("-loadblock")) {
        out.load_blocks.push_back(std::filesystem::absolute(file));
    }
    out.signature_cache_bytes =
        static_cast<size_t>(std::clamp<int64_t>(
            args.GetInt("-maxsigcachesize", kDefaultSignatureCache), 0, kMaxSignatureCache))
        << 20;
    out.max_tip_age = args.GetInt("-maxtipage", kDefaultTipAge);
    out.alert_notify = args.Get("-alertnotify", "");
    out.block_notify = args.Get("-blocknotify", "");
    out.startup_notify = args.Get("-startupnotify", "");
    out.shutdown_notify = args.Get("-shutdownnotify", "");
    IBD_RETURN_IF_ERROR(ReadTrust(args, params, out));
    IBD_RETURN_IF_ERROR(ReadBooster(args, params, net_dir, out));
    return out;
}

} // namespace ibd
