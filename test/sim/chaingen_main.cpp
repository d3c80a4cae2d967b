// ibd-chaingen: writes a generated regtest chain as block files that -reindex imports.
#include "hints/hints_writer.h"
#include "sim/block_files.h"
#include "sim/chain.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace ibd::sim {

namespace {

constexpr const char* kHelp =
    R"(Usage: ibd-chaingen --out DIR [options]

Writes a valid regtest chain to DIR/regtest/blocks and prints a summary in JSON.
The same options give the same bytes.

  --seed N               source of all chance (default 1)
  --outputs N            about this many transaction outputs in all (default 100000)
  --blocks N             this many blocks above genesis, instead of --outputs
  --outputs-per-block N  mean after the first hundred blocks, 1 to 7000
                         (default: a 500th of --outputs, 20 to 2000)
  --tail N               then N blocks with nothing but a coinbase, to bury the others
  --like-mainnet         coins that stay lie together as mainnet's do: hints are then as large as
                         mainnet's for each coin (bench/README.md)
  --signed               real signatures; else scripts that anyone can spend, as long and as valid
  --shuffle WINDOW       write blocks in random order within a window of so many
  --xor                  obfuscate the files, key in xor.dat
  --stale                add stale branches of one and two blocks, and blocks written twice
  --preallocate          zeros after the last block, as a running node leaves them
  --torn                 an incomplete record at the end of the last file
  --bip30 FIRST:REPEAT[:overwrite]
                         block REPEAT has the coinbase of block FIRST; needs --bip34 above REPEAT
                         and REPEAT below 150. Without "overwrite" the first is spent in between.
  --bip34 H              BIP34 is active from height H (node: -testactivationheight=bip34@H)
  --bad-script H         the scripts of block H fail; all else is valid
  --hints-height H       the height that the hints speak of
                         (default: the last block before the tail)
  --hints FILE           text: line h lists the unspent among the spendable outputs of block h
  --bitmap FILE          the same as original bitmap hints
  --container FILE       the same as a hints container (doc/formats/hints.md)
)";

struct Options {
    ChainOptions chain;
    BlockFileOptions files;
    uint64_t outputs = 100'000;
    int blocks = 0; //!< 0: from outputs
    int tail = 0;
    bool stale = false;
    int bip34_height = 0; //!< 0: as regtest has it
    int hints_height = 0; //!< 0: the last before the tail
    std::string out, hints, bitmap, container;
};

[[noreturn]] void Fail(const std::string& message)
{
    fmt::print(stderr, "ibd-chaingen: {}\n", message);
    std::exit(1);
}

void Require(const Result<>& result)
{
    if (!result.Ok()) Fail(result.Message());
}

uint64_t Number(const std::string& text)
{
    char* end = nullptr;
    const uint64_t value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || *end || text[0] == '-') Fail(fmt::format("not a number: '{}'", text));
    return value;
}

int SmallNumber(const std::string& text)
{
    const uint64_t value = Number(text);
    if (value > 10'000'000) Fail(fmt::format("too large: {}", text));
    return static_cast<int>(value);
}

RepeatedCoinbase ParsePair(const std::string& text)
{
    RepeatedCoinbase out;
    char rest[16] = "";
    const int fields = std::sscanf(text.c_str(), "%d:%d:%15s", &out.first, &out.repeat, rest);
    out.overwrite = std::string(rest) == "overwrite";
    if (fields < 2 || (fields == 3 && !out.overwrite)) {
        Fail("--bip30 wants FIRST:REPEAT[:overwrite]");
    }
    return out;
}

