// The program's frame: command line, help, errors. See tool.h.
#include "hints_tool/tool.h"
#include "util/found.h"
#include "util/process.h"

#include "hints_tool/output_work.h"
#include "hints_tool/stop_signals.h"
#include "util/hex.h"
#include "util/strings.h"
#include "util/version.h"

#include <algorithm>
#include <charconv>
#include <unistd.h>

namespace ibd {

namespace {

constexpr const char* kHelp =
    R"(bitcoin-hints - make, convert, check and show hints files of the IBD Booster

Usage:
  bitcoin-hints generate [--snapshot=FILE | --height=N] [--format=F] [--network=N] [--mem=MIB]
                         [--force] BLOCKS OUT
  bitcoin-hints convert [--format=F] [--from=F] [--blocks=DIR] [--network=N] [--force] IN OUT
  bitcoin-hints info [--from=F] [--plot=SVG] [--force] FILE
  bitcoin-hints verify --blocks=DIR [--from=F] [--network=N] FILE
  bitcoin-hints diff [--from=F] [--limit=COUNT] FILE FILE
  bitcoin-hints bench [--from=F] FILE

generate  make hints from block files, with or without a snapshot of dumptxoutset. After a stop the
          same command continues.
convert   convert hints to another format. Some conversions need the blocks: --blocks.
info      print format, heights, counts, hints id, and the mean number of unspent outputs per block,
          by height.
verify    check hints against the blocks, by the checks of a node.
diff      list the heights at which hints differ. Exit status 1 if there are any.
bench     measure how fast a file is opened and read.

Options:
  --blocks=DIR     block files, or a data directory
  --force          replace OUT, or the file of --plot
  --format=F       format to write (default: container)
  --from=F         format of the input, if it cannot be detected
  --height=N       last block of the hints (default: the block with the most work)
  --limit=COUNT    number of heights to list (default: 10)
  --mem=MIB        memory for generate (default: 512)
  --network=N      main, test, testnet4, signet or regtest (default: that of the block files)
  --plot=SVG       draw unspent outputs over height
  --snapshot=FILE  snapshot of dumptxoutset
  --version, --help (also: -h, help)

Formats, described in doc/formats/hints.md: container, container1 (its version 1), bitmap, indexed,
bip456, bip456-core, bip456-crate, btcd, gaps; swifthints (convert only, with --blocks);
indexed-compact, indexed-deltas and indexed-runs (only read).
)";

struct Command {
    const char* name;
    size_t words; //!< required number of them
    std::vector<const char*> options;
    Result<> (*run)(const ToolContext&);
    bool heeds_signals = false; //!< ends cleanly after a signal
};

const std::vector<Command>& Commands()
{
    static const std::vector<Command> commands = {
        {"generate",
         2,
         {"snapshot", "height", "format", "network", "mem", "force"},
         GenerateHints,
         true},
        {"convert", 2, {"format", "from", "blocks", "network", "force"}, ConvertHints, true},
        {"info", 1, {"from", "plot", "force"}, ShowHints},
        {"verify", 1, {"blocks", "from", "network"}, VerifyHints},
        {"diff", 2, {"from", "limit"}, DiffHints},
        {"bench", 1, {"from"}, BenchHints},
    };
    return commands;
}

ToolArguments Parse(int argc, char** argv)
{
    ToolArguments out;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            out.words.push_back(word);
            continue;
        }
        const size_t equals = std::min(word.find('='), word.size());
        out.options[word.substr(2, equals - 2)] = word.substr(std::min(equals + 1, word.size()));
    }
    return out;
}

/** Without a terminal on stderr no line can be redrawn: prints a progress line at intervals once a
 *  command takes long. Other log lines are only useful in a node's log. */
class ProgressLines final : public Logger {
public:
    static constexpr int64_t kQuietMicros = 10'000'000;

    explicit ProgressLines(Env& env) : m_env(env), m_start(env.MonotonicMicros()) {}

    bool Wants(LogLevel level, LogCategory) const override
    {
        return level == LogLevel::kInfo && !m_is_tty;
    }
    void Write(const LogLine& line) override
    {
        if (!std::string_view(line.place.file).ends_with("util/progress.cpp")) return;
        if (m_env.MonotonicMicros() - m_start < kQuietMicros) return;
        Print(stderr, "{}\n", line.text);
    }

private:
    Env& m_env;
    const int64_t m_start;
    const bool m_is_tty = ::isatty(STDERR_FILENO) == 1;
};

Result<> RunCommand(Env& env, ToolArguments arguments)
{
    if (arguments.words.empty()) return BadData("no command (bitcoin-hints --help)");
    const std::string name = arguments.words[0];
    arguments.words.erase(arguments.words.begin());
    for (const Command& command : Commands()) {
        if (command.name != name) continue;
        for (const auto& option : arguments.options) {
            const auto known = [&](const char* o) { return option.first == o; };
            if (std::none_of(command.options.begin(), command.options.end(), known)) {
                return BadData("{} has no option --{} (bitcoin-hints --help)", name, option.first);
            }
            if (option.first == "force" && !option.second.empty()) {
                return BadData("--force={}: takes no value (bitcoin-hints --help)", option.second);
            }
        }
        if (arguments.words.size() != command.words) {
            return BadData("{} takes {} file names (bitcoin-hints --help)", name, command.words);
        }
        ProgressLines log(env);
        TerminalLine line(stderr);
        if (command.heeds_signals) HeedStopSignals();
        return command.run({env, log, line, arguments, StopAsked()});
    }
    return BadData("{}: no such command (bitcoin-hints --help)", name);
}

} // namespace

