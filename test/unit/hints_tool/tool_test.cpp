// bitcoin-hints over a generated chain and a failing disk: after any failure the output file of a
// command is right or absent, and the same command writes it at the next start.
#include "consensus/params.h"
#include "hints_tool/tool.h"
#include "script/script.h"
#include "sim/block_files.h"
#include "sim/chain.h"
#include "sim/fault_env.h"
#include "storage/snapshot.h"
#include "support/fault_sample.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int kBlocks = 130;

/** While it exists, commands print into a file that is not shown. */
class Quiet {
public:
    Quiet() : m_kept{::dup(STDOUT_FILENO), ::dup(STDERR_FILENO)}
    {
        std::fflush(nullptr);
        std::FILE* const null = std::fopen("/dev/null", "w");
        REQUIRE(null != nullptr);
        ::dup2(::fileno(null), STDOUT_FILENO);
        ::dup2(::fileno(null), STDERR_FILENO);
        std::fclose(null);
    }
    ~Quiet()
    {
        std::fflush(nullptr);
        ::dup2(m_kept[0], STDOUT_FILENO);
        ::dup2(m_kept[1], STDERR_FILENO);
        for (const int fd : m_kept) ::close(fd);
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    const int m_kept[2];
};

Bytes Read(const Path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/** Block files and a snapshot of the same chain, and the folder for what commands make. */
class Machine {
public:
    Machine()
    {
        const auto env = MakePosixEnv();
        const ChainParams params = MakeChainParams(Network::kRegtest);
        sim::ChainOptions options;
        options.blocks = kBlocks;
        options.outputs_per_block = 30;
        sim::Chain chain(params, options);
        auto files = Must(sim::BlockFiles::Create(*env, Blocks(), params.magic, {}));
        Must(files.Add(chain.Genesis().bytes));
        std::map<OutPoint, Coin> coins;
        while (chain.Height() < kBlocks) {
            const sim::SimBlock block = chain.Next();
            Must(files.Add(block.bytes));
            Connect(block, coins);
        }
        Must(files.Finish());
        auto snapshot = Must(SnapshotWriter::Create(*env, Coins(), params.magic, chain.TipHash()));
        for (const auto& [outpoint, coin] : coins) Must(snapshot->Add(outpoint, coin));
        Must(snapshot->Finish());
    }

    Path Blocks() const { return m_dir / "blocks"; }
    Path Coins() const { return m_dir / "coins"; }
    Path Out(const char* name = "out") const { return m_dir / name; }

    /** Runs a command as the program does, without its signals. */
    Result<> Run(Env& env, Result<> (*command)(const ToolContext&),
                 const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& options = {})
    {
        const Quiet quiet;
        const auto log = MakeNullLogger();
        const ToolArguments arguments{options, words};
        TerminalLine line(stderr); // of a file, as long as Quiet lives
        return command({env, *log, line, arguments, m_stop});
    }

    void Stop(bool stop) { m_stop = stop; }
    /** Nothing but what the user has, and these. */
    void CheckNothingLeft(const std::set<std::string>& made = {"out"}) const
    {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(m_dir.Get()))
            names.insert(entry.path().filename().string());
        std::set<std::string> expected{"blocks", "coins"};
        expected.insert(made.begin(), made.end());
        CHECK(names == expected);
    }
    void RemoveOut() const { std::filesystem::remove(Out()); }

private:
    static void Connect(const sim::SimBlock& block, std::map<OutPoint, Coin>& coins)
    {
        BlockView view;
        Must(view.Parse(block.bytes));
        for (const TxView& tx : view.Txs()) {
            for (const InputView& input : tx.inputs) coins.erase(input.Prevout());
            for (uint32_t n = 0; n < tx.outputs.size(); ++n) {
                const OutputView& output = tx.outputs[n];
                if (IsUnspendable(output.script_pubkey)) continue;
                coins[{tx.txid, n}] = {output.value, ScriptBytes(output.script_pubkey),
                                       static_cast<uint32_t>(block.height), tx.IsCoinbase()};
            }
        }
    }

    const TempDir m_dir{MemoryFolder()};
    std::atomic<bool> m_stop = false;
};

/** The ways to make the same file. */
const std::vector<std::map<std::string, std::string>> kWays(const Machine& machine)
{
    return {{}, {{"snapshot", machine.Coins().string()}}};
}

} // namespace

TEST_CASE("generate makes the same file from a snapshot and from blocks alone")
{
    Machine machine;
    const auto env = MakePosixEnv();
    const std::vector<std::string> words{machine.Blocks().string(), machine.Out().string()};
    std::vector<Bytes> made;
    for (const auto& options : kWays(machine)) {
        Must(machine.Run(*env, GenerateHints, words, options));
        made.push_back(Read(machine.Out()));
        machine.CheckNothingLeft();
        CHECK_THAT(machine.Run(*env, GenerateHints, words, options).Message(),
                   Catch::Contains("exists (replace it with --force)"));
        machine.RemoveOut();
    }
    REQUIRE_FALSE(made[0].empty());
    CHECK(made[0] == made[1]);
}

