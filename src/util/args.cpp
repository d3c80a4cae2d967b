// See args.h. Reading of bitcoin.conf is in args_config.cpp, the help text in args_help.cpp.
#include "util/args.h"
#include "util/strings.h"

#include <algorithm>
#include <cstdlib>

namespace ibd {

namespace {

bool IsTrue(std::string_view text) { return text.empty() || LenientInteger(text) != 0; }

} // namespace

void ArgsManager::Add(OptionSpec spec)
{
    CHECK(spec.name.starts_with('-'));
    m_order.push_back(spec.name);
    const bool is_new = m_specs.emplace(spec.name, spec).second;
    CHECK(is_new);
}

Result<> ArgsManager::Store(Values& to, std::string_view key,
                            const std::optional<std::string>& value, const std::string& origin,
                            bool from_config)
{
    std::string name = "-" + std::string(key);
    bool negated = false;
    if (!m_specs.contains(name) && key.starts_with("no")) {
        name = "-" + std::string(key.substr(2));
        negated = true;
    }
    const auto spec = m_specs.find(name);
    if (spec == m_specs.end()) {
        if (!from_config) return BadData("{}: there is no option -{}", origin, key);
        m_warnings.push_back(fmt::format("{}: unknown option {} is ignored", origin, key));
        return {};
    }
    if (negated && (spec->second.flags & OptionSpec::kNoNegation) != 0) {
        return BadData("{}: {} cannot be negated", origin, name);
    }
    if (from_config && (spec->second.flags & OptionSpec::kCommandLineOnly) != 0) {
        return BadData("{}: {} is understood on the command line only", origin, key);
    }
    // Core takes "true" for 0, which is the opposite of what was meant.
    const bool yes_or_no = !value || value->empty() || *value == "0" || *value == "1";
    if ((spec->second.flags & OptionSpec::kYesOrNo) != 0 && !yes_or_no) {
        return BadData("-{}={}: must be 0 or 1, or stand without a value", key, *value);
    }
    Value stored{value.value_or(""), false};
    if (negated) {
        // -nofoo is -foo=0; the double negative -nofoo=0 is -foo=1.
        stored.negated = IsTrue(stored.text);
        stored.text = stored.negated ? "0" : "1";
    }
    to[name].push_back(std::move(stored));
    return {};
}

Result<> ArgsManager::ParseCommandLine(int argc, const char* const argv[])
{
    int i = 1;
    for (; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "-" || !word.starts_with('-')) break;
        const std::string_view given = word;
        word.remove_prefix(word.starts_with("--") ? 2 : 1);
        const size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        std::optional<std::string> value;
        if (equals != std::string_view::npos) value = word.substr(equals + 1);
        const bool network_prefix = key.find('.') != std::string_view::npos;
        if (key.empty() || network_prefix) {
            return BadData("command line: '{}' is no option", given);
        }
        IBD_RETURN_IF_ERROR(Store(m_command_line, key, value, "command line", false));
    }
    for (; i < argc; ++i) m_command.emplace_back(argv[i]);
    // -noincludeconf may stand here: the files named in bitcoin.conf are not read.
    const auto* includes = In(m_command_line, "-includeconf");
    if (includes != nullptr && !includes->back().negated) {
        return BadData("command line: -includeconf belongs into the configuration file");
    }
    return {};
}

void ArgsManager::AddSetting(const std::string& name, std::string value)
{
    m_settings[name].push_back({std::move(value), false});
}

const std::vector<ArgsManager::Value>* ArgsManager::In(const Values& values,
                                                       const std::string& name) const
{
    const auto it = values.find(name);
    return it == values.end() ? nullptr : &it->second;
}

