// The commands info, diff and bench: the contents of a hints file, the differences between two
// files, and the reading speed. See tool.h.
#include "hints_tool/tool.h"
#include "util/hex.h"
#include "util/process.h"

#include <algorithm>
#include <chrono>

namespace ibd {

namespace {

constexpr size_t kPlotColumns = 200;
constexpr size_t kTableRows = 10;

/** The mean number of unspent outputs per block, in `parts` ranges of equally many blocks. */
Result<std::vector<double>> UnspentOverHeight(const Hints& hints, size_t parts)
{
    const uint64_t blocks = hints.Info().terminal_height;
    parts = std::min<uint64_t>(parts, blocks);
    std::vector<double> sums(parts);
    std::vector<double> counts(parts);
    BlockHints block;
    for (uint32_t height = 1; height <= blocks; ++height) {
        IBD_RETURN_IF_ERROR(hints.Read(height, block));
        const auto part = static_cast<size_t>((height - 1) * uint64_t{parts} / blocks);
        sums[part] += double(block.unspent.size());
        ++counts[part];
    }
    for (size_t i = 0; i < parts; ++i) sums[i] /= counts[i];
    return sums;
}

void PrintInfo(const HintsInfo& info)
{
    const auto network = info.network_magic ? NetworkFromMagic(*info.network_magic) : std::nullopt;
    Print(stdout, "format: {}\n", NameOf(info.format));
    Print(stdout, "bytes: {}\n", info.file_size);
    Print(stdout, "network: {}\n",
          network              ? NetworkName(*network)
          : info.network_magic ? ToHex(*info.network_magic)
                               : "not in the file");
    Print(stdout, "terminal height: {}\n", info.terminal_height);
    Print(stdout, "terminal block: {}\n",
          info.terminal_hash ? info.terminal_hash->ToHex() : "not in the file");
    Print(stdout, "counted: {} outputs\n",
          info.counting == HintsCounting::kAll ? "all" : "spendable");
    Print(stdout, "outputs: {}\n",
          info.outputs ? std::to_string(*info.outputs) : "not in the file");
    Print(stdout, "unspent: {}\n", info.unspent);
    Print(stdout, "bits per unspent output: {:.3f}\n",
          info.unspent ? 8.0 * double(info.file_size) / double(info.unspent) : 0);
    Print(stdout, "hints id: {}\n", ToHex(info.id.Span()));
}

/** Writes to "<path>.new", which must not exist, and renames it when it is complete. */
Result<> WritePlot(Env& env, const Path& path, const std::string& svg)
{
    const Path beside = path.string() + ".new";
    const auto file = env.CreateFile(beside);
    if (!file) return file.GetError();
    Result<> written = (*file)->WriteAt(0, AsBytes(svg));
    if (written) written = (*file)->Sync();
    if (written) written = env.Rename(beside, path);
    if (!written) (void)env.Remove(beside);
    return written;
}

} // namespace

std::string PlotSvg(const HintsInfo& info, const std::vector<double>& unspent_per_block)
{
    constexpr double kWidth = 800, kHeight = 300, kLeft = 70, kBottom = 40, kTop = 30;
    const double most =
        std::max(1.0, *std::max_element(unspent_per_block.begin(), unspent_per_block.end()));
    std::string points;
    for (size_t i = 0; i < unspent_per_block.size(); ++i) {
        const double x = kLeft + kWidth * (double(i) + 0.5) / double(unspent_per_block.size());
        points +=
            fmt::format("{:.1f},{:.1f} ", x, kTop + kHeight * (1 - unspent_per_block[i] / most));
    }
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}"
 font-family="sans-serif" font-size="12">
<rect width="{0}" height="{1}" fill="white"/>
<text x="{2}" y="18">unspent outputs per block; {3} in blocks 1 to {4}</text>
<path d="M{2} {5}V{6}H{7}" fill="none" stroke="black"/>
<text x="{8}" y="{9}" text-anchor="end">{10:.0f}</text>
<text x="{8}" y="{6}" text-anchor="end">0</text>
<text x="{2}" y="{11}">1</text>
<text x="{7}" y="{11}" text-anchor="end">{4}</text>
<polyline points="{12}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>
</svg>
)",
        kLeft + kWidth + 20, kTop + kHeight + kBottom, kLeft, info.unspent, info.terminal_height,
        kTop, kTop + kHeight, kLeft + kWidth, kLeft - 6, kTop + 6, most, kTop + kHeight + 20,
        points);
}

