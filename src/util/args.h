// ArgsManager: the options of a program - what exists (with help), what the command line,
// settings.json and bitcoin.conf said, and which of them wins. Owned by a program's main; filled by
// one thread at start-up, const afterwards. Rules and error texts are those of Bitcoin Core's
// programs, down to the odd ones, since scripts and configuration files rely on them.
//
// Order of precedence: forced by the program, command line, settings.json, the network's section of
// bitcoin.conf, the part of bitcoin.conf before any section. Of several values on the command line
// the last counts, in the configuration file the first (the last where a network is chosen).
#pragma once

#include "util/env.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ibd {

/** Group of an option in -help; the order is the order of the help text. */
enum class OptionGroup {
    kGeneral,
    kBooster,
    kConnection,
    kDebug,
    kChain,
    kRelay,
    kMining,
    kRpc,
    kCli,
    kHidden, //!< never shown
};

struct OptionSpec {
    enum Flag : unsigned {
        kPlain = 0,
        kHidden = 1,      //!< shown by -help-debug only
        kNetworkOnly = 2, //!< on other networks than main, counts in their section only
        kSensitive = 4,   //!< value not written to the log
        kNoNegation = 8,  //!< -noname is an error
        kYesOrNo = 32,    //!< any value but 0 and 1 is an error
        kNoElision = 64,  //!< -name without a value is an error
    };

    std::string name;     //!< with the dash: "-dbcache"
    std::string argument; //!< as shown by help: "=<n>", or empty
    std::string help;
    OptionGroup group = OptionGroup::kGeneral;
    unsigned flags = kPlain;
};

/** What one place says of an option, once. */
struct ArgValue {
    enum class Kind { kText, kFalse, kTrue }; //!< -noname is false, -noname=0 is true
    Kind kind = Kind::kText;
    std::string text;

    bool IsNegated() const { return kind == Kind::kFalse; }
    /** "0" and "1" for the two truth values. */
    std::string AsText() const;
    /** As JSON has it, for the log and for error texts. */
    std::string AsJson() const;
};

class ArgsManager {
public:
    void Add(OptionSpec spec);
    void Add(std::string name, std::string argument, std::string help, OptionGroup group,
             unsigned flags = OptionSpec::kPlain)
    {
        Add(OptionSpec{std::move(name), std::move(argument), std::move(help), group, flags});
    }

    /** Reads argv[1..]. Stops at the first word without a dash, or behind "-": the rest is
     *  Command(). Errors: an option nobody added, -no<name> where forbidden. */
    Result<> ParseCommandLine(int argc, const char* const argv[]);
    /** The words from the first one without a dash on. */
    const std::vector<std::string>& Command() const { return m_command; }

    /** Reads one configuration file's text; `origin` names it. Unknown keys are listed by
     *  Warnings(), malformed lines are errors. May be called again for included files. */
    Result<> ParseConfig(std::string_view text, const std::string& origin);
    /** Reads bitcoin.conf (or -conf) relative to `base` and what it includes. A missing file is an
     *  error only if -conf named it. What is included may choose another network. */
    Result<> ReadConfigFiles(Env& env, const Path& base);
    /** One value of settings.json. */
    void AddSetting(const std::string& name, ArgValue value);

    /** "main", "test", "testnet4", "signet" or "regtest" from -chain, -regtest, -signet, -testnet
     *  and -testnet4; an error if more than one is chosen or the name is unknown. */
    Result<std::string> ChainName() const;
    /** The section of bitcoin.conf that counts from now on. */
    void SelectNetwork(const std::string& section) { m_network = section; }

    bool IsSet(const std::string& name) const { return Find(name).has_value(); }
    bool IsNegated(const std::string& name) const;
    std::optional<std::string> Get(const std::string& name) const;
    std::string Get(const std::string& name, const std::string& otherwise) const;
    /** Leniently, as Core: "4500MB" is 4500, "x" is 0; a negated option is 0. */
    int64_t GetInt(const std::string& name, int64_t otherwise) const;
    std::optional<int64_t> GetInt(const std::string& name) const;
    /** "" and nonzero numbers are true. */
    bool GetBool(const std::string& name, bool otherwise) const;
    std::optional<bool> GetBool(const std::string& name) const;
    /** All values: of the command line in the order given, then of the other places. */
    std::vector<std::string> GetAll(const std::string& name) const;
    /** A path without a slash at the end; `otherwise` for "" and without the option, empty where
     *  it is negated. */
    Path GetPath(const std::string& name, const Path& otherwise) const;
    /** Wins over everything. */
    void ForceSet(const std::string& name, const std::string& value);
    /** The same if the option is not set; says whether it did. */
    bool SoftSet(const std::string& name, const std::string& value);

