// The build of -txindex and -txospenderindex from all blocks at once, beside their followers, which
// take the blocks one by one: the records are equal, even after failures and interruptions.
#include "fake_chain.h"
#include "index/best_block.h"
#include "index/indexes.h"
#include "sim/fault_env.h"
#include "support/fault_sample.h"
#include "support/kept_log.h"
#include "util/found.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr size_t kCache = 1 << 20;

/** Before BIP34, so that a coinbase may repeat. */
ChainParams OldParams()
{
    ChainParams params = MakeChainParams(Network::kRegtest);
    params.consensus.bip34_height = 10'000;
    return params;
}

/** A chain with a repeated coinbase, stored out of order, and a branch on its end. */
class Machine {
public:
    explicit Machine(int length = 150)
        : params(OldParams()), chain(params, folder / "blocks")
    {
        sim::ChainOptions options;
        options.blocks = length;
        options.outputs_per_block = 40;
        options.repeated_coinbase = sim::RepeatedCoinbase{.first = 5, .repeat = 120};
        sim::Chain made(params, options);
        for (int i = 0; i < length; ++i) {
            const sim::SimBlock block = made.Next();
            tip = chain.Add(block.bytes);
            if (i + 4 == length) fork = tip;
            BlockView view;
            Must(view.Parse(block.bytes));
            txs += view.Txs().size();
        }
        chain.CountTxs(*tip, txs);
        chain.SetDurableTip(tip);
    }

    Path Folder(const char* name = "indexes") const { return folder / name; }

    const TempDir folder{MemoryFolder()};
    const ChainParams params;
    FakeChain chain;
    const HeaderNode *tip = nullptr, *fork = nullptr;
    uint64_t txs = 0;
};

/** Both indexes and their threads. */
class Running {
public:
    Running(const Machine& machine, Env& env, IndexBuildOptions build, const Path& folder,
            Logger& log = TestLog())
        : m_indexes({.env = env,
                     .log = log,
                     .consensus = machine.params.consensus,
                     .folder = folder,
                     .options = {.tx = true,
                                 .tx_cache = kCache,
                                 .spenders = true,
                                 .spender_cache = kCache},
                     .failed = [this](const Error& error) { Fail(error); },
                     .build = build})
    {
    }

    /** To the tip, then to the end. The error ends the node. */
    Result<> Run(const Machine& machine)
    {
        IBD_RETURN_IF_ERROR(m_indexes.Open(machine.chain));
        m_indexes.Start();
        const auto synced = [&] {
            return std::ranges::all_of(m_indexes.Summaries(), &IndexSummary::synced);
        };
        while (!synced() && !Failure()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        m_indexes.Stop();
        if (const auto failure = Failure()) return *failure;
        return {};
    }
    Indexes& Get() { return m_indexes; }

private:
    void Fail(const Error& error)
    {
        const Lock lock(m_mutex);
        m_failure = error;
    }
    std::optional<Error> Failure()
    {
        const Lock lock(m_mutex);
        return m_failure;
    }

    Mutex m_mutex;
    std::optional<Error> m_failure IBD_GUARDED_BY(m_mutex);
    Indexes m_indexes; //!< last, as its threads use the others
};

/** To the tip, then to the end. */
Result<> RunOnce(const Machine& machine, Env& env, IndexBuildOptions build, const Path& folder,
                 Logger& log = TestLog())
{
    Running running(machine, env, build, folder, log);
    return running.Run(machine);
}

struct Records {
    std::map<Bytes, Bytes> tx, spenders;
    bool operator==(const Records&) const = default;
};

Path SpendersDb(const Path& folder) { return folder / "txospenderindex" / "db"; }

Records RecordsIn(const Path& folder)
{
    return {RecordsOf(*Must(OpenKv(folder / "txindex"))),
            RecordsOf(*Must(OpenKv(SpendersDb(folder))))};
}

constexpr IndexBuildOptions kNever{.least_blocks = INT32_MAX};

/** The records of indexes that took the blocks one by one, with the same key of hashes. */
Records Serial(const Machine& machine, const Records& like)
{
    static int number = 0;
    const Path folder = machine.folder / ("serial" + std::to_string(number++));
    const Bytes name = {'s', 'i', 'p', 'h', 'a', 's', 'h', '_', 'k', 'e', 'y', 0};
    {
        const auto db = Must(OpenKv(SpendersDb(folder)));
        KvBatch batch(*db);
        batch.Put(name, like.spenders.at(name));
        Must(db->Write(batch, true));
    }
    Must(RunOnce(machine, TestEnv(), kNever, folder));
    return RecordsIn(folder);
}

void CheckNothingLeft(const Path& folder)
{
    CHECK_FALSE(std::filesystem::exists(folder / "txindex.ibdbooster"));
    CHECK_FALSE(std::filesystem::exists(folder / "txospenderindex" / "db.ibdbooster"));
}

} // namespace

