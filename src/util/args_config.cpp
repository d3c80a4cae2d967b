// ArgsManager: bitcoin.conf and its includes; see args.h.
#include "util/args.h"
#include "util/strings.h"

namespace ibd {

namespace {

bool IsSection(std::string_view name)
{
    for (const char* known : {"main", "test", "testnet4", "signet", "regtest"}) {
        if (name == known) return true;
    }
    return false;
}

} // namespace

Result<> ArgsManager::ParseConfig(std::string_view text, const std::string& origin)
{
    if (text.find('\0') != std::string_view::npos) {
        return BadData("{} is not a text file", origin);
    }
    std::string section;
    int number = 0;
    for (std::string_view line : Split(text, '\n')) {
        ++number;
        const std::string where = fmt::format("{}:{}", origin, number);
        const size_t hash = line.find('#');
        const bool cut = hash != std::string_view::npos;
        if (cut) line = line.substr(0, hash);
        line = Trim(line);
        if (line.empty()) continue;
        if (line.starts_with('[') && line.ends_with(']')) {
            section = line.substr(1, line.size() - 2);
            if (!IsSection(section)) {
                m_warnings.push_back(fmt::format("{}: there is no section [{}]", where, section));
            }
            continue;
        }
        if (line.starts_with('-')) {
            return BadData("{}: '{}' - options in this file have no dash", where, line);
        }
        const size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            return BadData("{}: '{}' lacks a value: write {}=1{}", where, line, line,
                           line.starts_with("no") ? "" : " or the like");
        }
        std::string key(Trim(line.substr(0, equals)));
        std::string value(Trim(line.substr(equals + 1)));
        if (cut && key.find("rpcpassword") != std::string::npos) {
            return BadData("{}: rpcpassword with a # in it can be misread; choose another", where);
        }
        // "regtest.port=1" is port=1 in [regtest].
        std::string its_section = section;
        if (const size_t dot = key.find('.'); dot != std::string::npos && section.empty()) {
            its_section = key.substr(0, dot);
            key = key.substr(dot + 1);
        }
        IBD_RETURN_IF_ERROR(Store(m_config[its_section], key, std::move(value), where, true));
    }
    return {};
}

std::vector<std::string> ArgsManager::Includes(const std::string& section) const
{
    std::vector<std::string> names;
    const auto values = m_config.find(section);
    if (values == m_config.end()) return names;
    if (const auto* found = In(values->second, "-includeconf")) {
        for (const Value& v : *found) {
            if (!v.negated) names.push_back(v.text);
        }
    }
    return names;
}

Result<> ArgsManager::ReadIncludes(Env& env, const Path& base)
{
    if (In(m_command_line, "-includeconf") != nullptr) return {}; // -noincludeconf
    IBD_ASSIGN_OR_RETURN(const std::string chain, ChainName());
    std::vector<std::string> names = Includes(chain);
    for (std::string& name : Includes("")) names.push_back(std::move(name));
    for (const std::string& name : names) {
        const Path path = base / name;
        if (!env.Exists(path)) {
            return SystemError("included configuration file '{}' does not exist", path.string());
        }
        IBD_ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(env, path));
        IBD_RETURN_IF_ERROR(ParseConfig(AsChars(text), path.string()));
    }
    const size_t now = Includes(chain).size() + Includes("").size();
    if (now > names.size()) {
        m_warnings.push_back("includeconf in an included file is ignored");
    }
    IBD_ASSIGN_OR_RETURN(const std::string chain_after, ChainName());
    if (chain_after != chain) {
        return BadData("an included configuration file must not choose another network");
    }
    return {};
}

Result<> ArgsManager::ReadConfigFiles(Env& env, const Path& base)
{
    if (IsNegated("-conf")) return {};
    const bool named = IsSet("-conf");
    const Path path = base / Get("-conf", "bitcoin.conf");
    if (!env.Exists(path)) {
        if (!named) return {};
        return SystemError("configuration file '{}' does not exist", path.string());
    }
    IBD_ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(env, path));
    IBD_RETURN_IF_ERROR(ParseConfig(AsChars(text), path.string()));
    return ReadIncludes(env, base);
}

std::vector<std::string> ArgsManager::Misplaced() const
{
    std::vector<std::string> names;
    const auto top = m_config.find("");
    if (top == m_config.end()) return names;
    for (const auto& [name, values] : top->second) {
        if (!IsSet(name)) names.push_back(name);
    }
    return names;
}

std::vector<std::string> ArgsManager::DescribeForLog() const
{
    std::vector<std::string> lines;
    const auto describe = [&](const std::string& origin, const Values& values) {
        for (const auto& [name, list] : values) {
            const auto spec = m_specs.find(name);
            const bool secret =
                spec != m_specs.end() && (spec->second.flags & OptionSpec::kSensitive) != 0;
            for (const Value& v : list) {
                lines.push_back(fmt::format("{}: {}={}", origin, name, secret ? "****" : v.text));
            }
        }
    };
    for (const auto& [section, values] : m_config) {
        describe(section.empty() ? "Config file" : "Config file [" + section + "]", values);
    }
    describe("Setting", m_settings);
    describe("Command line", m_command_line);
    return lines;
}

} // namespace ibd