    /** Set by the program, not by the user. */
    bool IsForced(const std::string& name) const { return m_forced.contains(name); }

    /** What is odd but no error, in the order found. */
    const std::vector<std::string>& Warnings() const { return m_warnings; }
    /** Files that were included. */
    const std::vector<std::string>& Included() const { return m_included; }
    /** includeconf lines of included files, which do not count. */
    const std::vector<std::string>& IgnoredIncludes() const { return m_ignored_includes; }
    /** "file:line Section [name] is not recognized." */
    std::vector<std::string> UnknownSections() const;
    /** Names of network-only options that stand before any section and nowhere else, so that
     *  they do not count on the selected network. */
    std::vector<std::string> Misplaced() const;
    /** "Config file arg: [regtest] port="1"" and "Command-line arg: dbcache="4500"", for the log;
     *  sensitive values are starred out. */
    std::vector<std::string> DescribeConfig() const;
    std::vector<std::string> DescribeCommandLine() const;
    /** The options by group, wrapped at 79 columns; hidden ones if `all`. */
    std::string Help(bool all) const;

    bool Knows(const std::string& name) const { return m_specs.contains(name); }

private:
    enum class Source { kForced, kCommandLine, kSettings, kSection, kTop };
    using Values = std::map<std::string, std::vector<ArgValue>>; //!< by option name
    struct Section {
        std::string name;
        std::string file;
        int line;
    };

    Result<ArgValue> Interpret(bool negated, const OptionSpec& spec,
                               const std::optional<std::string>& value);
    Result<> StoreWord(const char* word);
    Result<> StoreConfigLine(const std::string& key, const std::string& value);
    /** Calls `visit(source, values)` for each place that mentions the option, best first. */
    template <typename Visitor>
    void Visit(const std::string& network, const std::string& name, Visitor visit) const;
    std::optional<ArgValue> Find(const std::string& name) const;
    std::optional<ArgValue> FindFor(const std::string& network, const std::string& name,
                                    bool chooses_chain) const;
    bool TopCounts(const std::string& network, const std::string& name) const;
    Result<> ReadIncludes(Env& env, const Path& base);
    size_t Includes(const std::string& section, size_t skip, std::vector<std::string>& names) const;
    bool Chooses(const char* flag) const;
    void Describe(const std::string& origin, const Values& values,
                  std::vector<std::string>& lines) const;

    std::map<std::string, OptionSpec> m_specs;
    std::vector<std::string> m_order; //!< names as added
    std::vector<std::string> m_command;
    Values m_forced;
    Values m_command_line;
    Values m_settings;
    std::map<std::string, Values> m_config; //!< by section; "" is before any section
    std::vector<Section> m_sections;        //!< all that were mentioned
    std::string m_network;
    std::vector<std::string> m_warnings;
    std::vector<std::string> m_included;
    std::vector<std::string> m_ignored_includes;
};

template <typename Visitor>
void ArgsManager::Visit(const std::string& network, const std::string& name, Visitor visit) const
{
    const auto offer = [&](Source source, const Values& values) {
        if (const auto found = values.find(name); found != values.end()) {
            visit(source, found->second);
        }
    };
    offer(Source::kForced, m_forced);
    offer(Source::kCommandLine, m_command_line);
    offer(Source::kSettings, m_settings);
    if (const auto section = m_config.find(network);
        !network.empty() && section != m_config.end()) {
        offer(Source::kSection, section->second);
    }
    if (const auto top = m_config.find(""); top != m_config.end()) offer(Source::kTop, top->second);
}

/** Core's default directory: $HOME/.bitcoin. */
Path DefaultDataDir();
/** The networks' names, which are the names of sections too. */
bool IsChainName(const std::string& name);

} // namespace ibd