TEST_CASE("hints of each format are verified, shown, compared, and converted back")
{
    Machine machine;
    const auto env = MakePosixEnv();
    const std::string blocks = machine.Blocks().string();
    const std::string out = machine.Out().string();
    Must(machine.Run(*env, GenerateHints, {blocks, out}));
    Must(machine.Run(*env, VerifyHints, {out}, {{"blocks", blocks}}));
    size_t written = 0;
    for (const auto& [format, name] : kHintsFormats) {
        INFO(name);
        // Its file says nothing without the blocks, which one command alone reads beside it.
        if (format == HintsFormat::kSwifthints) continue;
        const std::string other = machine.Out("other").string();
        if (const auto done = machine.Run(*env, ConvertHints, {out, other},
                                          {{"format", std::string(name)}, {"blocks", blocks}});
            !done) {
            CHECK_THAT(done.Message(), Catch::Contains("are not written"));
            continue;
        }
        ++written;
        Must(machine.Run(*env, VerifyHints, {other}, {{"blocks", blocks}}));
        Must(machine.Run(*env, ShowHints, {other}));
        Must(machine.Run(*env, ConvertHints, {other, machine.Out("back").string()},
                         {{"blocks", blocks}}));
        CHECK(Read(machine.Out("back")) == Read(machine.Out()));
        std::filesystem::remove(machine.Out("other"));
        std::filesystem::remove(machine.Out("back"));
    }
    machine.CheckNothingLeft();
    CHECK(written > 5);
}

TEST_CASE("a call of the system that fails costs generate time alone")
{
    Machine machine;
    const std::vector<std::string> words{machine.Blocks().string(), machine.Out().string()};
    for (const auto& options : kWays(machine)) {
        INFO((options.empty() ? "from blocks alone" : "from a snapshot"));
        FaultEnv counting;
        Must(machine.Run(counting, GenerateHints, words, options));
        const Bytes right = Read(machine.Out());
        machine.RemoveOut();
        const uint64_t all = counting.Operations();
        const FaultSample sample = SampleOfFaults(all, 40);
        size_t failed = 0;
        bool dies = true; // at the operation, or it fails and the tool continues
        for (uint64_t number = sample.first; number < all; number += sample.step) {
            INFO("operation " << number << " of " << all);
            dies = !dies;
            {
                FaultEnv env(number + 1);
                if (dies)
                    env.CrashAt(number);
                else
                    env.SetScript([&](const FaultEnv::Operation& operation) {
                        return operation.number == number;
                    });
                const auto done = machine.Run(env, GenerateHints, words, options);
                failed += done ? 0 : 1;
                if (!done) CHECK_FALSE(done.Message().empty());
                if (dies) env.LoseUnsynced();
            }
            if (std::filesystem::exists(machine.Out())) {
                CHECK(Read(machine.Out()) == right);
                machine.RemoveOut();
            }
            FaultEnv env;
            Must(machine.Run(env, GenerateHints, words, options));
            CHECK(Read(machine.Out()) == right);
            machine.CheckNothingLeft();
            machine.RemoveOut();
        }
        CHECK(failed > 10);
    }
}

TEST_CASE("a stop is heeded at once and keeps what was done")
{
    Machine machine;
    const auto env = MakePosixEnv();
    const std::vector<std::string> words{machine.Blocks().string(), machine.Out().string()};
    for (const auto& options : kWays(machine)) {
        machine.Stop(true);
        const auto stopped = machine.Run(*env, GenerateHints, words, options);
        REQUIRE_FALSE(stopped.Ok());
        CHECK_THAT(stopped.Message(), Catch::Contains("interrupted"));
        CHECK_FALSE(std::filesystem::exists(machine.Out()));
        machine.Stop(false);
        Must(machine.Run(*env, GenerateHints, words, options));
        machine.CheckNothingLeft();
        machine.RemoveOut();
    }
}

TEST_CASE("a damaged block and an unreadable state cost none of the work")
{
    Machine machine;
    FaultEnv env;
    const std::vector<std::string> words{machine.Blocks().string(), machine.Out().string()};
    const std::map<std::string, std::string> options{{"snapshot", machine.Coins().string()}};
    Must(machine.Run(env, GenerateHints, words, options));
    const Bytes right = Read(machine.Out());
    machine.RemoveOut();

    const Path file = machine.Blocks() / "blk00000.dat";
    Bytes bytes = Read(file);
    const auto flip = [&] {
        bytes[bytes.size() / 2] ^= 1; // in a block
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    };
    flip();
    CHECK_THAT(machine.Run(env, GenerateHints, words, options).Message(),
               Catch::Contains("put a sound copy of the file in its place"));
    const auto coins = machine.Out("out.work") / "000000.coins";
    CHECK(std::filesystem::exists(coins));
    for (const char* kind : {"open", "read"}) {
        env.SetScript([kind](const FaultEnv::Operation& now) {
            return now.kind == kind && now.path.filename() == "state";
        });
        CHECK_FALSE(machine.Run(env, GenerateHints, words, options));
        CHECK(std::filesystem::exists(coins));
    }
    env.SetScript({});
    flip();
    Must(machine.Run(env, GenerateHints, words, options));
    CHECK(Read(machine.Out()) == right);
    machine.CheckNothingLeft();
}

TEST_CASE("options of bitcoin-hints say what they take")
{
    const ToolArguments arguments{{{"mem", "15"}, {"limit", "x"}, {"format", "none"}}, {}};
    CHECK(arguments.Number("mem", 16, 20).Message() == "--mem=15: must be a number from 16 to 20");
    CHECK(arguments.Number("limit", 0, 9).Message() == "--limit=x: must be a number from 0 to 9");
    CHECK(Must(arguments.Number("mem", 0, 15)) == std::optional<uint64_t>(15));
    CHECK(Must(arguments.Number("height", 0, 1)) == std::nullopt);
    CHECK_THAT(arguments.Format("format").Message(), Catch::StartsWith("--format=none: no such"));
}
