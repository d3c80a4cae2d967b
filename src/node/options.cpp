// See options.h.
#include "node/options.h"
#include "node/option_table.h"
#include "node/pool_config.h"
#include "node/start_checks.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <thread>

namespace ibd {

namespace {

constexpr int64_t kDefaultDbCache = 450;      //!< MiB
constexpr int64_t kLargeDbCache = 1024;       //!< MiB, with kLargeMemory at least
constexpr uint64_t kLargeMemory = 4ull << 30; //!< bytes
constexpr int64_t kMinDbCache = 4;            //!< MiB
constexpr size_t kMaxIndexDbCache = 2 << 20;  //!< bytes
constexpr size_t kMaxCoinsDbCache = 8 << 20;  //!< bytes
constexpr int64_t kDefaultBatchSize = 32 << 20;
constexpr int kMaxScriptThreads = 16;
constexpr int64_t kDefaultPrevoutThreads = 8;
constexpr int64_t kMaxPrevoutThreads = 16;
constexpr const char* kReindexIfDamaged = "reindex_after_failure_noninteractive_yes";
constexpr int64_t kDefaultSignatureCache = 32;   //!< MiB
constexpr int64_t kMaxSignatureCache = 16 << 10; //!< MiB
constexpr int64_t kDefaultTipAge = 24 * 60 * 60; //!< seconds
constexpr int64_t kDefaultBoosterMem = 96;       //!< MiB
constexpr int64_t kMinBoosterMem = 1;            //!< MiB
constexpr int64_t kMaxBoosterMem = 64 << 10;     //!< MiB; enough for all coins
constexpr int64_t kMaxBoosterThreads = 1024;
constexpr int64_t kLeastBoosterPeers = 2; //!< made by Core anyway
constexpr int64_t kMostBoosterPeers = 64;
constexpr int64_t kMaxInterval = 86'400; //!< seconds

void AddSignatureLanes(ArgsManager& args)
{
    args.Add("-signaturelanes", "=<mode>",
             "How full validation verifies signatures: 1, eight at a time where the processor has "
             "AVX-512 IFMA; 0, with libsecp256k1, as everything else does; check, both ways, and "
             "stop at a difference (default: 1)",
             OptionGroup::kBooster);
}

void AddBooster(ArgsManager& args)
{
    const auto add = [&](const char* name, const char* argument, const char* help,
                         unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kBooster, flags);
    };
    add("-ibdboosterfile", "=<file>",
        "Hints file, in any format (swifthints only where the blocks are stored): build the "
        "chainstate "
        "up to its terminal block with the IBD Booster. Takes effect when there is no chainstate, "
        "or with -reindex or "
        "-reindex-chainstate. auto: the best one in the folder hints of the network's data "
        "directory, or else one that several peers have alike");
    add("-ibdbooster", "",
        "Without a hints file: make hints from the blocks that are stored, or that peers bring, "
        "and build the chainstate with them; -ibdbooster=0: never, not with hints of "
        "-ibdboosterfile=auto either (default: if the blocks up to the assumed-valid one are more "
        "than 1 GiB, there is room on the disk, and no -prune)",
        OptionSpec::kYesOrNo);
    args.Add("-ibdboosterleast", "=<n>",
             "Bytes of blocks above which hints are made by default (default: 1 GiB)",
             OptionGroup::kBooster, OptionSpec::kHidden);
    add("-ibdboosteraggregate", "=<kind>",
        "Aggregate that must be zero at the terminal block: sha256 or muhash (default: sha256)");
    add("-ibdboosterchecks", "",
        "Hold blocks against all rules but scripts before the chainstate is written, with spent "
        "coins joined from the blocks, so that only scripts are assumed valid (default: 1 without "
        "a hints file, if there is room on the disk; with one 0: it follows in the background, "
        "with -ibdboosterundo=1, and never where no undo data is made)",
        OptionSpec::kYesOrNo);
    add("-ibdboosterdir", "=<dir>",
        "Where runs and checkpoints lie while the booster works, in a folder for this data "
        "directory "
        "alone (default: ibdbooster in the network's data directory)");
    add("-ibdboosterhash", "=<hex>",
        "SHA-256 that the hints file must have, else it is refused; with auto it is left out");
    add("-ibdboosterinterval", "=<n>",
        "Seconds of work that a crash of the booster may cost at most (default: 60)");
    args.Add("-ibdboosterintervalbytes", "=<n>",
             "Bytes of blocks that it may cost at most, whichever is less (default: 32 GiB)",
             OptionGroup::kBooster, OptionSpec::kHidden);
    add("-ibdboosterfullvalidation", "",
        "Check every rule and script, in parallel, and assume no block valid. The coins that are "
        "spent come from the undo files (rev*.dat) if every block has its data there, else they "
        "are joined from the blocks (default: 0)",
        OptionSpec::kYesOrNo);
    add("-ibdboosterloader", "=<kind>",
        "How the chainstate is written: table, sorted tables at once, or batch, through the "
        "database (default: table)");
    add("-ibdboostermem", "=<n>", "Memory for the coins being sorted, MiB (default: 96)");
    add("-ibdboosterpeers", "=<n>",
        "Block-only connections to be made while the booster fetches blocks, beside the others; 2 "
        "to 64 (default: 2, as always)");
    add("-ibdboosterprune", "",
        "With -prune: fold blocks without storing any but the last 288 below the hints' end. Wrong "
        "hints then cost a fresh download of all blocks (default: 0)",
        OptionSpec::kYesOrNo);
    add("-ibdboosterthreads", "=<n>", "Threads of the booster (default: one for each core)");
    add("-ibdboosterundo", "=<when>",
        "Make the undo data (rev*.dat) of blocks that the booster folded, from the blocks alone, "
        "and hold the blocks against all rules but scripts: now, before the node is in use, 1, "
        "that of the last 288 blocks before and the rest in the background after that, or 0, never "
        "(default: 1 if there is room on the disk, and no -prune)");
    add("-ibdboosterwait", "=<n>",
        "With -ibdboosterfile=auto: seconds that peers with hints, or with better ones, are waited "
        "for once there are headers (default: 60)");
    add("-servehints", "",
        "Keep hints that the node has used or made in the folder hints of the network's data "
        "directory, and give them to peers that ask (default: 1)",
        OptionSpec::kYesOrNo);
}

/** The range of a booster option. */
struct IntegerRange {
    const char* name;
    int64_t least;
    int64_t most = INT64_MAX;
    const char* unit = "";
};

/** For our own options: Core's options read non-numbers as 0, these refuse them. */
Result<int64_t> ReadInteger(const ArgsManager& args, const IntegerRange& range, int64_t otherwise)
{
    const auto text = args.Get(range.name);
    const auto value = text ? ParseInteger<int64_t>(*text) : std::optional(otherwise);
    if (value && *value >= range.least && *value <= range.most) return *value;
    const std::string bounds = range.most == INT64_MAX
                                   ? fmt::format("a number, at least {}", range.least)
                                   : fmt::format("{} to {}", range.least, range.most);
    return BadData("{}={}: must be {}{}", range.name, *text, bounds, range.unit);
}

constexpr const char* kUnsupported[] = {"-blockfilterindex", "-coinstatsindex", "-txindex",
                                        "-txospenderindex"};

Result<> RefuseUnsupported(const ArgsManager& args)
{
    for (const char* name : kUnsupported) {
        // A filter index may be requested by name: -blockfilterindex=basic.
        const std::string value = args.Get(name, "0");
        if (value == "0") continue;
        return BadData("{}{} is not supported by this version; start with {}=0 to do without", name,
                       value.empty() ? value : '=' + value, name);
    }
    return {};
}

int64_t DbCacheMebibytes(const ArgsManager& args, uint64_t machine_memory)
{
    return args.GetInt("-dbcache",
                       machine_memory >= kLargeMemory ? kLargeDbCache : kDefaultDbCache);
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
    out.minimum_work = params.consensus.minimum_chain_work;
    if (const auto text = args.Get("-minimumchainwork")) {
        const auto work = Arith256::FromHex(FullHex(*text));
        if (!work) return BadData("-minimumchainwork={}: no number", *text);
        out.minimum_work = *work;
    }
    return {};
}

/** A folder for this network and data directory only, inside one that several nodes may share: none
 *  removes another's unfinished work. */
Path OwnFolderIn(const Path& shared, const ChainParams& params, const Path& net_dir)
{
    std::error_code code;
    const Path canonical = std::filesystem::weakly_canonical(net_dir, code);
    const Hash32 digest = Sha256Of(AsBytes((code ? net_dir : canonical).string()));
    return std::filesystem::absolute(shared) /
           fmt::format("{}-{}", params.name, ToHex(ByteSpan(digest).first(4)));
}

Result<> ReadOwnHints(const ArgsManager& args, NodeOptions& out)
{
    using Mode = OwnHintsOptions::Mode;
    out.own_hints.mode = Mode::kDefault;
    IBD_ASSIGN_OR_RETURN(const int64_t least,
                         ReadInteger(args, {"-ibdboosterleast", 0},
                                     static_cast<int64_t>(OwnHintsOptions::kLeastBytes)));
    out.own_hints.least_bytes = static_cast<uint64_t>(least);
    if (out.booster.full_validation) { // reads blocks several times, so all must be stored
        out.own_hints.mode = out.prune_target == 0 ? Mode::kAsked : Mode::kOff;
    }
    if (!args.IsSet("-ibdbooster")) return {};
    const bool asked = args.GetBool("-ibdbooster", true);
    out.own_hints.mode = asked ? Mode::kAsked : Mode::kOff;
    if (!asked && out.hints.file) {
        return BadData("-ibdbooster=0 means never, but -ibdboosterfile names hints: leave out one");
    }
    if (!asked || out.hints.file) return {};
    if (out.prune_target != 0) {
        return BadData(
            "-ibdbooster with -prune: hints are made from blocks that are read twice, so "
            "all have to be stored. Leave out one, or give -ibdboosterfile");
    }
    if (args.IsSet("-assumevalid") && out.assume_valid.IsNull() && !out.booster.full_validation) {
        return BadData("-ibdbooster assumes blocks valid, but -assumevalid=0 says that none is: "
                       "leave out one, or add -ibdboosterfullvalidation");
    }
    return {};
}

Result<> ReadUndo(const ArgsManager& args, NodeOptions& out)
{
    const bool pruned = out.prune_target != 0;
    const std::string when = args.Get("-ibdboosterundo", pruned ? "0" : "1");
    if (when != "0" && when != "1" && when != "now") {
        return BadData("-ibdboosterundo={}: must be 0, 1 or now", when);
    }
    if (when == "1") out.undo = UndoWhen::kBackground;
    if (when == "now") out.undo = UndoWhen::kNow;
    if (out.undo == UndoWhen::kOff) return {};
    const bool asked = args.IsSet("-ibdboosterundo");
    out.own_hints.undo = asked ? UndoWanted::kYes : UndoWanted::kIfRoom;
    out.own_hints.undo_first = out.undo == UndoWhen::kNow;
    if (!pruned) return {};
    return BadData("-ibdboosterundo={} with -prune: undo data is made from all blocks, and these "
                   "are not kept. Leave out one",
                   when);
}

/** Reads the options for using and serving hints. */
Result<> ReadHints(const ArgsManager& args, const Path& net_dir, NodeOptions& out)
{
    out.hints.converted = std::filesystem::absolute(net_dir / "hints");
    if (const auto file = args.Get("-ibdboosterfile"); file && !args.IsNegated("-ibdboosterfile")) {
        if (file->empty()) return BadData("-ibdboosterfile: names no file");
        if (*file == "auto") {
            // It may be permanent in bitcoin.conf, and the other option given for one start.
            const bool never = !args.GetBool("-ibdbooster", true);
            if (!never) out.hints.folder = std::filesystem::absolute(net_dir / "hints");
        } else {
            out.hints.file = std::filesystem::absolute(*file);
        }
    }
    if (const auto text = args.Get("-ibdboosterhash"); text && !args.IsNegated("-ibdboosterhash")) {
        const auto bytes = FromHex(*text);
        if (!bytes || bytes->size() != Uint256{}.Span().size()) {
            return BadData("-ibdboosterhash={}: must be a SHA-256, 64 hex digits", *text);
        }
        out.hints.hash = Uint256::FromBytes(bytes->data());
        // -noibdboosterfile overrides the file in bitcoin.conf, including its hash.
        if (!args.IsSet("-ibdboosterfile")) {
            return BadData("-ibdboosterhash without -ibdboosterfile: there is no file that could "
                           "have this hash. Name the file, or leave out the hash");
        }
    }
    out.serve_hints = args.GetBool("-servehints", true);
    IBD_ASSIGN_OR_RETURN(out.hints_wait_seconds,
                         ReadInteger(args, {"-ibdboosterwait", 0, kMaxInterval, " seconds"},
                                     out.hints_wait_seconds));
    return {};
}

Result<LanesMode> ReadLanesMode(const ArgsManager& args)
{
    const std::string text = args.Get("-signaturelanes").value_or("1");
    if (args.IsNegated("-signaturelanes") || text == "0") return LanesMode::kOff;
    if (text == "1" || text.empty()) return LanesMode::kOn;
    if (text == "check") return LanesMode::kCheck;
    return BadData("-signaturelanes={}: must be 0, 1 or check", text);
}

Result<> ReadBooster(const ArgsManager& args, const ChainParams& params, const Path& net_dir,
                     NodeOptions& out)
{
    IBD_RETURN_IF_ERROR(ReadHints(args, net_dir, out));
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
    IBD_ASSIGN_OR_RETURN(const int64_t threads,
                         ReadInteger(args, {"-ibdboosterthreads", 1, kMaxBoosterThreads}, cores));
    booster.threads = static_cast<unsigned>(threads);
    IBD_ASSIGN_OR_RETURN(const int64_t mem,
                         ReadInteger(args,
                                     {"-ibdboostermem", kMinBoosterMem, kMaxBoosterMem, " MiB"},
                                     kDefaultBoosterMem));
    booster.memory_bytes = static_cast<size_t>(mem) << 20;
    IBD_ASSIGN_OR_RETURN(const int64_t peers,
                         ReadInteger(args,
                                     {"-ibdboosterpeers", kLeastBoosterPeers, kMostBoosterPeers},
                                     kLeastBoosterPeers));
    out.booster_peers = static_cast<int>(peers);
    IBD_ASSIGN_OR_RETURN(booster.checkpoint_seconds,
                         ReadInteger(args, {"-ibdboosterinterval", 1, kMaxInterval, " seconds"},
                                     booster.checkpoint_seconds));
    IBD_ASSIGN_OR_RETURN(const int64_t bytes,
                         ReadInteger(args, {"-ibdboosterintervalbytes", 1},
                                     static_cast<int64_t>(booster.checkpoint_bytes)));
    booster.checkpoint_bytes = static_cast<uint64_t>(bytes);
    booster.full_validation = args.GetBool("-ibdboosterfullvalidation", false);
    if (booster.full_validation) out.assume_valid = {}; // no block above the terminal block either
    IBD_ASSIGN_OR_RETURN(booster.signature_lanes, ReadLanesMode(args));
    booster.check_rules = args.GetBool("-ibdboosterchecks", false);
    out.own_hints.checks = args.GetBool("-ibdboosterchecks", true);
    if (booster.check_rules && out.prune_target != 0) {
        return BadData("-ibdboosterchecks with -prune: all blocks are read again, and these are "
                       "not kept. Leave out one");
    }
    const bool hinted = out.hints.file || out.hints.folder;
    if (hinted && out.prune_target != 0 && !args.GetBool("-ibdboosterprune", false)) {
        return BadData("-ibdboosterfile with -prune keeps no blocks to fall back to: if the hints "
                       "are wrong, all blocks are downloaded again. Add -ibdboosterprune=1 to "
                       "accept that");
    }
    booster.directory = net_dir / "ibdbooster";
    const auto dir = args.Get("-ibdboosterdir");
    if (dir && !args.IsNegated("-ibdboosterdir")) {
        if (dir->empty()) return BadData("-ibdboosterdir: names no directory");
        std::error_code code;
        const auto type = std::filesystem::symlink_status(*dir, code).type();
        const bool there = type != std::filesystem::file_type::not_found;
        if (there && !std::filesystem::is_directory(*dir, code)) {
            return BadData("-ibdboosterdir={}: is no directory", *dir);
        }
        booster.directory = OwnFolderIn(*dir, params, net_dir);
    }
    IBD_RETURN_IF_ERROR(ReadOwnHints(args, out));
    return ReadUndo(args, out);
}

} // namespace

