// ArgsManager: the options of a program: the defined options with their help; their values from
// command line, settings.json and bitcoin.conf; and the order of precedence. Owned by a program's
// main; filled by one thread at start-up, const afterwards. Rules and error texts are those of
// Bitcoin Core's programs, including oddities, since scripts and configuration files rely on them.
//
// Order of precedence: forced by the program, command line, settings.json, the network's section of
// bitcoin.conf, the part of bitcoin.conf before any section. If an option is repeated, the last
// value on the command line counts, and the first in the configuration file (the last for options
// that choose a network).
#pragma once

#include "util/env.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ibd {

/** Group of an option in -help, in the order of the help text. */
enum class OptionGroup {
    kGeneral,
    kBooster,
    kConnection,
    kDebug,
    kChain,
    kRelay,
    kMining,
    kRpc,
    kZmq,
    kCli,
    kHidden, //!< never shown
};

struct OptionSpec {
    enum Flag : unsigned {
        kPlain = 0,
        kHidden = 1,      //!< shown by -help-debug only
        kNetworkOnly = 2, //!< on networks other than main, only the network's section counts
        kSensitive = 4,   //!< value not written to the log
        kNoNegation = 8,  //!< -noname is an error
        kYesOrNo = 32,    //!< any value but 0 and 1 is an error
        kNoElision = 64,  //!< -name without a value is an error
        kNoEffect = 128,  //!< accepted for compatibility with Core; the feature is missing here
    };

    std::string name;     //!< with the dash: "-dbcache"
    std::string argument; //!< as shown by help: "=<n>", or empty
    std::string help;
    OptionGroup group = OptionGroup::kGeneral;
    unsigned flags = kPlain;
};

/** One value from one source. */
struct ArgValue {
    enum class Kind { kText, kFalse, kTrue }; //!< false for -noname, true for -noname=0
    Kind kind = Kind::kText;
    std::string text;

    bool IsNegated() const { return kind == Kind::kFalse; }
    /** As text; "0" and "1" for the two truth values. */
    std::string AsText() const;
    /** As JSON, for the log and for error texts. */
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

    /** Reads argv[1..]. Stops at the first word without a dash, or after "-": the rest is
     *  Command(). Errors: an undefined option, -no<name> where forbidden. */
    Result<> ParseCommandLine(int argc, const char* const argv[]);
    /** The words from the first one without a dash. */
    const std::vector<std::string>& Command() const { return m_command; }

    /** Reads the text of one configuration file with the name `origin`. Unknown keys become
     *  Warnings(), malformed lines are errors. Call it again for included files. */
    Result<> ParseConfig(std::string_view text, const std::string& origin);
    /** Reads bitcoin.conf (or -conf), relative to `base`, and its includes. A missing file is an
     *  error only if -conf names it. An included file may choose another network. */
    Result<> ReadConfigFiles(Env& env, const Path& base);
    /** Adds one value of settings.json. */
    void AddSetting(const std::string& name, ArgValue value);

    /** "main", "test", "testnet4", "signet" or "regtest" from -chain, -regtest, -signet, -testnet
     *  and -testnet4; an error if more than one is chosen or the name is unknown. */
    Result<std::string> ChainName() const;
    /** Selects the section of bitcoin.conf that counts. */
    void SelectNetwork(const std::string& section) { m_network = section; }

    bool IsSet(const std::string& name) const { return Find(name).has_value(); }
    bool IsNegated(const std::string& name) const;
    std::optional<std::string> Get(const std::string& name) const;
    std::string Get(const std::string& name, const std::string& otherwise) const;
    /** Parsed leniently, as in Core: "4500MB" is 4500, "x" is 0; a negated option is 0. */
    int64_t GetInt(const std::string& name, int64_t otherwise) const;
    std::optional<int64_t> GetInt(const std::string& name) const;
    /** "" and nonzero numbers are true. */
    bool GetBool(const std::string& name, bool otherwise) const;
    std::optional<bool> GetBool(const std::string& name) const;
    /** All values: those of the command line in their order, then those of the other sources. */
    std::vector<std::string> GetAll(const std::string& name) const;
    /** A path without a trailing slash; `otherwise` for "" and without the option; empty if
     *  negated. */
    Path GetPath(const std::string& name, const Path& otherwise) const;
    /** Sets a value that overrides all sources. */
    void ForceSet(const std::string& name, const std::string& value);
    /** The same if the option is not set; returns whether it set it. */
    bool SoftSet(const std::string& name, const std::string& value);

    /** Whether the program, not the user, set it. */
    bool IsForced(const std::string& name) const { return m_forced.contains(name); }

    /** Suspicious but accepted input, in the order found. */
    const std::vector<std::string>& Warnings() const { return m_warnings; }
    /** Files that were included. */
    const std::vector<std::string>& Included() const { return m_included; }
    /** includeconf lines of included files, which are ignored. */
    const std::vector<std::string>& IgnoredIncludes() const { return m_ignored_includes; }
    /** "file:line Section [name] is not recognized." */
    std::vector<std::string> UnknownSections() const;
    /** Names of network-only options that occur only before any section, and so are ignored on the
     *  selected network. */
    std::vector<std::string> Misplaced() const;
    /** "Config file arg: [regtest] port="1"" and "Command-line arg: dbcache="4500"", for the log;
     *  sensitive values are replaced by stars. */
    std::vector<std::string> DescribeConfig() const;
    std::vector<std::string> DescribeCommandLine() const;
    /** The options by group, wrapped at 79 columns; with hidden ones if `all`. */
    std::string Help(bool all) const;

    /** The options with this flag, sorted. */
    std::vector<std::string> NamesWith(OptionSpec::Flag flag) const;
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
    /** Calls `visit(source, values)` for each source that has the option, highest precedence first.
     */
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
    std::vector<std::string> m_order; //!< names in the order of Add()
    std::vector<std::string> m_command;
    Values m_forced;
    Values m_command_line;
    Values m_settings;
    std::map<std::string, Values> m_config; //!< by section; "" is before any section
    std::vector<Section> m_sections;        //!< all sections that occurred
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

/** Core's default data directory: $HOME/.bitcoin. */
Path DefaultDataDir();
/** Whether `name` is a network's name, and thus a section's. */
bool IsChainName(const std::string& name);

} // namespace ibd
