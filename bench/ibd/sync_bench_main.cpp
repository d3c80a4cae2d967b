// ibd-sync-bench: times the floor, the booster or the join over a regtest directory of block files
// and prints one line of JSON. bench/ibd/run.py drives it.
#include "crypto/chacha20_poly1305.h"
#include "ibd/block_index.h"
#include "ibd/command_line.h"
#include "ibd/floor.h"
#include "join/durable_undo.h"
#include "join/undo_rebuild.h"
#include "storage/coins_db.h"
#include "swiftsync/engine.h"
#include "swiftsync/file_block_source.h"
#include "swiftsync/terminal.h"
#include "util/hex.h"
#include "util/threads.h"

#include <fstream>

#include <sys/resource.h>

namespace ibd::bench {

namespace {

constexpr const char* kHelp = R"(Usage: ibd-sync-bench MODE --blocks DIR [options]
MODE is "floor", "booster", "join" (hints from blocks alone), "undo" (undo files from blocks alone),
"wtxids" or "aead" (one pass over the bytes of all blocks).
  --blocks DIR      folder with blk*.dat (regtest)
  --threads N       default 1
  --cold 1          drop the block files from the system's cache before the time runs
  --hints FILE      booster: hints of either format; join: hints that must come out; undo:
                    hints that say how many outputs are unspent
  --work DIR        booster, join, undo: folder for what they write, emptied before and after
  --memory MIB      booster: coin buffers (default 96); join, undo: all that they divide
  --live-ratio N    join, undo: instead, so little that the unspent outputs need N times the table
  --checks NAME     undo: none, rules (default) or scripts
  --last N          undo: of the last N blocks alone
  --aggregate NAME  booster: sha256 or muhash
  --loader NAME     booster: table or batch
  --keep 1          booster: go on from what is in --work, leave it there, and print a digest of
                    all coins
  --checkpoint-mib N  booster: block bytes that a worker folds at most before they are durable
)";

Options ReadOptions(int argc, char** argv)
{
    return ParseOptions(argc, argv, 2,
                        {{"--blocks", ""},
                         {"--threads", "1"},
                         {"--cold", "0"},
                         {"--hints", ""},
                         {"--work", ""},
                         {"--memory", "96"},
                         {"--live-ratio", "0"},
                         {"--checks", "rules"},
                         {"--last", "0"},
                         {"--loader", "table"},
                         {"--aggregate", "sha256"},
                         {"--keep", "0"},
                         {"--checkpoint-mib", "8192"}},
                        kHelp);
}

/** Bytes that this process has caused to be written to disk. */
uint64_t BytesWritten()
{
    std::ifstream in("/proc/self/io");
    for (std::string name; in >> name;) {
        uint64_t value = 0;
        in >> value;
        if (name == "write_bytes:") return value;
    }
    return 0;
}

uint64_t PeakRss()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

double CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/** The resources that the process uses from now on. */
class Meter {
public:
    explicit Meter(Env& env) : m_env(env), m_start(env.MonotonicMicros()) {}

    double Seconds(int64_t end) const { return static_cast<double>(end - m_start) / 1e6; }
    double Seconds() const { return Seconds(m_env.MonotonicMicros()); }
    double Cpu() const { return CpuSeconds() - m_cpu; }
    uint64_t Written() const { return BytesWritten() - m_written; }

private:
    Env& m_env;
    const uint64_t m_written = BytesWritten();
    const double m_cpu = CpuSeconds();
    const int64_t m_start;
};

uint64_t DirectorySize(const Path& directory)
{
    uint64_t size = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (entry.is_regular_file()) size += entry.file_size();
    }
    return size;
}

struct Chain {
    std::unique_ptr<Env> env = MakePosixEnv();
    std::unique_ptr<Logger> log = MakeNullLogger();
    ChainParams params = MakeChainParams(Network::kRegtest);
    HeaderTree tree{params};
    std::unique_ptr<BlockStore> store;

    explicit Chain(const Path& blocks)
    {
        BlockStoreOptions options;
        options.blocks_dir = blocks;
        options.magic = params.magic;
        store = Require(BlockStore::Open(*env, *log, options));
        if (const auto indexed = IndexBlocks(*store, tree); !indexed) Fail(indexed.Message());
    }

    /** Pages that other programs map or have changed stay. */
    void DropFromCache() const
    {
        for (const int32_t file : Require(store->ListBlockFiles())) {
            const auto opened = Require(env->OpenRead(store->BlockPath(file)));
            opened->DontNeed(0, Require(opened->Size()));
        }
    }
};

