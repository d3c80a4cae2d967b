// See start_config.h.
#include "node/start_config.h"
#include "node/options.h"
#include "node/start_checks.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr const char* kConfigName = "bitcoin.conf";

/** Quotes with double quotes; quotes and backslashes get a backslash. */
std::string Quoted(const Path& path)
{
    std::string out = "\"";
    for (const char c : path.string()) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

Result<> MakeFolders(Env& env, const DataPaths& paths)
{
    for (const Path& folder : {paths.base, paths.Network()}) {
        if (!env.Exists(folder)) IBD_RETURN_IF_ERROR(env.CreateDirectories(folder / "wallets"));
    }
    return {};
}

/** A bitcoin.conf in the data directory that is ignored because another file is used. */
Result<std::string> FindIgnored(Env& env, const ArgsManager& args, const DataPaths& paths)
{
    const Path there = paths.base / kConfigName;
    if (!env.Exists(there)) return std::string();
    if (paths.config.empty()) {
        return fmt::format("Data directory {} contains a {} file which is explicitly ignored using "
                           "-noconf.",
                           Quoted(paths.base), Quoted(kConfigName));
    }
    std::error_code code;
    if (std::filesystem::equivalent(paths.config, there, code)) return std::string();
    const std::string given = args.Get("-conf", "");
    const std::string source = given.empty() ? "data directory " + Quoted(paths.original_base)
                                             : "command line argument " + Quoted("-conf=" + given);
    const std::string text = fmt::format(
        "Data directory {0} contains a {1} file which is ignored, because a different "
        "configuration file {2} from {3} is being used instead. Possible ways to address this "
        "would be to:\n"
        "- Delete or rename the {1} file in data directory {0}.\n"
        "- Change datadir= or conf= options to specify one configuration file, not two, and use "
        "includeconf= to include any other configuration files.",
        Quoted(paths.base), Quoted(kConfigName), Quoted(paths.config), source);
    if (args.GetBool("-allowignoredconf", false)) return text;
    return BadData("{}\n- Set allowignoredconf=1 option to treat this condition as a warning, not "
                   "an error.",
                   text);
}

} // namespace

Result<StartConfig> InitConfig(Env& env, ArgsManager& args)
{
    StartConfig config;
    IBD_ASSIGN_OR_RETURN(config.paths, LoadConfiguration(env, args));
    IBD_ASSIGN_OR_RETURN(config.params, ReadChainParams(args, config.paths.chain));
    IBD_RETURN_IF_ERROR(MakeFolders(env, config.paths));
    IBD_ASSIGN_OR_RETURN(config.ignored, FindIgnored(env, args, config.paths));
    IBD_ASSIGN_OR_RETURN(config.settings, ReadSettingsFile(env, args, config.paths.Network()));
    IBD_RETURN_IF_ERROR(args.ChainName()); // the settings may name another network
    return config;
}

void LogConfigOddities(const ArgsManager& args, const StartConfig& config, Logger& log)
{
    for (const std::string& text : args.Warnings()) log.Warning("{}", text);
    for (const std::string& name : args.Included()) {
        log.Info("Included configuration file {}", name);
    }
    if (!config.ignored.empty()) {
        const bool disabled = config.paths.config.empty();
        LogLines(log, disabled ? LogLevel::kInfo : LogLevel::kWarning, config.ignored);
    }
    for (const std::string& text : config.settings.warnings) log.Warning("{}", text);
}

void LogConfig(Env& env, const ArgsManager& args, const StartConfig& config, Logger& log)
{
    if (!args.GetBool("-logtimestamps", true)) {
        log.Info("Startup time: {}", FormatIso8601(env.UnixTime()));
    }
    log.Info("Default data directory {}", DefaultDataDir().string());
    log.Info("Using data directory {}", config.paths.Network().string());
    const Path& file = config.paths.config;
    std::error_code code;
    if (file.empty()) {
        log.Info("Config file: <disabled>");
    } else if (std::filesystem::exists(file, code)) {
        log.Info("Config file: {}", file.string());
    } else {
        log.Info("Config file: {} (not found, skipping)", file.string());
    }
    for (const std::string& line : args.DescribeConfig()) log.Info("{}", line);
    for (const std::string& line : config.settings.lines) log.Info("{}", line);
    for (const std::string& line : args.DescribeCommandLine()) log.Info("{}", line);
    if (args.IsSet("-datadir") && !args.GetPath("-datadir", {}).is_absolute()) {
        log.Warning("Relative datadir option '{}' specified, which will be interpreted relative to "
                    "the current working directory '{}'. This is fragile, because if bitcoin is "
                    "started in the future from a different location, it will be unable to locate "
                    "the current data files. There could also be data loss if bitcoin is started "
                    "while in a temporary directory.",
                    args.Get("-datadir", ""), std::filesystem::current_path(code).string());
    }
}

} // namespace ibd