Result<> ShowHints(const ToolContext& context)
{
    IBD_ASSIGN_OR_RETURN(const auto hints, context.Open(context.arguments.words[0]));
    PrintInfo(hints->Info());
    IBD_ASSIGN_OR_RETURN(const auto rows, UnspentOverHeight(*hints, kTableRows));
    Print(stdout, "mean unspent outputs per block, from height:\n");
    for (size_t i = 0; i < rows.size(); ++i) {
        Print(stdout, "{:>9} {:10.2f}\n",
              1 + i * uint64_t{hints->Info().terminal_height} / rows.size(), rows[i]);
    }
    const auto plot = context.arguments.Get("plot");
    if (!plot) return {};
    IBD_ASSIGN_OR_RETURN(const Path target, context.Target(*plot));
    IBD_ASSIGN_OR_RETURN(const auto columns, UnspentOverHeight(*hints, kPlotColumns));
    return WritePlot(context.env, target, PlotSvg(hints->Info(), columns));
}

Result<> DiffHints(const ToolContext& context)
{
    IBD_ASSIGN_OR_RETURN(const auto limit, context.arguments.Number("limit", 0, 1'000'000'000));
    IBD_ASSIGN_OR_RETURN(const auto a, context.Open(context.arguments.words[0]));
    IBD_ASSIGN_OR_RETURN(const auto b, context.Open(context.arguments.words[1]));
    if (a->Info().counting != b->Info().counting) {
        return BadData("{} counts other outputs than {}: convert one of them first",
                       NameOf(a->Info().format), NameOf(b->Info().format));
    }
    const uint32_t last = std::min(a->Info().terminal_height, b->Info().terminal_height);
    uint64_t differ = 0;
    BlockHints x, y;
    for (uint32_t height = 1; height <= last; ++height) {
        IBD_RETURN_IF_ERROR(a->Read(height, x));
        IBD_RETURN_IF_ERROR(b->Read(height, y));
        const bool same_outputs = !x.outputs || !y.outputs || *x.outputs == *y.outputs;
        if (x.unspent == y.unspent && same_outputs) continue;
        if (++differ > limit.value_or(10)) continue;
        std::vector<uint32_t> only;
        std::set_symmetric_difference(x.unspent.begin(), x.unspent.end(), y.unspent.begin(),
                                      y.unspent.end(), std::back_inserter(only));
        Print(stdout, "block {}: {} outputs differ{}\n", height, only.size(),
              only.empty() ? ", but the files count different numbers of outputs"
                           : fmt::format(", first {}", only[0]));
    }
    const bool same_end = a->Info().terminal_height == b->Info().terminal_height;
    if (!same_end) {
        Print(stdout, "the files end at heights {} and {}\n", a->Info().terminal_height,
              b->Info().terminal_height);
    }
    Print(stdout, "{} of {} blocks differ\n", differ, last);
    if (differ == 0 && same_end) return {};
    return BadData(""); // printed above
}

Result<> BenchHints(const ToolContext& context)
{
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    IBD_ASSIGN_OR_RETURN(const auto hints, context.Open(context.arguments.words[0]));
    const auto opened = Clock::now();
    const HintsInfo& info = hints->Info();
    BlockHints block;
    uint64_t unspent = 0;
    for (uint32_t height = 1; height <= info.terminal_height; ++height) {
        IBD_RETURN_IF_ERROR(hints->Read(height, block));
        unspent += block.unspent.size();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - opened).count();
    Print(stdout, "{}: {} bytes, opened and checked in {:.3f} s\n", NameOf(info.format),
          info.file_size, std::chrono::duration<double>(opened - start).count());
    Print(stdout, "read in order in {:.3f} s: {:.1f} M unspent outputs/s", seconds,
          double(unspent) / seconds / 1e6);
    if (info.outputs) Print(stdout, ", {:.0f} M outputs/s", double(*info.outputs) / seconds / 1e6);
    Print(stdout, "\n");
    return {};
}

} // namespace ibd
