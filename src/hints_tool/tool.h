// bitcoin-hints: its commands and their shared parts. Commands print results to stdout and progress
// to stderr. See doc/bitcoin-hints.md.
#pragma once

#include "hints/hints_writer.h"
#include "hints_tool/chain_blocks.h"
#include "util/found.h"
#include "util/progress.h"
#include "util/terminal_line.h"

#include <map>

namespace ibd {

class OutputWork;

/** The words of a command line; `--name=value` may stand anywhere. */
struct ToolArguments {
    std::map<std::string, std::string> options; //!< without dashes; empty value for a bare option
    std::vector<std::string> words;

    bool Has(const std::string& name) const { return options.count(name) > 0; }
    std::optional<std::string> Get(const std::string& name) const;
    Found<HintsFormat> Format(const std::string& name) const;
    /** A number from `least` to `most`. */
    Found<uint64_t> Number(const std::string& name, uint64_t least, uint64_t most) const;
};

struct ToolContext {
    Env& env;
    Logger& log;
    TerminalLine& line; //!< for progress
    const ToolArguments& arguments;
    const std::atomic<bool>& stop; //!< set by SIGINT, SIGTERM and SIGHUP if the command handles
                                   //!< them

    /** The blocks in `--blocks`, up to the end of the hints; null without the option. */
    Result<std::unique_ptr<ChainBlocks>> BlocksFor(const HintsInfo& hints) const;
    /** Opens a hints file, in the format of `--from` if given. */
    Result<std::unique_ptr<Hints>> Open(const std::string& path) const;
    /** `done`: blocks finished by an earlier run. */
    ProgressMeter Progress(const std::string& label, uint64_t blocks, uint64_t done = 0) const;
    /** The path of the output file, with symbolic links resolved. Refuses an existing file without
     *  --force, and anything but a regular file. */
    Result<Path> Target(const Path& out) const;
    /** Renames the finished hints file to its final name, and prints a summary. */
    Result<> Publish(const Path& part, const Path& out) const;
    /** The error of an interrupted command that can be resumed. */
    Error Interrupted(const OutputWork& work) const;
};

// The commands. Each error is one line for the user.
Result<> ConvertHints(const ToolContext& context);
Result<> ShowHints(const ToolContext& context);
Result<> VerifyHints(const ToolContext& context);
Result<> DiffHints(const ToolContext& context);
Result<> BenchHints(const ToolContext& context);
Result<> GenerateHints(const ToolContext& context);

/** Unspent outputs over height, drawn as SVG: `buckets` of equal numbers of blocks. */
std::string PlotSvg(const HintsInfo& info, const std::vector<double>& unspent_per_block);

/** Runs the program; returns its exit status. */
int RunHintsTool(Env& env, int argc, char** argv);

} // namespace ibd