Options ParseOptions(int argc, char** argv)
{
    Options o;
    o.chain.outputs_per_block = 0; // from outputs
    using Text = const std::string&;
    const std::map<std::string, std::function<void(Text)>> valued = {
        {"--seed", [&](Text v) { o.chain.seed = o.files.seed = Number(v); }},
        {"--outputs", [&](Text v) { o.outputs = Number(v); }},
        {"--blocks", [&](Text v) { o.blocks = SmallNumber(v); }},
        {"--tail", [&](Text v) { o.tail = SmallNumber(v); }},
        {"--outputs-per-block", [&](Text v) { o.chain.outputs_per_block = SmallNumber(v); }},
        {"--shuffle",
         [&](Text v) { o.files.shuffle_window = static_cast<size_t>(SmallNumber(v)); }},
        {"--bip30", [&](Text v) { o.chain.repeated_coinbase = ParsePair(v); }},
        {"--bad-script", [&](Text v) { o.chain.bad_script_height = SmallNumber(v); }},
        {"--bip34", [&](Text v) { o.bip34_height = SmallNumber(v); }},
        {"--hints-height", [&](Text v) { o.hints_height = SmallNumber(v); }},
        {"--hints", [&](Text v) { o.hints = v; }},
        {"--bitmap", [&](Text v) { o.bitmap = v; }},
        {"--container", [&](Text v) { o.container = v; }},
        {"--out", [&](Text v) { o.out = v; }},
    };
    const std::map<std::string, bool*> flags = {
        {"--signed", &o.chain.signed_spends},    {"--like-mainnet", &o.chain.like_mainnet},
        {"--xor", &o.files.obfuscate},           {"--stale", &o.stale},
        {"--preallocate", &o.files.preallocate}, {"--torn", &o.files.torn_tail},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help" || name == "-h") {
            std::fputs(kHelp, stdout);
            std::exit(0);
        }
        if (const auto flag = flags.find(name); flag != flags.end()) {
            *flag->second = true;
        } else if (const auto option = valued.find(name); option != valued.end()) {
            if (++i == argc) Fail(name + " wants a value");
            option->second(argv[i]);
        } else {
            Fail(fmt::format("unknown option '{}' (see --help)", name));
        }
    }
    return o;
}