TEST_CASE("indexes built at once equal those built block by block", "[indexbuild]")
{
    Machine machine;
    // Few parts and much memory; many parts; parts that are read many times.
    const auto [threads, memory, counted] = GENERATE(table<unsigned, size_t, uint64_t>(
        {{1, 64 << 20, 0}, {3, 64 << 20, 1 << 20}, {2, 8 << 10, 0}, {2, 3 << 10, 3 << 10}}));
    if (counted > 0) machine.chain.CountTxs(*machine.tip, counted);
    Must(RunOnce(machine, TestEnv(), {.threads = threads, .memory_bytes = memory},
                 machine.Folder()));
    const Records built = RecordsIn(machine.Folder());
    CHECK(built.tx.size() == machine.txs - 1 + 1); // a coinbase is repeated; the best block
    CHECK(built.spenders.size() > machine.txs / 2);
    CHECK(built == Serial(machine, built));
    CheckNothingLeft(machine.Folder());
}

TEST_CASE("an index that was built goes on, and starts again", "[indexbuild]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    for (const HeaderNode* tip : {machine.fork, machine.tip}) {
        machine.chain.SetDurableTip(tip);
        Must(RunOnce(machine, TestEnv(), {}, machine.Folder()));
        const Records records = RecordsIn(machine.Folder());
        CHECK(records == Serial(machine, records));
    }
}

TEST_CASE("the block up to which an index was built may be disconnected", "[indexbuild]")
{
    Machine machine;
    SpenderIndex index(TestEnv(), Must(OpenKv(machine.Folder())));
    IndexFollower follower(index, machine.chain, TestEnv(), TestLog(), {});
    Must(follower.Open());
    index.CloseDb();
    Must(DestroyDb(TestEnv(), index.Directory()));
    CHECK_FALSE(Must(index.Find(machine.chain.Blocks(), OutPoint(), nullptr)));
    IndexBuild build(TestEnv(), TestLog(), machine.chain, *machine.tip, {&index}, {});
    REQUIRE(Must(build.Run()));
    CHECK(build.Done() == 1);
    machine.chain.SetDurableTip(machine.fork);
    index.SetDb(Must(OpenKv(index.Directory())));
    Must(follower.GoOnFrom(build.End()));
    CHECK_FALSE(Must(ReadBestBlock(index.Db()))); // the coins on disk are below it
    const HeaderNode* const other = machine.chain.Add([&] {
        sim::ChainOptions options;
        options.blocks = 200;
        options.repeated_coinbase = sim::RepeatedCoinbase{.first = 5, .repeat = 120};
        options.outputs_per_block = 40;
        sim::Chain made(machine.params, options);
        while (made.Height() < machine.fork->height) made.Next();
        return made.NextEmpty().bytes;
    }());
    machine.chain.SetDurableTip(other);
    Must(follower.CatchUp());
    Records records;
    records.spenders = RecordsOf(index.Db());
    CHECK(records.spenders == Serial(machine, records).spenders);
}

