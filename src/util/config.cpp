// See config.h.
#include "util/config.h"
#include "util/option_row.h"

#include <fmt/format.h>

namespace ibd {

namespace {

struct ChainFacts {
    const char* name;
    const char* folder;
    uint16_t rpc_port;
};

constexpr ChainFacts kChains[] = {{"main", "", 8332},
                                  {"test", "testnet3", 18332},
                                  {"testnet4", "testnet4", 48332},
                                  {"signet", "signet", 38332},
                                  {"regtest", "regtest", 18443}};

constexpr const char* kConfigName = "bitcoin.conf";

/** -datadir, or the default; nothing: it is not a directory. */
std::optional<Path> BaseDirectory(const ArgsManager& args)
{
    const Path given = args.GetPath("-datadir", {});
    if (given.empty()) return DefaultDataDir();
    std::error_code code;
    const Path path = std::filesystem::absolute(given, code);
    if (!std::filesystem::is_directory(path, code)) return std::nullopt;
    return path;
}

/** No fields: code reads these options one by one, before the sources of the others are known. */
struct Nothing {};

constexpr OptionRow<Nothing> kGeneral[] = {
    {"-help", "", "Print this help and exit (also -h and -?)"},
    {"-version", "", "Print the version and exit"},
    {"-conf", "=<file>",
     "Configuration file; a relative path is below the data directory; on the command line "
     "only (default: bitcoin.conf)"},
    {"-datadir", "=<dir>", "Data directory (default: ~/.bitcoin)", OptionSpec::kNoNegation},
    {"-includeconf", "=<file>",
     "Further configuration file, relative to the data directory; in the configuration file "
     "only"},
};

constexpr OptionRow<Nothing> kHelp[] = {
    {"-h", "", ""},
    {"-?", "", ""},
};

constexpr OptionRow<Nothing> kChain[] = {
    {"-chain", "=<chain>", "Network: main, test, testnet4, signet or regtest (default: main)"},
    {"-regtest", "", "Use the regression test network, in which blocks are made without work",
     OptionSpec::kHidden},
    {"-signet", "", "Use the signet network"},
    {"-signetchallenge", "", "Script, in hex, that the blocks of a custom signet satisfy",
     OptionSpec::kNoNegation},
    {"-signetseednode", "", "Seed node of a custom signet, host[:port]; may be repeated",
     OptionSpec::kNoNegation},
    {"-testnet", "", "Use testnet3, which is deprecated"},
    {"-testnet4", "", "Use testnet4"},
    {"-vbparams", "=deployment:start:end[:min_activation_height]",
     "Start, timeout and minimum height of a version-bits deployment; not on main",
     OptionSpec::kHidden},
};

constexpr OptionRow<Nothing> kDebug[] = {
    {"-testactivationheight", "=name@height.",
     "Height at which segwit, bip34, dersig, cltv or csv is enforced; not on main",
     OptionSpec::kHidden},
};

} // namespace

void AddCommonOptions(ArgsManager& args)
{
    using Topic = OptionTopic<Nothing>;
    for (const Topic& topic :
         {Topic{OptionGroup::kGeneral, kGeneral}, Topic{OptionGroup::kHidden, kHelp},
          Topic{OptionGroup::kChain, kChain}, Topic{OptionGroup::kDebug, kDebug}}) {
        AddRows(args, topic);
    }
}

bool HelpRequested(const ArgsManager& args)
{
    for (const char* name : {"-?", "-h", "-help", "-help-debug"}) {
        if (args.IsSet(name)) return true;
    }
    return false;
}

Result<DataPaths> LoadConfiguration(Env& env, ArgsManager& args)
{
    DataPaths paths;
    std::optional<Path> base = BaseDirectory(args);
    const auto missing = [&](const char* word) {
        return SystemError("{} data directory \"{}\" does not exist.", word,
                           args.Get("-datadir", ""));
    };
    if (!base) return missing("Specified");
    paths.original_base = *base;
    const Path config = args.GetPath("-conf", kConfigName);
    if (!config.empty()) paths.config = *base / config;
    const auto in_file = [](const std::string& what) {
        return fmt::format("{}: {}", kConfigFileError, what);
    };
    if (const auto read = args.ReadConfigFiles(env, *base); !read) {
        // A conflict between network options is not the file's error.
        const auto chain = args.ChainName();
        if (!chain && chain.Message() == read.Message()) return chain.GetError();
        return Error{in_file(read.Message()), read.GetError().kind};
    }
    // The file may name another data directory. Before the network is known, only its lines outside
    // of sections count.
    if (!BaseDirectory(args)) return BadData("{}", in_file(missing("specified").message));
    IBD_ASSIGN_OR_RETURN(paths.chain, args.ChainName());
    args.SelectNetwork(paths.chain);
    IBD_RETURN_IF_ERROR(args.ChainName()); // with the network's section
    base = BaseDirectory(args);
    if (!base) return BadData("{}", in_file(missing("specified").message));
    paths.base = *base;
    for (const ChainFacts& chain : kChains) {
        if (paths.chain != chain.name) continue;
        paths.folder = chain.folder;
        paths.rpc_port = chain.rpc_port;
    }
    return paths;
}

} // namespace ibd