/** Completes and checks what depends on several options. */
void Settle(Options& o)
{
    int& mean = o.chain.outputs_per_block;
    if (mean == 0) mean = static_cast<int>(std::clamp<uint64_t>(o.outputs / 500, 20, 2'000));
    if (o.out.empty()) Fail("--out is missing (see --help)");
    if (mean < 1 || mean > kMostOutputsPerBlock) Fail("--outputs-per-block is out of range");
    // The first hundred blocks make two outputs each: a coinbase and its commitment.
    const uint64_t more = o.outputs > 200 ? o.outputs - 200 : 0;
    if (o.blocks == 0) o.blocks = static_cast<int>(100 + more / static_cast<uint64_t>(mean + 2));
    o.chain.blocks = o.blocks;
    if (o.hints_height == 0) o.hints_height = o.blocks;
    if (o.hints_height > o.blocks + o.tail) Fail("--hints-height is above the tip");
    if (const auto& pair = o.chain.repeated_coinbase) {
        if (pair->first < 1 || pair->repeat >= 150 || pair->repeat >= o.bip34_height ||
            pair->repeat <= pair->first + (pair->overwrite ? 0 : 109)) {
            Fail("--bip30: heights do not fit (see --help)");
        }
    }
}

ChainParams Params(const Options& o)
{
    NetworkOptions network;
    if (o.bip34_height) {
        network.activation_heights[BuriedDeployment::kHeightInCoinbase] = o.bip34_height;
    }
    return MakeChainParams(Network::kRegtest, network);
}

class Generator {
public:
    explicit Generator(const Options& options)
        : m_options(options), m_env(MakePosixEnv()), m_params(Params(options)),
          m_chain(m_params, options.chain), m_rng(options.chain.seed ^ 0x7374616c65)
    {
    }

    void Run()
    {
        auto files = BlockFiles::Create(*m_env, Path(m_options.out) / "regtest" / "blocks",
                                        m_params.magic, m_options.files);
        if (!files.Ok()) Fail(files.Message());
        Require(files->Add(m_chain.Genesis().bytes));
        int tenth = 0;
        for (int height = 1; height <= m_options.blocks + m_options.tail; ++height) {
            if (height <= m_options.blocks) {
                AddNext(*files, height);
            } else {
                Require(files->AddShuffled(m_chain.NextEmpty().bytes));
            }
            if (height == m_options.hints_height) WriteTruth();
            if (height > m_options.blocks || 10 * int64_t{height} / m_options.blocks == tenth) {
                continue;
            }
            tenth = static_cast<int>(10 * int64_t{height} / m_options.blocks);
            fmt::print(stderr, "{} % ({} blocks, {} outputs)\n", 10 * tenth, height,
                       m_chain.GetTruth().Outputs());
        }
        Require(files->Finish());
        PrintSummary(*files);
    }

private:
    void AddNext(BlockFiles& files, int height)
    {
        // Far enough below the tip that the branch never is the better chain.
        const bool stale = m_options.stale && height + 6 < m_options.blocks && m_rng.Chance(1, 50);
        if (stale) AddBranch(files);
        SimBlock block = m_chain.Next();
        BlockView view;
        Require(view.Parse(block.bytes));
        m_stripped += view.StrippedSize();
        if (m_options.stale && m_rng.Chance(1, 100)) {
            ++m_repeats;
            Require(files.AddShuffled(block.bytes));
        }
        Require(files.AddShuffled(std::move(block.bytes)));
    }

    void AddBranch(BlockFiles& files)
    {
        Chain branch = m_chain;
        branch.Reseed(m_rng.Next());
        for (uint64_t length = 1 + m_rng.Below(2); length > 0; --length) {
            Require(files.AddShuffled(branch.NextEmpty().bytes));
            ++m_stale;
        }
    }

    void WriteTruth()
    {
        const Truth& truth = m_chain.GetTruth();
        m_hints_hash = m_chain.TipHash();
        if (!m_options.hints.empty()) {
            Require(WriteFileAtomically(*m_env, m_options.hints, AsBytes(truth.ToText())));
        }
        if (!m_options.bitmap.empty()) {
            Require(WriteFileAtomically(*m_env, m_options.bitmap, truth.ToBitmap()));
        }
        if (!m_options.container.empty()) Require(WriteContainer(truth));
    }

    Result<> WriteContainer(const Truth& truth) const
    {
        IBD_ASSIGN_OR_RETURN(const auto writer,
                             MakeContainerWriter(*m_env, m_options.container, m_params.magic));
        for (int height = 1; height <= truth.Height(); ++height) {
            const std::vector<uint8_t> outputs = truth.UnspentOfBlock(height, true);
            std::vector<uint32_t> unspent;
            for (uint32_t i = 0; i < outputs.size(); ++i) {
                if (outputs[i]) unspent.push_back(i);
            }
            IBD_RETURN_IF_ERROR(writer->Add(static_cast<uint32_t>(height),
                                            static_cast<uint32_t>(outputs.size()), unspent));
        }
        return writer->Finish(m_hints_hash);
    }

    void PrintSummary(const BlockFiles& files) const
    {
        const Truth& truth = m_chain.GetTruth();
        const ChainStats& stats = m_chain.Stats();
        fmt::print("{{\n  \"seed\": {},\n  \"height\": {},\n  \"tip\": \"{}\",\n"
                   "  \"transactions\": {},\n  \"outputs\": {},\n  \"spendable\": {},\n"
                   "  \"inputs\": {},\n  \"unspent\": {},\n  \"spent_same_block\": {},\n"
                   "  \"spent_within_10\": {},\n  \"spent_within_100\": {},\n"
                   "  \"overwritten\": {},\n  \"stale_blocks\": {},\n  \"repeated_blocks\": {},\n",
                   m_options.chain.seed, m_chain.Height(), m_chain.TipHash().ToHex(), stats.txs,
                   truth.Outputs(), truth.Spendable(), stats.inputs, truth.Unspent(),
                   stats.spent_same_block, stats.spent_within_10, stats.spent_within_100,
                   stats.overwritten, m_stale, m_repeats);
        fmt::print("  \"hints_height\": {},\n  \"hints_hash\": \"{}\",\n  \"bytes\": {},\n"
                   "  \"stripped_bytes\": {},\n  \"files\": {}\n}}\n",
                   m_options.hints_height, m_hints_hash.ToHex(), files.BytesWritten(), m_stripped,
                   files.Files());
    }

    const Options& m_options;
    std::unique_ptr<Env> m_env;
    ChainParams m_params;
    Chain m_chain;
    Rng m_rng;
    BlockHash m_hints_hash;
    int m_stale = 0, m_repeats = 0;
    uint64_t m_stripped = 0; //!< bytes without witnesses of the best chain but for the tail
};

} // namespace

} // namespace ibd::sim

int main(int argc, char** argv)
{
    ibd::sim::Options options = ibd::sim::ParseOptions(argc, argv);
    ibd::sim::Settle(options);
    ibd::sim::Generator(options).Run();
    return 0;
}
