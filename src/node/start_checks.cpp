// See start_checks.h. Checks run in Bitcoin Core's order: if two options are wrong, the same one is
// reported.
#include "node/start_checks.h"

#include "consensus/limits.h"
#include "mempool/pool_config.h"
#include "mining/block_assembler.h"
#include "util/hex.h"
#include "util/process.h"
#include "util/strings.h"
#include "validation/pruning.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kMaxClusterCount = 64;
constexpr int64_t kPruneMinimum = kLeastPruneTarget >> 20; //!< MiB

/** Ok if all the amounts are valid. */
Result<> CheckAmounts(const ArgsManager& args, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        const auto text = args.Get(name);
        if (!text || ParseMoney(*text)) continue;
        return BadData("Invalid amount for {}=<amount>: '{}'", name, *text);
    }
    return {};
}

/** Options removed from Core, with its error texts. */
constexpr std::pair<const char*, const char*> kDropped[] = {
    {"-checkpoints",
     "Option '-checkpoints' is set but checkpoints were removed. This option has no effect."},
    {"-limitancestorsize", "Option '-limitancestorsize' is given but ancestor size limits have "
                           "been replaced with cluster "
                           "size limits (see -limitclustersize). This option has no effect."},
    {"-limitdescendantsize",
     "Option '-limitdescendantsize' is given but descendant size limits have been replaced with "
     "cluster size limits (see -limitclustersize). This option has no effect."},
};

Result<> CheckFiles(const ArgsManager& args, const ChainParams& params, Logger& log)
{
    if (params.network == Network::kSignet) {
        log.Info("Signet derived magic (message start): {}", ToHex(params.magic));
    }
    std::string misplaced;
    for (const std::string& name : args.Misplaced()) {
        misplaced += fmt::format("Config setting for {} only applied on {} network when in [{}] "
                                 "section.\n",
                                 name, params.name, params.name);
    }
    if (!misplaced.empty()) return BadData("{}", misplaced);
    if (params.network == Network::kTestnet3) {
        log.Info("Warning: Support for testnet3 is deprecated and will be removed in an upcoming "
                 "release. Consider switching to testnet4.");
    }
    std::string sections;
    for (const std::string& section : args.UnknownSections()) sections += section + "\n";
    if (!sections.empty()) InitWarning(log, sections);
    if (args.IsSet("-blocksdir")) {
        std::error_code code;
        if (!std::filesystem::is_directory(args.GetPath("-blocksdir", {}), code)) {
            return SystemError("Specified blocks directory \"{}\" does not exist.",
                               args.Get("-blocksdir", ""));
        }
    }
    return {};
}

Result<> CheckIndexes(const ArgsManager& args)
{
    IBD_ASSIGN_OR_RETURN(const bool filters, WantsFilterIndex(args));
    if (args.GetBool("-peerblockfilters", false) && !filters) {
        return BadData("Cannot set -peerblockfilters without -blockfilterindex.");
    }
    if (args.GetInt("-prune", 0) == 0) return {};
    for (const char* index : {"-txindex", "-txospenderindex"}) {
        if (args.GetBool(index, false)) {
            return BadData("Prune mode is incompatible with {}.", index);
        }
    }
    if (args.GetBool("-reindex-chainstate", false)) {
        return BadData("Prune mode is incompatible with -reindex-chainstate. Use full -reindex "
                       "instead.");
    }
    return {};
}

Result<> CheckListening(const ArgsManager& args)
{
    if (args.GetBool("-forcednsseed", false) && !args.GetBool("-dnsseed", true)) {
        return BadData("Cannot set -forcednsseed to true when setting -dnsseed to false.");
    }
    const bool binds = !args.GetAll("-bind").empty() || !args.GetAll("-whitebind").empty();
    const bool listens = args.GetBool("-listen", true);
    if (binds && !listens) {
        return BadData("Cannot set -bind or -whitebind together with -listen=0");
    }
    if (!listens && args.GetBool("-listenonion", true)) {
        return BadData("Cannot set -listen=0 together with -listenonion=1");
    }
    if (args.GetInt("-maxconnections", 125) < 0) {
        return BadData("-maxconnections must be greater or equal than zero");
    }
    return {};
}