void AddNodeOptions(ArgsManager& args)
{
    AddGeneralOptions(args);
    AddBooster(args);
    AddSignatureLanes(args);
    AddConnectionOptions(args);
    AddDebugOptions(args);
    AddPolicyOptions(args);
    AddHiddenOptions(args);
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

/** The values passed CheckParameters(). */
AssemblerOptions ReadAssembler(const ArgsManager& args)
{
    AssemblerOptions out;
    const auto fee_rate = args.Get("-blockmintxfee");
    if (fee_rate) out.min_fee_rate = ParseMoney(*fee_rate).value_or(out.min_fee_rate);
    if (const auto reserved = args.GetInt("-blockreservedweight")) {
        out.reserved_weight = static_cast<uint64_t>(*reserved);
    }
    if (const auto most = args.GetInt("-blockmaxweight")) {
        out.max_weight = static_cast<uint64_t>(*most);
    }
    if (const auto version = args.GetInt("-blockversion")) {
        out.version = static_cast<int32_t>(*version);
    }
    return out;
}

} // namespace

Result<NodeOptions> ReadNodeOptions(const ArgsManager& args, const ChainParams& params,
                                    const Path& net_dir, uint64_t machine_memory)
{
    IBD_RETURN_IF_ERROR(RefuseUnsupported(args));
    NodeOptions out;
    out.cache = DivideCache(DbCacheMebibytes(args, machine_memory));
    out.batch_bytes =
        static_cast<size_t>(std::max<int64_t>(1, args.GetInt("-dbbatchsize", kDefaultBatchSize)));
    out.compact_databases = args.GetBool("-forcecompactdb", false);
    out.script_threads = ScriptThreads(args.GetInt("-par", 0));
    out.prevout_threads = static_cast<unsigned>(
        std::min(args.GetInt("-prevoutfetchthreads", kDefaultPrevoutThreads), kMaxPrevoutThreads));
    const std::vector<std::string> tests = args.GetAll("-test");
    out.reindex_if_damaged = std::ranges::find(tests, kReindexIfDamaged) != tests.end();
    out.reindex = args.GetBool("-reindex", false);
    out.reindex_chainstate = out.reindex || args.GetBool("-reindex-chainstate", false);
    out.check_blocks = static_cast<int>(args.GetInt("-checkblocks", 6));
    out.check_level = static_cast<int>(args.GetInt("-checklevel", 3));
    out.stop_at_height = static_cast<int>(args.GetInt("-stopatheight", 0));
    out.stop_after_import = args.GetBool("-stopafterblockimport", false);
    out.obfuscate_blocks = args.GetBool("-blocksxor", true);
    out.small_block_files = args.GetBool("-fastprune", false);
    out.prune_target = PruneTarget(args);
    if (args.IsSet("-blocksdir")) {
        out.blocks_dir = std::filesystem::absolute(args.GetPath("-blocksdir", {}));
    }
    for (const std::string& file : args.GetAll("-loadblock")) {
        // An empty name is reported when it is opened.
        out.load_blocks.push_back(file.empty() ? Path() : std::filesystem::absolute(file));
    }
    out.signature_cache_bytes =
        static_cast<size_t>(std::clamp<int64_t>(
            args.GetInt("-maxsigcachesize", kDefaultSignatureCache), 0, kMaxSignatureCache))
        << 20;
    out.max_tip_age = args.GetInt("-maxtipage", kDefaultTipAge);
    out.policy = ReadPolicy(args);
    out.pool = ReadPoolLimits(args);
    out.assembler = ReadAssembler(args);
    out.alert_notify = args.Get("-alertnotify", "");
    out.block_notify = args.Get("-blocknotify", "");
    out.startup_notify = args.Get("-startupnotify", "");
    out.shutdown_notify = args.GetAll("-shutdownnotify");
    IBD_RETURN_IF_ERROR(ReadTrust(args, params, out));
    IBD_RETURN_IF_ERROR(ReadBooster(args, params, net_dir, out));
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
