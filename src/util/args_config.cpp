// ArgsManager: bitcoin.conf and its includes; see args.h.
#include "util/args.h"
#include "util/strings.h"

namespace ibd {

Result<> ArgsManager::StoreConfigLine(const std::string& key, const std::string& value)
{
    const size_t dot = key.find('.');
    const std::string section = dot == std::string::npos ? "" : key.substr(0, dot);
    std::string name = dot == std::string::npos ? key : key.substr(dot + 1);
    const bool negated = name.starts_with("no");
    if (negated) name.erase(0, 2);
    if (name == "conf") {
        return BadData("conf cannot be set in the configuration file; use includeconf= if you want "
                       "to include additional config files");
    }
    if (name == "reindex") {
        m_warnings.push_back(
            "reindex=1 is set in the configuration file, which will significantly slow down "
            "startup. Consider removing or commenting out this option for better performance, "
            "unless there is currently a condition which makes rebuilding the indexes necessary");
    }
    const auto spec = m_specs.find("-" + name);
    if (spec == m_specs.end()) {
        m_warnings.push_back(fmt::format("Ignoring unknown configuration value {}", key));
        return {};
    }
    IBD_ASSIGN_OR_RETURN(ArgValue stored, Interpret(negated, spec->second, value));
    m_config[section][spec->first].push_back(std::move(stored));
    return {};
}

Result<> ArgsManager::ParseConfig(std::string_view text, const std::string& origin)
{
    std::string prefix; // "regtest." in [regtest]; the full name is accepted too
    std::vector<std::pair<std::string, std::string>> pairs;
    int number = 0;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (std::string_view line : Split(text, '\n')) {
        ++number;
        const size_t hash = line.find('#');
        const bool cut = hash != std::string_view::npos;
        if (cut) line = line.substr(0, hash);
        line = Trim(line);
        if (line.empty()) continue;
        if (line.starts_with('[') && line.ends_with(']')) {
            const std::string section(line.substr(1, line.size() - 2));
            m_sections.push_back({section, origin, number});
            prefix = section + ".";
            continue;
        }
        if (line.starts_with('-')) {
            return BadData("parse error on line {}: {}, options in configuration file must be "
                           "specified without leading -",
                           number, line);
        }
        const size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            const bool no = line.starts_with("no");
            return BadData("parse error on line {}: {}{}", number, line,
                           no ? fmt::format(", if you intended to specify a negated option, use "
                                            "{}=1 instead",
                                            line)
                              : "");
        }
        std::string name = prefix + std::string(Trim(line.substr(0, equals)));
        if (cut && name.find("rpcpassword") != std::string::npos) {
            return BadData("parse error on line {}, using # in rpcpassword can be ambiguous and "
                           "should be avoided",
                           number);
        }
        if (const size_t dot = name.rfind('.'); dot != std::string::npos && prefix.size() <= dot) {
            m_sections.push_back({name.substr(0, dot), origin, number});
        }
        pairs.emplace_back(std::move(name), Trim(line.substr(equals + 1)));
    }
    for (const auto& [name, value] : pairs) IBD_RETURN_IF_ERROR(StoreConfigLine(name, value));
    return {};
}

// Adds the includes of [section] from number `skip` on; returns their total number.
size_t ArgsManager::Includes(const std::string& section, size_t skip,
                             std::vector<std::string>& names) const
{
    const auto values = m_config.find(section);
    if (values == m_config.end()) return 0;
    const auto found = values->second.find("-includeconf");
    if (found == values->second.end()) return 0;
    const std::vector<ArgValue>& all = found->second;
    for (size_t i = all.size(); i > 0; --i) {
        if (all[i - 1].IsNegated()) skip = std::max(skip, i);
    }
    for (size_t i = skip; i < all.size(); ++i) names.push_back(all[i].AsText());
    return all.size();
}

Result<> ArgsManager::ReadIncludes(Env& env, const Path& base)
{
    if (m_command_line.contains("-includeconf")) return {}; // -noincludeconf
    IBD_ASSIGN_OR_RETURN(const std::string chain, ChainName());
    std::vector<std::string> names;
    const size_t of_chain = Includes(chain, 0, names);
    const size_t of_all = Includes("", 0, names);
    for (const std::string& name : names) {
        const Path path = base / name;
        std::error_code code;
        if (std::filesystem::is_directory(path, code)) {
            return BadData("Included config file \"{}\" is a directory.", path.string());
        }
        const auto text = ReadWholeStream(env, path);
        if (!text) return SystemError("Failed to include configuration file {}", name);
        IBD_RETURN_IF_ERROR(ParseConfig(AsChars(*text), name));
        m_included.push_back(name);
    }
    // Includes are one level deep.
    Includes(chain, of_chain, m_ignored_includes);
    Includes("", of_all, m_ignored_includes);
    IBD_ASSIGN_OR_RETURN(const std::string chain_now, ChainName());
    if (chain_now != chain) Includes(chain_now, 0, m_ignored_includes);
    return {};
}

Result<> ArgsManager::ReadConfigFiles(Env& env, const Path& base)
{
    if (IsNegated("-conf")) return {};
    const Path path = base / GetPath("-conf", "bitcoin.conf");
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) {
        return BadData("Config file \"{}\" is a directory.", path.string());
    }
    const auto text = ReadWholeStream(env, path);
    if (!text && IsSet("-conf")) {
        return SystemError("specified config file \"{}\" could not be opened.", path.string());
    }
    if (!text) {
        IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(path));
        if (kind == FileKind::kNothing || kind == FileKind::kDeadLink) return {};
        return SystemError("The configuration file cannot be read: {}", text.Message());
    }
    IBD_RETURN_IF_ERROR(ParseConfig(AsChars(*text), path.string()));
    return ReadIncludes(env, base);
}

std::vector<std::string> ArgsManager::UnknownSections() const
{
    std::vector<std::string> unknown;
    for (const Section& section : m_sections) {
        if (IsChainName(section.name)) continue;
        unknown.push_back(fmt::format("{}:{} Section [{}] is not recognized.", section.file,
                                      section.line, section.name));
    }
    return unknown;
}

std::vector<std::string> ArgsManager::Misplaced() const
{
    std::vector<std::string> names;
    if (m_network.empty() || m_network == "main") return names;
    for (const auto& [name, spec] : m_specs) {
        if ((spec.flags & OptionSpec::kNetworkOnly) == 0) continue;
        bool at_top = false;
        bool elsewhere = false;
        Visit(m_network, name, [&](Source source, const std::vector<ArgValue>& values) {
            if (!values.back().IsNegated()) (source == Source::kTop ? at_top : elsewhere) = true;
        });
        if (at_top && !elsewhere) names.push_back(name);
    }
    return names;
}

void ArgsManager::Describe(const std::string& origin, const Values& values,
                           std::vector<std::string>& lines) const
{
    for (const auto& [name, list] : values) {
        const bool secret = (m_specs.at(name).flags & OptionSpec::kSensitive) != 0;
        for (const ArgValue& value : list) {
            lines.push_back(
                fmt::format("{} {}={}", origin, name.substr(1), secret ? "****" : value.AsJson()));
        }
    }
}

std::vector<std::string> ArgsManager::DescribeConfig() const
{
    std::vector<std::string> lines;
    for (const auto& [section, values] : m_config) {
        Describe(section.empty() ? "Config file arg:" : "Config file arg: [" + section + "]",
                 values, lines);
    }
    return lines;
}

std::vector<std::string> ArgsManager::DescribeCommandLine() const
{
    std::vector<std::string> lines;
    Describe("Command-line arg:", m_command_line, lines);
    return lines;
}

} // namespace ibd