/** A weight as Core reads it: a text that is not a number is 0. */
uint64_t Weight(const ArgsManager& args, const std::string& name, uint64_t otherwise)
{
    const auto value = args.GetInt(name);
    if (!value) return otherwise;
    return static_cast<uint64_t>(std::max<int64_t>(*value, 0));
}

Result<> CheckMining(const ArgsManager& args)
{
    constexpr auto kMostWeight = static_cast<uint64_t>(kMaxBlockWeight);
    IBD_RETURN_IF_ERROR(CheckAmounts(args, {"-blockmintxfee"}));
    const uint64_t reserved = Weight(args, "-blockreservedweight", kDefaultReservedWeight);
    const uint64_t most = Weight(args, "-blockmaxweight", kMostWeight);
    if (reserved < kLeastReservedWeight) {
        return BadData("-blockreservedweight ({}) is lower than minimum safety value of ({})",
                       reserved, kLeastReservedWeight);
    }
    for (const auto& [name, weight] :
         {std::pair{"-blockreservedweight", reserved}, std::pair{"-blockmaxweight", most}}) {
        if (weight <= kMostWeight) continue;
        return BadData("{} ({}) exceeds consensus maximum block weight ({})", name, weight,
                       kMostWeight);
    }
    if (reserved > most) {
        return BadData("-blockreservedweight ({}) exceeds -blockmaxweight ({})", reserved, most);
    }
    return {};
}

Result<> CheckTests(const ArgsManager& args, const ChainParams& params, Logger& log)
{
    const std::vector<std::string> tests = args.GetAll("-test");
    if (!tests.empty() && params.network != Network::kRegtest) {
        return BadData("-test=<option> can only be used with regtest");
    }
    for (const std::string& test : tests) {
        if (test == "addrman" || test == "reindex_after_failure_noninteractive_yes" ||
            test == "bip94") {
            continue;
        }
        InitWarning(log,
                    fmt::format("Unrecognised option \"{}\" provided in -test=<option>.", test));
    }
    if (params.network != Network::kMain) return {};
    for (const char* name : {"-testactivationheight", "-vbparams"}) {
        if (args.IsSet(name)) return BadData("The {} option may not be used on mainnet.", name);
    }
    return {};
}

/** Up to 64 hex digits, optionally with 0x. */
bool IsUserHash(std::string_view text)
{
    if (text.starts_with("0x")) text.remove_prefix(2);
    return text.size() <= 64 &&
           std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Result<> CheckChain(const ArgsManager& args)
{
    if (const auto work = args.Get("-minimumchainwork"); work && !IsUserHash(*work)) {
        return BadData("Invalid minimum work specified ({}), must be up to 64 hex digits", *work);
    }
    if (const auto hash = args.Get("-assumevalid"); hash && !IsUserHash(*hash)) {
        return BadData("Invalid assumevalid block hash specified ({}), must be up to 64 hex digits "
                       "(or 0 to disable)",
                       *hash);
    }
    if (const auto threads = args.GetInt("-prevoutfetchthreads"); threads && *threads < 0) {
        return BadData("-prevoutfetchthreads must be non-negative (got {}). Use 0 to disable "
                       "parallel input fetching.",
                       *threads);
    }
    const int64_t prune = args.GetInt("-prune", 0);
    if (prune < 0) return BadData("Prune cannot be configured with a negative value.");
    if (prune > 1 && prune < kPruneMinimum) {
        return BadData("Prune configured below the minimum of {} MiB.  Please use a higher number.",
                       kPruneMinimum);
    }
    return {};
}

Result<> CheckPool(const ArgsManager& args, const ChainParams& params)
{
    IBD_RETURN_IF_ERROR(
        CheckAmounts(args, {"-incrementalrelayfee", "-minrelaytxfee", "-dustrelayfee"}));
    if (!params.is_test_chain && args.GetBool("-acceptnonstdtxn", false)) {
        return BadData("acceptnonstdtxn is not currently supported for {} chain", params.name);
    }
    if (args.GetInt("-limitclustercount", kMaxClusterCount) > kMaxClusterCount) {
        return BadData("limitclustercount must be less than or equal to {}", kMaxClusterCount);
    }
    return {};
}

} // namespace

Result<bool> WantsFilterIndex(const ArgsManager& args)
{
    const std::string value = args.Get("-blockfilterindex", "0");
    if (value == "0") return false;
    if (value.empty() || value == "1") return true;
    for (const std::string& name : args.GetAll("-blockfilterindex")) {
        if (name != "basic") return BadData("Unknown -blockfilterindex value {}.", name);
    }
    return true;
}

