// ArgsManager: the options of a program - what exists (with help), what the command line,
// settings.json and bitcoin.conf said, and which of them wins. Owned by a program's main; filled by
// one thread at start-up, const afterwards.
//
// Order of precedence, as in Core: forced by the program, command line, settings.json, the
// network's section of bitcoin.conf, the part of bitcoin.conf before any section. Of several
// values on the command line the last counts, in the configuration file the first.
#pragma once

#include "util/env.h"

#include <map>
#include <optional>
#include <set>

namespace ibd {

/** Group of an option in -help; the order is the order of the help text. */
enum class OptionGroup {
    kGeneral,
    kBooster,
    kConnection,
    kDebug,
    kChain,
    kRpc,
    kCli,
};

struct OptionSpec {
    enum Flag : unsigned {
        kPlain = 0,
        kHidden = 1,           //!< shown by -help-debug only
        kNetworkOnly = 2,      //!< on other networks than main, counts in their section only
        kSensitive = 4,        //!< value not written to the log
        kNoNegation = 8,       //!< -noname is an error
        kCommandLineOnly = 16, //!< an error in bitcoin.conf
        kYesOrNo = 32,         //!< any value but 0 and 1 is an error
    };

    std::string name;     //!< with the dash: "-dbcache"
    std::string argument; //!< as shown by help: "=<n>", or empty
    std::string help;
    OptionGroup group = OptionGroup::kGeneral;
    unsigned flags = kPlain;
};

class ArgsManager {
public:
    void Add(OptionSpec spec);
    void Add(std::string name, std::string argument, std::string help, OptionGroup group,
             unsigned flags = OptionSpec::kPlain)
    {
        Add(OptionSpec{std::move(name), std::move(argument), std::move(help), group, flags});
    }

    /** Reads argv[1..]. Stops at the first word without a dash (or after "-"): the rest is
     *  Command(). Errors: an option nobody added, -no<name> where forbidden. */
    Result<> ParseCommandLine(int argc, const char* const argv[]);
    /** The words from the first one without a dash on. */
    const std::vector<std::string>& Command() const { return m_command; }

    /** Reads one configuration file's text; `origin` names it in errors. Unknown keys are listed
     *  by Warnings(), malformed lines are errors. May be called again for included files. */
    Result<> ParseConfig(std::string_view text, const std::string& origin);
    /** Reads bitcoin.conf (or -conf) relative to `base` and what it includes. A missing file is an
     *  error only if -conf named it. Selects the network in between, since includeconf may stand
     *  in a network's section. */
    Result<> ReadConfigFiles(Env& env, const Path& base);
    /** One value of settings.json. */
    void AddSetting(const std::string& name, std::string value);

    /** "main", "test", "testnet4", "signet" or "regtest" from -chain, -regtest, -signet, -testnet
     *  and -testnet4; an error if more than one is chosen or the name is unknown. */
    Result<std::string> ChainName() const;
    /** The section of bitcoin.conf that counts from now on. */
    void SelectNetwork(const std::string& section) { m_network = section; }

    bool IsSet(const std::string& name) const { return !Lookup(name).values.empty(); }
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
    /** Wins over everything. */
    void ForceSet(const std::string& name, const std::string& value);

    /** What is odd but no error: unknown sections and keys. */
    const std::vector<std::string>& Warnings() const { return m_warnings; }
    /** Names of network-only options that stand before any section and nowhere else, so that
     *  they do not count on the selected network. */
    std::vector<std::string> Misplaced() const;
    /** "command line: -dbcache=4500" and so on; sensitive values are starred out. */
    std::vector<std::string> DescribeForLog() const;
    /** The options by group, wrapped at 79 columns; hidden ones if `all`. */
    std::string Help(bool all) const;

    bool Knows(const std::string& name) const { return m_specs.contains(name); }

private:
    struct Value {
        std::string text;
        bool negated = false; //!< came as -noname; text is then "0" or, for -noname=0, "1"
    };
    using Values = std::map<std::string, std::vector<Value>>; //!< by option name
    struct Found {
        std::vector<Value> values; //!< in order of precedence, best first
    };

    Result<> Store(Values& to, std::string_view key, const std::optional<std::string>& value,
                   const std::string& origin, bool from_config);
    /** With `as_given` the values of the command line stay in their order there. */
    Found Lookup(const std::string& name, bool as_given = false) const;
    const std::vector<Value>* In(const Values& values, const std::string& name) const;
    std::optional<bool> ChainFlag(const std::string& name) const;
    Result<> ReadIncludes(Env& env, const Path& base);
    std::vector<std::string> Includes(const std::string& section) const;

    std::map<std::string, OptionSpec> m_specs;
    std::vector<std::string> m_order; //!< names as added
    std::vector<std::string> m_command;
    Values m_forced;
    Values m_command_line;
    Values m_settings;
    std::map<std::string, Values> m_config; //!< by section; "" is before any section
    std::string m_network;
    std::vector<std::string> m_warnings;
};

/** Core's default directory: $HOME/.bitcoin. */
Path DefaultDataDir();

} // namespace ibd
