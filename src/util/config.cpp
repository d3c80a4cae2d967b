// See config.h.
#include "util/config.h"

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

Result<Path> BaseDirectory(Env& env, const ArgsManager& args)
{
    const auto given = args.Get("-datadir");
    if (!given || given->empty()) return DefaultDataDir();
    std::error_code code;
    const Path path = std::filesystem::absolute(*given, code);
    if (!env.Exists(path)) {
        return SystemError("data directory '{}' (-datadir) does not exist", path.string());
    }
    return path;
}

} // namespace

void AddCommonOptions(ArgsManager& args)
{
    const auto general = [&](const char* name, const char* argument, const char* help,
                             unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kGeneral, flags);
    };
    const auto chain = [&](const char* name, const char* argument, const char* help,
                           unsigned flags = OptionSpec::kPlain) {
        args.Add(name, argument, help, OptionGroup::kChain, flags);
    };
    general("-help", "", "Print this help and exit (also -h and -?)", OptionSpec::kCommandLineOnly);
    general("-h", "", "", OptionSpec::kHidden | OptionSpec::kCommandLineOnly);
    general("-?", "", "", OptionSpec::kHidden | OptionSpec::kCommandLineOnly);
    general("-version", "", "Print the version and exit");
    general("-conf", "=<file>",
            "Configuration file; a relative path is below the data directory; on the command line "
            "only (default: bitcoin.conf)",
            OptionSpec::kCommandLineOnly);
    general("-datadir", "=<dir>", "Data directory (default: ~/.bitcoin)");
    general("-includeconf", "=<file>",
            "Further configuration file, relative to the data directory; in the configuration file "
            "only");
    chain("-chain", "=<chain>", "Network: main, test, testnet4, signet or regtest (default: main)");
    chain("-regtest", "", "Use the regression test network: blocks can be made at once");
    chain("-signet", "", "Use the signet network");
    chain("-signetchallenge", "=<hex>", "Script that signs the blocks of a custom signet");
    chain("-testnet", "", "Use testnet3");
    chain("-testnet4", "", "Use testnet4");
}

std::string IgnoredConfig(Env& env, const ArgsManager& args, const DataPaths& paths)
{
    const Path ignored = paths.base / kConfigName;
    if (args.IsNegated("-conf") || !env.Exists(ignored)) return {};
    std::error_code code;
    if (std::filesystem::equivalent(paths.config, ignored, code)) return {};
    return fmt::format("'{}' does not count, as '{}' is the configuration file: remove one, or "
                       "name it there with includeconf=",
                       ignored.string(), paths.config.string());
}

std::string MisplacedOptions(const ArgsManager& args, const DataPaths& paths)
{
    const std::vector<std::string> names = args.Misplaced();
    if (names.empty()) return {};
    return fmt::format("configuration file: {} before any section holds on main only; on this "
                       "network it belongs into [{}]",
                       fmt::join(names, ", "), paths.chain);
}

Result<DataPaths> LoadConfiguration(Env& env, ArgsManager& args)
{
    IBD_ASSIGN_OR_RETURN(Path base, BaseDirectory(env, args));
    DataPaths paths;
    paths.config = base / (args.IsNegated("-conf") ? kConfigName : args.Get("-conf", kConfigName));
    IBD_RETURN_IF_ERROR(args.ReadConfigFiles(env, base));
    // The file may have named another directory; it stays the one that counts.
    IBD_ASSIGN_OR_RETURN(paths.base, BaseDirectory(env, args));
    IBD_ASSIGN_OR_RETURN(paths.chain, args.ChainName());
    args.SelectNetwork(paths.chain);
    for (const ChainFacts& chain : kChains) {
        if (paths.chain != chain.name) continue;
        paths.folder = chain.folder;
        paths.rpc_port = chain.rpc_port;
    }
    return paths;
}

} // namespace ibd