// A negated value hides the values before it in the same place and everything of lesser rank.
ArgsManager::Found ArgsManager::Lookup(const std::string& name, bool as_given) const
{
    Found found;
    bool hidden = false;
    const auto take = [&](const std::vector<Value>* values, bool last_first) {
        if (values == nullptr || hidden) return;
        std::vector<Value> kept = *values;
        const auto negated =
            std::find_if(kept.rbegin(), kept.rend(), [](const Value& v) { return v.negated; });
        if (negated != kept.rend()) {
            // Keep the negation only if nothing was set after it.
            hidden = true;
            kept.erase(kept.begin(),
                       negated == kept.rbegin() ? negated.base() - 1 : negated.base());
        }
        if (last_first && !as_given) std::reverse(kept.begin(), kept.end());
        found.values.insert(found.values.end(), kept.begin(), kept.end());
    };
    take(In(m_forced, name), true);
    take(In(m_command_line, name), true);
    take(In(m_settings, name), false);
    if (!m_network.empty()) {
        const auto section = m_config.find(m_network);
        if (section != m_config.end()) take(In(section->second, name), false);
    }
    const auto spec = m_specs.find(name);
    const bool network_only =
        spec != m_specs.end() && (spec->second.flags & OptionSpec::kNetworkOnly) != 0;
    const bool use_default = !network_only || m_network.empty() || m_network == "main";
    const auto top = m_config.find("");
    if (use_default && top != m_config.end()) take(In(top->second, name), false);
    return found;
}

bool ArgsManager::IsNegated(const std::string& name) const
{
    const Found found = Lookup(name);
    return !found.values.empty() && found.values.front().negated;
}

std::optional<std::string> ArgsManager::Get(const std::string& name) const
{
    const Found found = Lookup(name);
    if (found.values.empty()) return std::nullopt;
    return found.values.front().text;
}

std::string ArgsManager::Get(const std::string& name, const std::string& otherwise) const
{
    return Get(name).value_or(otherwise);
}

std::optional<int64_t> ArgsManager::GetInt(const std::string& name) const
{
    const auto text = Get(name);
    if (!text) return std::nullopt;
    return LenientInteger(*text);
}

int64_t ArgsManager::GetInt(const std::string& name, int64_t otherwise) const
{
    return GetInt(name).value_or(otherwise);
}

std::optional<bool> ArgsManager::GetBool(const std::string& name) const
{
    const auto text = Get(name);
    if (!text) return std::nullopt;
    return IsTrue(*text);
}

bool ArgsManager::GetBool(const std::string& name, bool otherwise) const
{
    return GetBool(name).value_or(otherwise);
}

std::vector<std::string> ArgsManager::GetAll(const std::string& name) const
{
    std::vector<std::string> all;
    for (const Value& value : Lookup(name, /*as_given=*/true).values) {
        if (!value.negated) all.push_back(value.text);
    }
    return all;
}

void ArgsManager::ForceSet(const std::string& name, const std::string& value)
{
    m_forced[name] = {{value, false}};
}

// The file's [test] may not say that the network is main: networks are chosen outside sections.
std::optional<bool> ArgsManager::ChainFlag(const std::string& name) const
{
    const std::vector<Value>* values = In(m_command_line, name);
    if (values != nullptr) return IsTrue(values->back().text);
    const auto top = m_config.find("");
    values = top == m_config.end() ? nullptr : In(top->second, name);
    if (values != nullptr) return IsTrue(values->front().text);
    return std::nullopt;
}

Result<std::string> ArgsManager::ChainName() const
{
    static constexpr std::pair<const char*, const char*> kFlags[] = {{"-regtest", "regtest"},
                                                                     {"-signet", "signet"},
                                                                     {"-testnet", "test"},
                                                                     {"-testnet4", "testnet4"}};
    std::vector<std::string> chosen;
    for (const auto& [flag, chain] : kFlags) {
        if (ChainFlag(flag).value_or(false)) chosen.emplace_back(chain);
    }
    std::optional<std::string> by_name;
    if (const auto* given = In(m_command_line, "-chain")) {
        by_name = given->back().text;
    } else if (const auto top = m_config.find(""); top != m_config.end()) {
        if (const auto* values = In(top->second, "-chain")) by_name = values->front().text;
    }
    if (chosen.size() + (by_name ? 1 : 0) > 1) {
        return BadData("only one of -regtest, -signet, -testnet, -testnet4 and -chain can hold");
    }
    if (!chosen.empty()) return chosen[0];
    if (!by_name) return std::string("main");
    for (const char* known : {"main", "test", "testnet4", "signet", "regtest"}) {
        if (*by_name == known) return *by_name;
    }
    return BadData("there is no chain '{}': main, test, testnet4, signet or regtest", *by_name);
}

Path DefaultDataDir()
{
    const char* home = std::getenv("HOME");
    return Path(home != nullptr && *home != 0 ? home : "/") / ".bitcoin";
}

} // namespace ibd
