// See args.h. args_config.cpp reads bitcoin.conf, args_help.cpp makes the help text.
#include "util/args.h"
#include "util/strings.h"

#include <algorithm>
#include <cstdlib>

namespace ibd {

namespace {

bool IsTrue(std::string_view text) { return text.empty() || LenientInteger(text) != 0; }

/** The values after the last negation, which hides earlier ones. */
std::span<const ArgValue> Standing(const std::vector<ArgValue>& values)
{
    const auto negated = std::find_if(values.rbegin(), values.rend(),
                                      [](const ArgValue& value) { return value.IsNegated(); });
    return std::span(values).subspan(static_cast<size_t>(values.rend() - negated));
}

bool LastNegated(const std::vector<ArgValue>& values)
{
    return !values.empty() && values.back().IsNegated();
}

} // namespace

std::string ArgValue::AsText() const
{
    if (kind == Kind::kText) return text;
    return kind == Kind::kTrue ? "1" : "0";
}

std::string ArgValue::AsJson() const
{
    if (kind != Kind::kText) return kind == Kind::kTrue ? "true" : "false";
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        default: {
            const auto code = static_cast<unsigned char>(c);
            out += code < 0x20 || code == 0x7f ? fmt::format("\\u{:04x}", code) : std::string(1, c);
        }
        }
    }
    return out + "\"";
}

void ArgsManager::Add(OptionSpec spec)
{
    CHECK(spec.name.starts_with('-'));
    m_order.push_back(spec.name);
    const bool is_new = m_specs.emplace(spec.name, spec).second;
    CHECK(is_new);
}

std::vector<std::string> ArgsManager::NamesWith(OptionSpec::Flag flag) const
{
    std::vector<std::string> names;
    for (const auto& [name, spec] : m_specs) {
        if ((spec.flags & flag) != 0) names.push_back(name);
    }
    return names;
}

Result<ArgValue> ArgsManager::Interpret(bool negated, const OptionSpec& spec,
                                        const std::optional<std::string>& value)
{
    const std::string& name = spec.name;
    // Core reads "true" as 0, the opposite of its meaning.
    const bool yes_or_no = !value || value->empty() || *value == "0" || *value == "1";
    if ((spec.flags & OptionSpec::kYesOrNo) != 0 && !yes_or_no) {
        return BadData("-{}{}={}: must be 0 or 1, or stand without a value", negated ? "no" : "",
                       name.substr(1), *value);
    }
    if (negated) {
        if ((spec.flags & OptionSpec::kNoNegation) != 0) {
            return BadData("Negating of {} is meaningless and therefore forbidden", name);
        }
        if (value && !IsTrue(*value)) {
            m_warnings.push_back(
                fmt::format("Parsed potentially confusing double-negative {}={}", name, *value));
            return ArgValue{ArgValue::Kind::kTrue, {}};
        }
        return ArgValue{ArgValue::Kind::kFalse, {}};
    }
    if (!value && (spec.flags & OptionSpec::kNoElision) != 0) {
        return BadData("Can not set {} with no value. Please specify value with {}=value.", name,
                       name);
    }
    return ArgValue{ArgValue::Kind::kText, value.value_or("")};
}

Result<> ArgsManager::StoreWord(const char* word)
{
    std::string key(word);
    key.erase(0, key.starts_with("--") ? 2 : 1);
    std::optional<std::string> value;
    if (const size_t equals = key.find('='); equals != std::string::npos) {
        value = key.substr(equals + 1);
        key.erase(equals);
    }
    const bool in_section = key.find('.') != std::string::npos;
    const bool negated = key.starts_with("no");
    const auto spec = m_specs.find("-" + (negated ? key.substr(2) : key));
    if (spec == m_specs.end() || in_section) return BadData("Invalid parameter {}", word);
    IBD_ASSIGN_OR_RETURN(ArgValue stored, Interpret(negated, spec->second, value));
    m_command_line[spec->first].push_back(std::move(stored));
    return {};
}

Result<> ArgsManager::ParseCommandLine(int argc, const char* const argv[])
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; ++i) {
        if (std::string_view(argv[i]) == "-") {
            ++i;
            break;
        }
        IBD_RETURN_IF_ERROR(StoreWord(argv[i]));
    }
    for (; i < argc; ++i) m_command.emplace_back(argv[i]);
    // Only -noincludeconf is valid here: files named in bitcoin.conf are not read then.
    if (const auto includes = m_command_line.find("-includeconf");
        includes != m_command_line.end() && !LastNegated(includes->second)) {
        return BadData("-includeconf cannot be used from commandline; -includeconf={}",
                       Standing(includes->second).front().AsJson());
    }
    return {};
}