void BenchFloor(Chain& chain, unsigned threads)
{
    const Meter meter(*chain.env);
    const FloorResult r =
        Require(RunFloor(*chain.env, *chain.store, *chain.tree.BestHeader(), threads));
    const double seconds = meter.Seconds();
    fmt::print("{{\"mode\":\"floor\",\"threads\":{},\"seconds\":{:.3f},\"cpu\":{:.3f},"
               "\"blocks\":{},\"outputs\":{},\"inputs\":{},\"bytes\":{},\"check\":{}}}\n",
               threads, seconds, meter.Cpu(), r.blocks, r.outputs, r.inputs, r.bytes, r.check);
}

void BenchWitnessHashes(Chain& chain)
{
    const double cpu =
        Require(TimeWitnessHashes(*chain.env, *chain.store, *chain.tree.BestHeader()));
    fmt::print("{{\"mode\":\"wtxids\",\"cpu\":{:.3f}}}\n", cpu);
}

/** The cost of the encrypted transport: messages of an average block's size are decrypted. */
void BenchAead(Chain& chain, const std::string& folder)
{
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.is_regular_file()) bytes += file.file_size();
    }
    const auto blocks = static_cast<uint64_t>(chain.tree.BestHeader()->height) + 1;
    Bytes message(bytes / blocks);
    ChaCha20Poly1305 cipher(Hash32{});
    const Meter meter(*chain.env);
    for (uint64_t i = 0; i < blocks; ++i) {
        ChaCha20Poly1305::Nonce nonce{};
        WriteLE64(nonce.data(), i);
        cipher.StartOpen(nonce, {});
        cipher.Update(message, message);
        (void)cipher.FinishOpen({}); // it fails after the same work
    }
    fmt::print("{{\"mode\":\"aead\",\"cpu\":{:.3f}}}\n", meter.Cpu());
}

