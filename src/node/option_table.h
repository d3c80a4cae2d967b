// The options that bitcoind knows, with their help: all of Bitcoin Core's, those of the booster,
// and which of them do nothing in this version. The options of RPC are in rpc/server.h, those that
// bitcoin-cli has too in util/config.h.
#pragma once

#include "util/args.h"

namespace ibd {

void AddGeneralOptions(ArgsManager& args);
/** Peers. */
void AddConnectionOptions(ArgsManager& args);
/** Tests and the log. */
void AddDebugOptions(ArgsManager& args);
/** Pool of transactions and mining. */
void AddPolicyOptions(ArgsManager& args);
/** What Core accepts without showing it: names without help. */
void AddHiddenOptions(ArgsManager& args);

/** Names of the options that are set to something that this version does not do. One that is set
 *  to 0 asks for nothing. */
std::vector<std::string> OptionsWithoutEffect(const ArgsManager& args);

/** One row of a table of options. */
struct OptionRow {
    const char* name;
    const char* argument;
    const char* help;
    unsigned flags = OptionSpec::kPlain;
};

template <size_t kCount>
void AddRows(ArgsManager& args, OptionGroup group, const OptionRow (&rows)[kCount])
{
    for (const OptionRow& row : rows) args.Add(row.name, row.argument, row.help, group, row.flags);
}

} // namespace ibd