void ArgsManager::AddSetting(const std::string& name, ArgValue value)
{
    m_settings[name].push_back(std::move(value));
}

bool ArgsManager::TopCounts(const std::string& network, const std::string& name) const
{
    const auto spec = m_specs.find(name);
    const bool network_only =
        spec != m_specs.end() && (spec->second.flags & OptionSpec::kNetworkOnly) != 0;
    return network == "main" || !network_only;
}

// For options that choose a network a later line of the file overrides an earlier one, and a
// negation on the command line has no effect.
std::optional<ArgValue> ArgsManager::FindFor(const std::string& network, const std::string& name,
                                             bool chooses_chain) const
{
    std::optional<ArgValue> found;
    Visit(network, name, [&](Source source, const std::vector<ArgValue>& values) {
        const bool negated = LastNegated(values);
        if (found || (negated && chooses_chain)) return;
        // As in Core, a negation before any section applies to all networks, for all options.
        if (source == Source::kTop && !negated && !TopCounts(network, name) && !chooses_chain) {
            return;
        }
        const bool from_file = source == Source::kSection || source == Source::kTop;
        if (negated) {
            found = values.back();
        } else {
            found = from_file && !chooses_chain ? Standing(values).front() : values.back();
        }
    });
    return found;
}

std::optional<ArgValue> ArgsManager::Find(const std::string& name) const
{
    return FindFor(m_network, name, /*chooses_chain=*/false);
}

bool ArgsManager::IsNegated(const std::string& name) const
{
    const auto found = Find(name);
    return found && found->IsNegated();
}

std::optional<std::string> ArgsManager::Get(const std::string& name) const
{
    const auto found = Find(name);
    if (!found) return std::nullopt;
    return found->AsText();
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

// A negation hides earlier values and sources of lower precedence; but a value after it makes the
// configuration file visible again.
std::vector<std::string> ArgsManager::GetAll(const std::string& name) const
{
    std::vector<std::string> all;
    bool hidden = false;
    bool hidden_and_empty = false;
    Visit(m_network, name, [&](Source source, const std::vector<ArgValue>& values) {
        const bool from_file = source == Source::kSection || source == Source::kTop;
        if (source == Source::kTop && !TopCounts(m_network, name)) return;
        const std::span<const ArgValue> standing = Standing(values);
        if (!hidden || (from_file && !hidden_and_empty)) {
            for (const ArgValue& value : standing) all.push_back(value.AsText());
        }
        hidden = hidden || standing.size() < values.size() || source == Source::kForced;
        hidden_and_empty = hidden_and_empty || (LastNegated(values) && all.empty());
    });
    return all;
}

Path ArgsManager::GetPath(const std::string& name, const Path& otherwise) const
{
    const auto found = Find(name);
    if (found && found->IsNegated()) return {};
    const std::string text = found ? found->AsText() : "";
    if (text.empty()) return otherwise;
    const Path path = Path(text).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

void ArgsManager::ForceSet(const std::string& name, const std::string& value)
{
    m_forced[name] = {{ArgValue::Kind::kText, value}};
}

bool ArgsManager::SoftSet(const std::string& name, const std::string& value)
{
    if (IsSet(name)) return false;
    ForceSet(name, value);
    return true;
}

bool ArgsManager::Chooses(const char* flag) const
{
    const auto found = FindFor("", flag, /*chooses_chain=*/true);
    return found && IsTrue(found->AsText());
}

Result<std::string> ArgsManager::ChainName() const
{
    static constexpr std::pair<const char*, const char*> kFlags[] = {{"-regtest", "regtest"},
                                                                     {"-signet", "signet"},
                                                                     {"-testnet", "test"},
                                                                     {"-testnet4", "testnet4"}};
    std::vector<std::string> chosen;
    if (const auto name = Get("-chain")) chosen.push_back(*name);
    for (const auto& [flag, chain] : kFlags) {
        if (Chooses(flag)) chosen.emplace_back(chain);
    }
    if (chosen.size() > 1) {
        return BadData("Invalid combination of -regtest, -signet, -testnet, -testnet4 and -chain. "
                       "Can use at most one.");
    }
    if (chosen.empty()) return std::string("main");
    if (!IsChainName(chosen[0])) return BadData("Unknown chain {}.", chosen[0]);
    return chosen[0];
}

bool IsChainName(const std::string& name)
{
    for (const char* known : {"main", "test", "testnet4", "signet", "regtest"}) {
        if (name == known) return true;
    }
    return false;
}

Path DefaultDataDir()
{
    const char* home = std::getenv("HOME");
    return Path(home != nullptr && *home != 0 ? home : "/") / ".bitcoin";
}

} // namespace ibd