/** Progress sampled while the engine runs: [seconds, state, bytes, coins loaded]. */
class Sampler {
public:
    Sampler(Env& env, const SyncEngine& engine)
        : m_env(env), m_engine(engine), m_start(env.MonotonicMicros()),
          m_thread("sampler", [this] { Work(); })
    {
    }
    std::string Stop()
    {
        m_stop = true;
        m_thread.Join();
        return m_samples;
    }

private:
    void Work()
    {
        while (!m_stop) {
            const FoldProgress p = m_engine.Progress();
            m_samples += fmt::format("{}[{:.3f},\"{}\",{},{}]", m_samples.empty() ? "" : ",",
                                     static_cast<double>(m_env.MonotonicMicros() - m_start) / 1e6,
                                     FoldStateName(p.state), p.bytes, p.coins_loaded);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

    Env& m_env;
    const SyncEngine& m_engine;
    const int64_t m_start;
    std::string m_samples;
    std::atomic<bool> m_stop = false;
    NamedThread m_thread;
};

/** SHA-256 over best block and all coins, in order. */
std::string Digest(Chain& chain, const Path& chainstate)
{
    CoinsDbOptions options;
    options.directory = chainstate;
    const auto db = Require(CoinsDb::Open(*chain.env, *chain.log, options));
    Sha256 hash;
    hash.Write(Require(db->BestBlock()).Span());
    auto cursor = db->Cursor();
    for (cursor.Seek({Txid(), 0}); cursor.Valid(); cursor.Next()) {
        const OutPoint outpoint = cursor.Key();
        uint8_t vout[4];
        WriteLE32(vout, outpoint.vout);
        hash.Write(outpoint.txid.Span()).Write(vout).Write(cursor.RawValue());
    }
    if (const auto read = cursor.Status(); !read) Fail(read.Message());
    return ToHex(hash.Finalize());
}

void BenchBooster(Chain& chain, Options& args)
{
    const Path work = args["--work"];
    if (work.empty() || args["--hints"].empty()) Fail("booster needs --work and --hints");
    const bool keep = args["--keep"] == "1";
    if (!keep) std::filesystem::remove_all(work);
    std::filesystem::create_directories(work);
    BoosterOptions options;
    options.checkpoint_bytes = std::stoull(args["--checkpoint-mib"]) << 20;
    options.threads = static_cast<unsigned>(std::stoul(args["--threads"]));
    options.memory_bytes = std::stoull(args["--memory"]) << 20;
    options.aggregate = AggregateKindFromName(args["--aggregate"]).value();
    options.loader = args["--loader"] == "batch" ? LoaderKind::kBatch : LoaderKind::kTable;
    options.directory = work / "booster";
    options.chainstate = work / "chainstate";

    const Meter meter(*chain.env);
    const auto hints = Require(OpenHints(*chain.env, args["--hints"]));
    const HeaderNode* terminal =
        Require(CheckTerminalBlock(hints->Info(), chain.tree, chain.params));
    SyncEngine engine(*chain.env, *chain.log, chain.params, *terminal, *chain.store, *hints,
                      options);
    Sampler sampler(*chain.env, engine);
    const Verdict verdict = Require(engine.Run());
    const double seconds = meter.Seconds();
    const std::string samples = sampler.Stop();
    if (verdict.kind != VerdictKind::kDone) Fail("not accepted: " + verdict.reason);
    const FoldProgress p = engine.Progress();
    fmt::print("{{\"mode\":\"booster\",\"threads\":{},\"seconds\":{:.3f},\"cpu\":{:.3f},"
               "\"fold_seconds\":{:.3f},\"blocks\":{},\"outputs\":{},\"inputs\":{},\"bytes\":{},"
               "\"coins\":{},\"peak_rss\":{},\"hints_bytes\":{},\"written\":{},"
               "\"chainstate_bytes\":{},\"resumed\":{},\"digest\":\"{}\",\"samples\":[{}]}}\n",
               options.threads, seconds, meter.Cpu(), p.seconds_elapsed, p.blocks, p.outputs,
               p.inputs, p.bytes, verdict.coins, PeakRss(), hints->Info().file_size,
               meter.Written(), DirectorySize(options.chainstate), p.resumed_blocks,
               keep ? Digest(chain, options.chainstate) : "", samples);
    if (!keep) std::filesystem::remove_all(work);
}

/** Whether the two files number and mark the same outputs. */
void RequireSameHints(Env& env, const Path& made, const Path& right)
{
    const auto a = Require(OpenHints(env, made));
    const auto b = Require(OpenHints(env, right));
    if (a->Info().id != b->Info().id) Fail("other hints than those of " + right.string());
}

JoinOptions MakeJoinOptions(Chain& chain, Options& args)
{
    const Path work = args["--work"];
    if (work.empty() || args["--hints"].empty()) Fail("this mode needs --work and --hints");
    std::filesystem::remove_all(work);
    std::filesystem::create_directories(work);
    JoinOptions options;
    options.threads = static_cast<unsigned>(std::stoul(args["--threads"]));
    options.memory_bytes = std::stoull(args["--memory"]) << 20;
    options.directory = work / "join";
    const uint64_t unspent = Require(OpenHints(*chain.env, args["--hints"]))->Info().unspent;
    if (const uint64_t ratio = std::stoull(args["--live-ratio"])) {
        options.memory_bytes = unspent * sizeof(JoinRecord) / ratio * 4 / 3; // a quarter is pages
    }
    return options;
}

void BenchJoin(Chain& chain, Options& args)
{
    const Path work = args["--work"];
    const JoinOptions options = MakeJoinOptions(chain, args);
    const HeaderNode& terminal = *Require(CheckTerminalBlock(
        Require(OpenHints(*chain.env, args["--hints"]))->Info(), chain.tree, chain.params));
    const Meter meter(*chain.env);
    const std::atomic<bool> stop = false;
    FileBlockSupply supply(*chain.env, *chain.store, terminal, PlanOrder::OfChain());
    const GeneratedHints made =
        Require(GenerateHints(*chain.env, *chain.log, chain.params, terminal, supply, options, stop,
                              work / "hints", HintsFormat::kContainer1));
    const double seconds = meter.Seconds();
    const double cpu = meter.Cpu();
    if (made.verdict.kind != VerdictKind::kDone) Fail("no hints: " + made.verdict.reason);
    RequireSameHints(*chain.env, work / "hints", args["--hints"]);
    const JoinTotals& totals = made.verdict.totals;
    fmt::print("{{\"mode\":\"join\",\"threads\":{},\"seconds\":{:.3f},\"cpu\":{:.3f},"
               "\"blocks\":{},\"outputs\":{},\"unspent\":{},\"bytes\":{},\"records\":{},"
               "\"met\":{},\"spilled_bytes\":{},\"memory\":{},\"peak_rss\":{},"
               "\"written\":{},\"hints_bytes\":{}}}\n",
               options.threads, seconds, cpu, totals.blocks, totals.outputs, totals.unspent,
               totals.bytes, totals.records, totals.met, totals.spilled_bytes, options.memory_bytes,
               PeakRss(), meter.Written(), made.file_size);
    std::filesystem::remove_all(work);
}

/** Writes undo files as a node does, but into a folder of their own. */
class UndoFiles final : public UndoSink {
public:
    UndoFiles(Chain& chain, const Path& folder) : m_env(*chain.env)
    {
        std::filesystem::create_directories(folder);
        BlockStoreOptions options;
        options.blocks_dir = folder;
        options.magic = chain.params.magic;
        m_store = Require(BlockStore::Open(*chain.env, *chain.log, options, chain.store->Files()));
    }
    Result<> Put(const HeaderNode& node, const UndoRecord& undo) override
    {
        IBD_RETURN_IF_ERROR(
            m_store->WriteUndo(node.file, undo, static_cast<uint32_t>(node.height),
                               ReadAgain::kLate));
        m_bytes += undo.Size();
        return {};
    }
    Result<> MakeDurable(int32_t) override
    {
        IBD_RETURN_IF_ERROR(m_store->Flush());
        m_durable = m_env.MonotonicMicros();
        return {};
    }
    /** The last time they were: MonotonicMicros. */
    int64_t Durable() const { return m_durable; }
    uint64_t Bytes() const { return m_bytes; }

private:
    Env& m_env;
    std::unique_ptr<BlockStore> m_store;
    int64_t m_durable = 0;
    uint64_t m_bytes = 0;
};

UndoChecks ChecksNamed(const std::string& name)
{
    if (name == "none") return UndoChecks::kNone;
    return name == "scripts" ? UndoChecks::kScripts : UndoChecks::kRules;
}

void BenchUndo(Chain& chain, Options& args)
{
    const Path work = args["--work"];
    UndoOptions options{MakeJoinOptions(chain, args), ChecksNamed(args["--checks"])};
    options.join.connected = options.checks != UndoChecks::kScripts;
    options.known_height = chain.tree.BestHeader()->height;
    const int last = std::stoi(args["--last"]);
    if (last > 0) options.first_height = chain.tree.BestHeader()->height - last + 1;
    const Meter meter(*chain.env);
    const std::atomic<bool> stop = false;
    FileBlockSupply supply(*chain.env, *chain.store, *chain.tree.BestHeader(),
                           PlanOrder::OfChain());
    UndoFiles files(chain, work / "blocks");
    UndoRebuild rebuild(*chain.env, *chain.log, chain.params, *chain.tree.BestHeader(),
                        *chain.store, supply, options, stop);
    DurableUndo durable(*chain.env, files, {.micros = 3600 * int64_t{1'000'000}});
    const JoinVerdict verdict = Require(last > 0 ? rebuild.RunLast(durable) : rebuild.Run(durable));
    const double seconds = meter.Seconds(files.Durable());
    const double cpu = meter.Cpu();
    if (verdict.kind != VerdictKind::kDone) Fail("no undo data: " + verdict.reason);
    const JoinTotals& totals = verdict.totals;
    fmt::print("{{\"mode\":\"undo\",\"threads\":{},\"seconds\":{:.3f},\"cpu\":{:.3f},"
               "\"blocks\":{},\"outputs\":{},\"bytes\":{},\"spilled_bytes\":{},"
               "\"pair_bytes\":{},\"coin_bytes\":{},\"undo_bytes\":{},\"memory\":{},"
               "\"peak_rss\":{},\"written\":{},\"hints_bytes\":0}}\n",
               options.join.threads, seconds, cpu, totals.blocks, totals.outputs, totals.bytes,
               totals.spilled_bytes, totals.pair_bytes, totals.coin_bytes, files.Bytes(),
               options.join.memory_bytes, PeakRss(), meter.Written());
    std::filesystem::remove_all(work);
}

int Main(int argc, char** argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    auto args = ReadOptions(argc, argv);
    const bool known = mode == "floor" || mode == "booster" || mode == "join" || mode == "undo" ||
                       mode == "wtxids" || mode == "aead";
    if (!known || args["--blocks"].empty()) Fail(kHelp);
    Chain chain(args["--blocks"]);
    if (args["--cold"] != "0") chain.DropFromCache();
    if (mode == "floor") {
        BenchFloor(chain, static_cast<unsigned>(std::stoul(args["--threads"])));
    } else if (mode == "wtxids") {
        BenchWitnessHashes(chain);
    } else if (mode == "aead") {
        BenchAead(chain, args["--blocks"]);
    } else if (mode == "join") {
        BenchJoin(chain, args);
    } else if (mode == "undo") {
        BenchUndo(chain, args);
    } else {
        BenchBooster(chain, args);
    }
    return 0;
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv) { return ibd::bench::Main(argc, argv); }