std::optional<std::string> ToolArguments::Get(const std::string& name) const
{
    const auto it = options.find(name);
    return it == options.end() ? std::nullopt : std::optional(it->second);
}

Found<HintsFormat> ToolArguments::Format(const std::string& name) const
{
    const auto text = Get(name);
    if (!text) return std::optional<HintsFormat>();
    if (const auto format = HintsFormatFrom(*text)) return format;
    return BadData("--{}={}: no such format (bitcoin-hints --help)", name, *text);
}

Found<uint64_t> ToolArguments::Number(const std::string& name, uint64_t least, uint64_t most) const
{
    const auto text = Get(name);
    if (!text) return std::optional<uint64_t>();
    uint64_t value = 0;
    const char* const end = text->data() + text->size();
    const auto [next, error] = std::from_chars(text->data(), end, value);
    if (error == std::errc() && next == end && value >= least && value <= most) {
        return std::optional(value);
    }
    return BadData("--{}={}: must be a number from {} to {}", name, *text, least, most);
}

Result<std::unique_ptr<ChainBlocks>> ToolContext::BlocksFor(const HintsInfo& hints) const
{
    const auto dir = arguments.Get("blocks");
    if (!dir) return std::unique_ptr<ChainBlocks>();
    std::optional<Network> network;
    if (const auto name = arguments.Get("network")) {
        network = NetworkFromName(*name);
        if (!network) return BadData("--network={}: no such network", *name);
    }
    IBD_ASSIGN_OR_RETURN(auto blocks, ChainBlocks::Open(env, log, *dir, network, stop));
    if (hints.network_magic && *hints.network_magic != blocks->Params().magic) {
        return BadData("hints file {} is for another network than the blocks", hints.path.string());
    }
    IBD_RETURN_IF_ERROR(hints.terminal_hash ? blocks->EndAt(*hints.terminal_hash)
                                            : blocks->EndAt(hints.terminal_height));
    if (static_cast<uint32_t>(blocks->Terminal().height) == hints.terminal_height) return blocks;
    return BadData("hints file {}: its terminal block is at height {}, not {}", hints.path.string(),
                   blocks->Terminal().height, hints.terminal_height);
}

Result<std::unique_ptr<Hints>> ToolContext::Open(const std::string& path) const
{
    IBD_ASSIGN_OR_RETURN(const auto format, arguments.Format("from"));
    return OpenHints(env, path, format);
}

ProgressMeter ToolContext::Progress(const std::string& label, uint64_t blocks, uint64_t done) const
{
    return ProgressMeter(
        env, log,
        {.label = label, .unit = "blocks", .total = blocks, .start = done, .to = {&line, nullptr}});
}

Result<Path> ToolContext::Target(const Path& out) const
{
    if (out.filename().empty()) return BadData("{}: not the name of a file", out.string());
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(out));
    const Path target = env.FollowLink(out);
    if (!there) return target;
    std::error_code code;
    if (!std::filesystem::is_regular_file(out, code)) {
        return BadData("{} exists and is no file", out.string());
    }
    if (arguments.Has("force")) return target;
    const uint64_t left = OutputWork::SizeAt(env, target);
    return BadData("{} exists (replace it with --force){}", out.string(),
                   left == 0 ? ""
                             : fmt::format("; {}.work has {} of unfinished work of an earlier "
                                           "command for this file; you may remove it",
                                           target.string(), FormatBytes(left)));
}

Result<> ToolContext::Publish(const Path& part, const Path& out) const
{
    IBD_RETURN_IF_ERROR(Target(out)); // it may have appeared meanwhile
    IBD_RETURN_IF_ERROR(env.Rename(part, out));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(FolderOf(out)));
    const auto made = OpenHints(env, out);
    if (!made) { // swifthints cannot be read without blocks
        IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(out));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        Print(stdout, "{}: {} bytes\n", out.string(), size);
        return {};
    }
    const HintsInfo& info = (*made)->Info();
    Print(stdout, "{}: {}, {} bytes, blocks 1 to {}, {} unspent outputs, hints id {}\n",
          out.string(), NameOf(info.format), info.file_size, info.terminal_height, info.unspent,
          ToHex(info.id.Span()));
    return {};
}

Error ToolContext::Interrupted(const OutputWork& work) const
{
    return SystemError("interrupted; the same command continues ({} keeps {})",
                       work.Folder().string(), FormatBytes(work.Size(env)));
}

namespace {

bool AsksForHelp(const ToolArguments& arguments)
{
    const auto is = [&](const char* word) {
        return !arguments.words.empty() && arguments.words[0] == word;
    };
    return arguments.Has("help") || is("help") ||
           std::find(arguments.words.begin(), arguments.words.end(), "-h") != arguments.words.end();
}

} // namespace

int RunHintsTool(Env& env, int argc, char** argv)
{
    const ToolArguments arguments = Parse(argc, argv);
    if (AsksForHelp(arguments) || argc == 1) {
        Print(stdout, "{}", kHelp);
        return argc == 1 ? 1 : 0;
    }
    if (arguments.Has("version")) {
        Print(stdout, "bitcoin-hints version v{}\n", kVersion);
        return 0;
    }
    const Result<> done = RunCommand(env, arguments);
    if (done) return 0;
    if (!done.Message().empty()) Print(stderr, "bitcoin-hints: {}\n", done.Message());
    return StatusOfStop().value_or(1);
}

} // namespace ibd