TEST_CASE("what a build lacks or meets leaves the blocks to the followers", "[indexbuild]")
{
    Machine machine;
    FaultEnv env;
    const char* said = "";
    SECTION("room for sorting")
    {
        machine.chain.CountTxs(*machine.tip, 1'000'000'000);
        env.SetSpace(uint64_t{150} << 30);
        said = "has 161061 MB left, and sorting the records takes 200052 MB";
    }
    SECTION("a folder that can be replaced")
    {
        const Path folder = machine.Folder() / "txindex";
        std::filesystem::create_directories(folder / "mine"); // so that the folder stays
        env.SetMount(folder);
        said = "is a mount point";
    }
    SECTION("a page that is damaged")
    {
        env.CorruptReads([](const Path& path) {
            return path.filename().string().starts_with("spill");
        });
        said = "spill000000.dat";
    }
    KeptLog log;
    Must(RunOnce(machine, env, {.threads = 2}, machine.Folder(), log));
    CHECK(log.Text().find(said) != std::string::npos);
    CHECK(log.Text().find("The blocks are taken one by one instead") != std::string::npos);
    const Records records = RecordsIn(machine.Folder());
    CHECK(records == Serial(machine, records));
    CheckNothingLeft(machine.Folder());
}

TEST_CASE("a block that reads back wrong once does not matter", "[indexbuild]")
{
    Machine machine;
    FaultEnv env; // the block store, which reads a second time, has another one
    env.CorruptReads([](const Path& path) { return path.filename() == "blk00000.dat"; });
    Must(RunOnce(machine, env, {.threads = 2}, machine.Folder()));
    const Records records = RecordsIn(machine.Folder());
    CHECK(records == Serial(machine, records));
}

TEST_CASE("a build that is stopped begins anew", "[indexbuild]")
{
    Machine machine;
    FaultEnv env;
    std::atomic<bool> stopped = false;
    std::optional<Running> running;
    running.emplace(machine, env, IndexBuildOptions{.threads = 1}, machine.Folder());
    Indexes& indexes = running->Get();
    Must(indexes.Open(machine.chain));
    IndexSummary during;
    env.SetScript([&](const FaultEnv::Operation& operation) {
        if (operation.path.filename() != "spill000000.dat" || stopped.exchange(true)) return false;
        during = indexes.Summaries().at(0);
        CHECK_FALSE(indexes.Tx()->ShareDb());
        return false;
    });
    indexes.Start();
    while (!stopped) std::this_thread::yield();
    indexes.Stop();
    CHECK(during.built.value_or(-1) >= 0);
    CHECK_FALSE(during.synced);
    running.reset();
    CheckNothingLeft(machine.Folder());
    Must(RunOnce(machine, TestEnv(), {}, machine.Folder()));
    const Records records = RecordsIn(machine.Folder());
    CHECK(records == Serial(machine, records));
}

TEST_CASE("any operation of a build's disk fails, or is the last before a kill", "[indexbuild]")
{
    Machine machine(130);
    uint64_t operations = 0;
    {
        FaultEnv counting;
        Must(RunOnce(machine, counting, {.threads = 1}, machine.Folder()));
        operations = counting.Operations();
        std::filesystem::remove_all(machine.Folder());
    }
    const FaultSample sample = SampleOfFaults(operations, 40);
    for (const bool kill : {false, true}) {
        int ended = 0, went_on = 0;
        for (uint64_t at = sample.first; at < operations; at += sample.step) {
            CAPTURE(kill, at);
            FaultEnv env;
            if (kill) env.CrashAt(at);
            env.SetScript([&](const auto& operation) { return operation.number == at; });
            const Result<> first = RunOnce(machine, env, {.threads = 1}, machine.Folder());
            ++(first ? went_on : ended);
            CHECK((first || SystemFailed(first)));
            if (kill) env.LoseUnsynced();
            Must(RunOnce(machine, TestEnv(), {.threads = 1}, machine.Folder()));
            const Records records = RecordsIn(machine.Folder());
            REQUIRE(records == Serial(machine, records));
            CheckNothingLeft(machine.Folder());
            std::filesystem::remove_all(machine.Folder());
        }
        // Where a database cannot be opened, the node ends; else the followers do the work.
        CHECK((went_on > ended) == !kill);
    }
}
