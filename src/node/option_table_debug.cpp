// See option_table.h. Options for tests and the log.
#include "node/option_table.h"
#include "util/log_file.h"

namespace ibd {

namespace {

constexpr unsigned kHidden = OptionSpec::kHidden;

constexpr OptionRow kDebug[] = {
    {"-acceptstalefeeestimates", "", "Use old fee estimates; regtest only", kHidden},
    {"-capturemessages", "", "Keep all messages of peers in message_capture/", kHidden},
    {"-checkaddrman", "=<n>", "Check the table of addresses in one of n calls", kHidden},
    {"-checkblockindex", "", "Check the block index now and then; no effect in this version",
     kHidden},
    {"-checkblocks", "=<n>", "Blocks to check at start; 0 is all (default: 6)", kHidden},
    {"-checklevel", "=<n>",
     "How thorough: 0 read, 1 rules of a block, 2 undo data, 3 take back, 4 connect again "
     "(default: 3)",
     kHidden},
    {"-checkmempool", "=<n>", "Check the pool now and then; no effect in this version", kHidden},
    {"-debugexclude", "=<category>", "Do not log this category; counts more than -debug"},
    {"-fastprune", "", "Small block files (regtest)", kHidden},
    {"-help-debug", "", "Print all options, those for developers included, and exit"},
    {"-limitancestorcount", "=<n>", "No effect in this version", kHidden},
    {"-limitclustercount", "=<n>", "Most transactions in a cluster (default: 64, at most 64)",
     kHidden},
    {"-limitclustersize", "=<n>", "Most kvB in a cluster (default: 101)", kHidden},
    {"-limitdescendantcount", "=<n>", "No effect in this version", kHidden},
    {"-logips", "", "Log addresses of peers (default: 0)"},
    {"-loglevelalways", "", "Show category and level in every line (default: 0)"},
    {"-logratelimit", "", "Limit how much one source line may log in an hour (default: 1)"},
    {"-logsourcelocations", "", "Show where in the source a line comes from (default: 0)"},
    {"-logthreadnames", "", "Show the thread in every line (default: 0)"},
    {"-logtimemicros", "", "Show microseconds (default: 0)", kHidden},
    {"-logtimestamps", "", "Show the time (default: 1)"},
    {"-maxsigcachesize", "=<n>",
     "Memory for verified signatures and scripts together, MiB (default: 32)", kHidden},
    {"-maxtipage", "=<n>",
     "Age of the tip from which it counts as initial download, seconds (default: 86400)", kHidden},
    {"-mocktime", "=<n>",
     "Time that rules go by, seconds since 1970, in place of the clock's (default: 0, the clock)",
     kHidden},
    {"-printpriority", "", "Log fee rates when a block is made; no effect in this version",
     kHidden},
    {"-printtoconsole", "", "Log to the console too (default: 1 unless -daemon)"},
    {"-shrinkdebugfile", "", "Cut a long debug.log at start (default: 1 unless -debug)"},
    {"-stopafterblockimport", "",
     "Stop once the blocks on disk and those of -loadblock are connected (default: 0)", kHidden},
    {"-stopatheight", "", "Stop once the chain has this height (default: 0, never)", kHidden},
    {"-test", "=<option>",
     "On regtest: bip94 enforces it; reindex_after_failure_noninteractive_yes rebuilds databases "
     "that cannot be loaded; addrman",
     kHidden},
    {"-uacomment", "=<cmt>", "Comment in the name that peers and getnetworkinfo see"},
};

} // namespace

void AddDebugOptions(ArgsManager& args)
{
    AddRows(args, OptionGroup::kDebug, kDebug);
    args.Add("-debug", "=<category>",
             "Log this category, or all with 1 or without a value; 0 forgets those before it. May "
             "be given several times. Categories: " +
                 LogCategoryNames(),
             OptionGroup::kDebug);
    args.Add("-loglevel", "=<level>|<category>:<level>",
             fmt::format("Lowest level logged of the categories that -debug names, of all or of "
                         "one: {} (default: debug)",
                         kSettableLogLevels),
             OptionGroup::kDebug,
             OptionSpec::kHidden | OptionSpec::kNoNegation | OptionSpec::kNoElision);
}

} // namespace ibd