void LogLines(Logger& log, LogLevel level, std::string_view text)
{
    constexpr std::string_view kCaption = "Error: "; // of a second error; the level says it
    for (std::string_view line : Split(text, '\n')) {
        if (line.starts_with(kCaption)) line.remove_prefix(kCaption.size());
        if (line.empty()) continue;
        level == LogLevel::kError     ? log.Error("{}", line)
        : level == LogLevel::kWarning ? log.Warning("{}", line)
                                      : log.Info("{}", line);
    }
}

void InitWarning(Logger& log, const std::string& text)
{
    LogLines(log, LogLevel::kWarning, text);
    Print(stderr, "Warning: {}\n", text);
}

void InitError(Logger& log, const std::string& text)
{
    LogLines(log, LogLevel::kError, text);
    Print(stderr, "Error: {}\n", text);
}

Result<> ApplyLogCategories(const ArgsManager& args, FileLogger& log)
{
    std::vector<std::string> names = args.GetAll("-debug");
    // -debug=0 cancels earlier ones.
    const auto none = std::find_if(names.rbegin(), names.rend(), [](const std::string& name) {
        return name == "0" || name == "none";
    });
    names.erase(names.begin(), none.base());
    const auto find = [&](const char* option, const std::string& name) -> Result<LogCategory> {
        const auto category = ParseLogCategory(name);
        if (!category) return BadData("Unsupported logging category {}={}.", option, name);
        if (*category == LogCategory::kNone) {
            log.Warning(
                "The logging category `{}` is deprecated, does nothing, and will be removed "
                "in a future version",
                name);
        }
        return *category;
    };
    for (const std::string& name : names) {
        IBD_ASSIGN_OR_RETURN(const LogCategory category, find("-debug", name));
        log.Enable(category);
    }
    for (const std::string& name : args.GetAll("-debugexclude")) {
        IBD_ASSIGN_OR_RETURN(const LogCategory category, find("-debugexclude", name));
        log.Disable(category);
    }
    log.Info(
        "Log output may contain privacy-sensitive information. Be cautious when sharing logs.");
    for (const std::string& value : args.GetAll("-loglevel")) {
        const size_t colon = value.find(':', 3);
        const bool global = colon == std::string::npos;
        const auto level = ParseLogLevel(global ? value : value.substr(colon + 1));
        const bool settable = level && *level <= LogLevel::kInfo;
        const auto category =
            global ? std::optional(LogCategory::kAll) : ParseLogCategory(value.substr(0, colon));
        if (global && !settable) {
            return BadData("Unsupported global logging level -loglevel={}. Valid values: {}.",
                           value, kSettableLogLevels);
        }
        if (!settable || !category) {
            return BadData("Unsupported category-specific logging level -loglevel={}. Expected "
                           "-loglevel=<category>:<loglevel>. Valid categories: {}. Valid "
                           "loglevels: {}.",
                           value, LogCategoryNames(), kSettableLogLevels);
        }
        global ? log.SetLevel(*level) : log.SetLevel(*category, *level);
    }
    return {};
}

Result<> CheckParameters(const ArgsManager& args, const ChainParams& params, FileLogger& log)
{
    for (const auto& [name, text] : kDropped) {
        if (args.IsSet(name)) InitWarning(log, text);
    }
    IBD_RETURN_IF_ERROR(CheckFiles(args, params, log));
    IBD_RETURN_IF_ERROR(CheckIndexes(args));
    IBD_RETURN_IF_ERROR(CheckListening(args));
    IBD_RETURN_IF_ERROR(ApplyLogCategories(args, log));
    if (args.GetInt("-peertimeout", 60) <= 0) {
        return BadData("peertimeout must be a positive integer.");
    }
    IBD_RETURN_IF_ERROR(CheckMining(args));
    const int64_t mock_time = args.GetInt("-mocktime", 0);
    if (mock_time < 0) return BadData("-mocktime must not be negative");
    if (mock_time > UINT32_MAX) return BadData("-mocktime must be at most {}", UINT32_MAX);
    IBD_RETURN_IF_ERROR(CheckTests(args, params, log));
    IBD_RETURN_IF_ERROR(CheckChain(args));
    return CheckPool(args, params);
}

} // namespace ibd
