// The options of bitcoind with their help: all of Bitcoin Core's and the booster's, and a list of
// those without effect in this version. For options of RPC see rpc/server_options.h, for those
// shared with bitcoin-cli util/config.h.
#pragma once

#include "util/args.h"

namespace ibd {

void AddGeneralOptions(ArgsManager& args);
/** Peers. */
void AddConnectionOptions(ArgsManager& args);
/** Tests and the log. */
void AddDebugOptions(ArgsManager& args);
/** The transaction pool and mining. */
void AddPolicyOptions(ArgsManager& args);
/** Options that Core accepts but does not show: names without help. */
void AddHiddenOptions(ArgsManager& args);

/** Names of options that are set but not supported by this version. A value of 0 requests nothing.
 */
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
