// Loading a snapshot, and proving the history below it, on a machine that fails: each operation of
// the disk fails once, and each is the last before a power cut. Afterwards the node has the older
// coins or those of the snapshot, and comes to the same coins as serial validation.
#include "booster/booster_machine.h"
#include "booster/coins_walk.h"
#include "booster/snapshot_session.h"
#include "storage/chainstate_builder.h"
#include "storage/snapshot.h"
#include "storage/store_mark.h"
#include "storage/store_places.h"
#include "support/fault_sample.h"
#include "support/kept_log.h"
#include "validation/snapshot_folder.h"

#include <thread>

namespace ibd::test {

namespace {

constexpr int kBase = 60;
constexpr int kTop = 70;
constexpr int kOlder = 20; //!< where the older coins are

/** A chain, a snapshot of a block in it, and the coins at its end. */
struct Chain {
    Chain()
    {
        sim::ChainOptions options;
        options.seed = 38;
        options.blocks = kTop;
        options.outputs_per_block = 8;
        sim::Chain chain(params, options);
        blocks.push_back(chain.Genesis().bytes);
        while (chain.Height() < kTop) blocks.push_back(chain.Next().bytes);
        Engine serial(params, dir / "serial");
        serial.Start();
        for (const Bytes& raw : blocks) serial.Process(raw);
        coins = serial.Dump();
        WriteSnapshot(serial);
    }
    std::unique_ptr<CoinsWalk> WalkAt(Engine& serial, const HeaderNode& base)
    {
        auto walk = Must(CoinsWalk::Start(*serial.chain, &base));
        const std::atomic<bool> stop = false;
        REQUIRE(
            Must(walk->TakeBack(serial.GetEnv(), dir / "spent", 1 << 16, stop, serial.GetLog())));
        return walk;
    }
    void WriteSnapshot(Engine& serial)
    {
        const HeaderNode& base = *serial.chain->Tip()->Ancestor(kBase);
        const auto walk = WalkAt(serial, base);
        const auto writer =
            Must(SnapshotWriter::Create(serial.GetEnv(), file, params.magic, base.hash));
        OutPoint outpoint;
        Coin coin;
        while (Must(walk->Next(outpoint, coin))) {
            Must(writer->Add(outpoint, coin));
            all.emplace_back(outpoint, coin);
        }
        header = Must(writer->Finish());
        const std::atomic<bool> stop = false;
        const Uint256 hash =
            Must(ComputeCoinsStats(*WalkAt(serial, base), CoinsHashKind::kSerialized3, stop)).hash;
        params.assumeutxo.push_back({kBase, hash, base.chain_tx_count, base.hash});
    }
    BlockHeader Header(size_t height) const
    {
        return BlockHeader::FromBytes(blocks[height].data());
    }

    ChainParams params = MakeChainParams(Network::kRegtest);
    TempDir dir{MemoryFolder()};
    const Path file = dir / "utxo.dat";
    std::vector<Bytes> blocks; //!< by height
    SnapshotHeader header;
    std::vector<std::pair<OutPoint, Coin>> all; //!< of the snapshot
    CoinsDump coins;
};

const Chain& TheChain()
{
    static const Chain chain;
    return chain;
}

/** A network without peers. */
class NoPeers final : public BlockFetcher {
public:
    void Fetch(DownloadGoal&, BlockSink&) override {}
    void StopFetching() override {}
    void Wake() override {}
    size_t PeerCount() const override { return 0; }
    HeaderAnswers AskForLastHeaders() override { return {}; }
};

/** Where the coins are if this exists: a directory of their own (-chainstatedir). */
Path Apart(const Path& base) { return base / "fast"; }

/** A node's start on a directory, as far as coins go. */
class Start {
public:
    Start(const Path& base, FaultEnv& env) : m_env(env), m_base(base)
    {
        std::filesystem::create_directories(base);
    }
    ~Start() { Close(); }

    /** `proves`: StartProof() works. */
    Result<> Open(bool proves = false)
    {
        ChainStackOptions options;
        options.manager.hash_key = {1, 2};
        options.index.before_io = Check();
        options.coins.before_io = Check();
        options.checker = &m_scripts;
        const bool apart = std::filesystem::exists(Apart(m_base));
        IBD_ASSIGN_OR_RETURN(m_dir,
                             DataDir::Open(m_env, {.base = m_base,
                                                   .blocks_base = {},
                                                   .folder = "regtest",
                                                   .chainstate_base = apart ? Apart(m_base)
                                                                            : Path()}));
        m_stack = std::make_unique<ChainStack>(m_env, m_log, TheChain().params, *m_dir, options,
                                               m_interrupt);
        SnapshotHooks hooks;
        hooks.coins.before_io = Check();
        hooks.pool_is_empty = [] { return true; };
        hooks.switched = [this] { ++switched; };
        hooks.fatal = [this](const Error&) { ++fatal; };
        hooks.booster.threads = 4;
        hooks.booster.memory_bytes = 1 << 16;
        hooks.booster.checkpoint_bytes = 6'000;
        hooks.booster.directory = m_base / "regtest/ibdbooster";
        if (proves) hooks.proof = [this] { return ProofHooks(); };
        session.emplace(m_env, m_log, TheChain().params, *m_dir, m_interrupt, hooks);
        IBD_RETURN_IF_ERROR(PrepareStores(m_env, m_log, *m_dir, {}));
        IBD_RETURN_IF_ERROR(session->Prepare());
        IBD_RETURN_IF_ERROR(m_stack->OpenIndex());
        IBD_RETURN_IF_ERROR(m_stack->OpenBlocks());
        IBD_RETURN_IF_ERROR(Chain().LoadIndex());
        IBD_RETURN_IF_ERROR(Chain().StoreGenesis());
        IBD_RETURN_IF_ERROR(session->Judge(Chain()));
        const auto start = session->Start();
        IBD_ASSIGN_OR_RETURN(auto coins, start ? session->OpenCoins() : m_stack->OpenCoins(false));
        IBD_RETURN_IF_ERROR(Chain().AttachCoins(std::move(coins), start ? &*start : nullptr));
        return Chain().ActivateBestChain();
    }
    /** Blocks up to `to`, and all headers. */
    void Feed(int to)
    {
        for (size_t h = 1; h < TheChain().blocks.size(); ++h) {
            REQUIRE_FALSE(Chain().AcceptHeader(TheChain().Header(h)));
        }
        for (int h = Chain().Tip()->height + 1; h <= to; ++h) {
            REQUIRE_FALSE(Must(Chain().ProcessBlock(TheChain().blocks[size_t(h)])).violation);
        }
        REQUIRE(Chain().Tip()->height == to);
        Must(Chain().Flush(FlushMode::kAlways));
    }
    Result<const HeaderNode*> Load(const Path& file = TheChain().file)
    {
        return session->Load(Chain(), file, TheChain().header,
                             [](const std::function<Result<>()>& task) { return task(); });
    }
    /** Stores the blocks below the snapshot, without connecting any. */
    Result<> StoreHistory()
    {
        for (int h = kOlder + 1; h <= kBase; ++h) {
            const auto stored = Chain().AcceptBlock(TheChain().blocks[size_t(h)]);
            if (!stored) return stored.GetError();
        }
        return Chain().Flush(FlushMode::kAlways);
    }
    /** Waits for the end of a proof whose blocks are all stored. */
    void Prove()
    {
        session->StartProof(Chain());
        const auto runs = [&] {
            const auto now = session->Proof();
            return now && std::string_view(now->phase) != "failed";
        };
        while (runs()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CoinsDump Dump()
    {
        Must(Chain().Flush(FlushMode::kAlways));
        return DumpCoins(Chain());
    }
    void Close()
    {
        if (session) session->StopProof();
        m_stack.reset();
        if (session) session->Settle();
        session.reset();
        m_dir.reset();
    }
    ChainManager& Chain() { return m_stack->Chain(); }
    bool LeavesWork() const
    {
        return std::filesystem::exists(m_base / "regtest/chainstate_snapshot.ibdbooster");
    }

    std::optional<SnapshotSession> session;
    std::chrono::milliseconds pause = std::chrono::hours(1); //!< until a failed proof continues
    int32_t patience_blocks = 1'008;
    int switched = 0;
    int fatal = 0;
    std::atomic<int> proven = 0;
    std::string refuted;

private:
    SnapshotProofHooks ProofHooks()
    {
        return {.run = [](const std::function<Result<>()>& task) { return task(); },
                .peers = &m_peers,
                .proven = [this] { ++proven; },
                .refuted = [this](const Error& error) { refuted = error.message; },
                .pause = pause,
                .patience_blocks = patience_blocks};
    }
    KvIoCheck Check()
    {
        return [this](const char* kind, const Path& path) { return m_env.Step(kind, path); };
    }

    FaultEnv& m_env;
    const Path m_base;
    const std::atomic<bool> m_interrupt{false};
    AcceptAllScripts m_scripts;
    KeptLog m_log;
    NoPeers m_peers;
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;
};

/** A start on a sound machine reaches the right coins from any state. */
void RequireRight(const Path& base, std::optional<bool> from_snapshot = {})
{
    FaultEnv env;
    Start start(base, env);
    Must(start.Open());
    const bool begun = start.Chain().SnapshotBase() != nullptr;
    if (from_snapshot) REQUIRE(begun == *from_snapshot);
    REQUIRE(start.Chain().Tip()->height == (begun ? kBase : kOlder));
    REQUIRE_FALSE(start.LeavesWork());
    start.Feed(kTop);
    REQUIRE((start.Dump() == TheChain().coins));
}

/** A directory whose coins are at kOlder. */
void Prepare(const Path& base)
{
    FaultEnv env;
    Start start(base, env);
    Must(start.Open());
    start.Feed(kOlder);
}

/** Number of operations until the coins are published, and before the call. */
std::pair<uint64_t, uint64_t> CountOperations()
{
    const TempDir dir(MemoryFolder());
    Prepare(dir / "node");
    FaultEnv env;
    Start start(dir / "node", env);
    Must(start.Open());
    const uint64_t before = env.Operations();
    Must(start.Load());
    const uint64_t after = env.Operations();
    REQUIRE(start.switched == 1);
    REQUIRE(start.Chain().Tip()->height == kBase);
    start.Close();
    RequireRight(dir / "node", true);
    return {before, after};
}

} // namespace

TEST_CASE("loading a snapshot survives the failure of any operation")
{
    const auto [before, after] = CountOperations();
    REQUIRE(after - before > 20);
    for (uint64_t at = before + 1; at <= after; ++at) {
        const TempDir dir(MemoryFolder());
        Prepare(dir / "node");
        FaultEnv env;
        {
            Start start(dir / "node", env);
            Must(start.Open());
            bool failed = false;
            env.SetScript([&](const FaultEnv::Operation& operation) {
                const bool now = operation.number == at && !failed;
                if (now) INFO("failed: " << operation.kind << " " << operation.path);
                failed = failed || now;
                return now;
            });
            const auto loaded = start.Load();
            env.SetScript({});
            INFO("operation " << at << ": " << (loaded ? "loaded" : loaded.Message()));
            if (!loaded && start.fatal == 0) {
                REQUIRE(start.Chain().Tip()->height == kOlder); // it continues as before
                REQUIRE(start.Chain().SnapshotBase() == nullptr);
                start.Feed(kOlder + 1);
                Must(start.Load()); // the next try succeeds
                REQUIRE(start.Chain().Tip()->height == kBase);
            }
        }
        FaultEnv sound;
        Start again(dir / "node", sound);
        Must(again.Open());
        again.Feed(kTop);
        REQUIRE((again.Dump() == TheChain().coins));
    }
}

TEST_CASE("loading a snapshot survives a power cut at any operation")
{
    const auto [before, after] = CountOperations();
    int taken = 0;
    for (uint64_t at = before + 1; at <= after; ++at) {
        const TempDir dir(MemoryFolder());
        Prepare(dir / "node");
        FaultEnv env;
        {
            Start start(dir / "node", env);
            Must(start.Open());
            env.CrashAt(at);
            (void)start.Load();
        }
        env.LoseUnsynced();
        {
            FaultEnv sound;
            Start start(dir / "node", sound);
            Must(start.Open());
            taken += start.Chain().SnapshotBase() != nullptr;
        }
        INFO("operation " << at);
        RequireRight(dir / "node");
    }
    CHECK(taken > 0);
    CHECK(taken < static_cast<int>(after - before));
}

TEST_CASE("coins of a snapshot in any order are taken")
{
    const TempDir dir(MemoryFolder());
    Prepare(dir / "node");
    FaultEnv env;
    {
        Start start(dir / "node", env);
        Must(start.Open());
        const auto writer = Must(SnapshotWriter::Create(
            env, dir / "turned.dat", TheChain().params.magic, TheChain().header.base));
        const auto& coins = TheChain().all;
        for (size_t i = coins.size(); i-- > 0;) {
            Must(writer->Add(coins[i].first, coins[i].second));
        }
        Must(writer->Finish());
        Must(start.Load(dir / "turned.dat"));
        REQUIRE(start.Chain().Tip()->height == kBase);
        REQUIRE_FALSE(start.LeavesWork());
    }
    RequireRight(dir / "node", true);
}

TEST_CASE("a disk without room is named before coins are written")
{
    const TempDir dir(MemoryFolder());
    Prepare(dir / "node");
    FaultEnv env;
    {
        Start start(dir / "node", env);
        Must(start.Open());
        env.SetSpace(60 << 10);
        const auto loaded = start.Load();
        REQUIRE_FALSE(loaded);
        CHECK(loaded.Message().find("disk space is too low") != std::string::npos);
        CHECK_FALSE(start.LeavesWork());
    }
    RequireRight(dir / "node", false);
}

namespace {

/** A directory with a snapshot in use, blocks above it, and all blocks below. */
void PrepareProof(const Path& base)
{
    Prepare(base);
    FaultEnv env;
    Start start(base, env);
    Must(start.Open());
    Must(start.Load());
    start.Feed(kTop - 3);
    Must(start.StoreHistory());
}

/** A start on a sound machine proves the history; the next finds an ordinary chainstate. */
void RequireProves(const Path& base)
{
    FaultEnv env;
    {
        Start start(base, env);
        Must(start.Open(true));
        if (start.Chain().SnapshotBase()) {
            start.Prove();
            REQUIRE(start.proven == 1);
        }
        REQUIRE(start.Chain().SnapshotBase() == nullptr);
        start.Feed(kTop);
        REQUIRE((start.Dump() == TheChain().coins));
    }
    Start start(base, env);
    Must(start.Open(true));
    REQUIRE_FALSE(start.session->InUse());
    REQUIRE_FALSE(std::filesystem::exists(base / "regtest/chainstate_snapshot"));
    REQUIRE_FALSE(std::filesystem::exists(Apart(base) / "regtest/chainstate_snapshot"));
    REQUIRE(std::filesystem::exists(base / "regtest/chainstate") !=
            std::filesystem::exists(Apart(base) / "regtest/chainstate"));
    REQUIRE_FALSE(std::filesystem::exists(base / "regtest/ibdbooster/snapshot"));
    REQUIRE((start.Dump() == TheChain().coins));
}

/** Number of operations of a start before the proof, and up to the end of the stop after it. */
std::pair<uint64_t, uint64_t> CountProof(const Path& base)
{
    FaultEnv env;
    uint64_t before = 0;
    {
        Start start(base, env);
        Must(start.Open(true));
        before = env.Operations();
        start.Prove();
        REQUIRE(start.proven == 1);
    }
    return {before, env.Operations()};
}

} // namespace

TEST_CASE("a chainstate that cannot be replaced is named before coins are written")
{
    const TempDir dir{MemoryFolder()};
    FaultEnv env;
    const auto data = Must(DataDir::Open(env, {dir.Get(), {}, "regtest"}));
    const Path chainstate = data->Chainstate();
    std::filesystem::create_directories(chainstate);
    Must(CheckSnapshotCanTakeOver(env, *data));
    SECTION("a mount of the same disk")
    {
        env.SetMount(chainstate);
        CHECK_THAT(CheckSnapshotCanTakeOver(env, *data).Message(),
                   Catch::Contains("on different disks or mounts"));
        CHECK_THAT(CheckReplaceable(env, chainstate).Message(),
                   Catch::Contains("'" + chainstate.string() + "' is a mount point"));
    }
    SECTION("a mount of the same disk above both")
    {
        env.SetMount(chainstate.parent_path());
        Must(CheckSnapshotCanTakeOver(env, *data));
        Must(CheckReplaceable(env, chainstate));
    }
    SECTION("a work folder on another disk")
    {
        const WorkFolder work(chainstate);
        Must(work.Make(env));
        Must(CheckReplaceable(env, chainstate));
        env.SetMount(work.Get());
        CHECK_THAT(CheckReplaceable(env, chainstate).Message(),
                   Catch::Contains("'" + work.Get().string() + "' is a mount point"));
    }
    SECTION("a foreign folder")
    {
        std::filesystem::create_directories(WorkFolder(chainstate).Get() / "mine");
        for (const auto& refused :
             {CheckSnapshotCanTakeOver(env, *data), CheckReplaceable(env, chainstate)}) {
            CHECK_THAT(refused.Message(), Catch::Contains("move it away"));
        }
    }
}

TEST_CASE("the proof of a snapshot survives a failure or a power cut at any operation")
{
    const TempDir dir(MemoryFolder());
    // The mark of a chainstate that is elsewhere passes on to the snapshot's coins.
    const bool apart = GENERATE(false, true);
    if (apart) std::filesystem::create_directories(Apart(dir / "ready"));
    PrepareProof(dir / "ready");
    const auto copy = [&] {
        std::filesystem::remove_all(dir / "node");
        std::filesystem::copy(dir / "ready", dir / "node",
                              std::filesystem::copy_options::recursive);
        if (!apart) return;
        // The note of the place is of the directory that was copied.
        const Path note = dir / "node/regtest/chainstatedir.txt";
        const auto machine = MakePosixEnv();
        auto mark = Must(ReadStoreMark(*machine, note)).value();
        mark.directory = Apart(dir / "node");
        Must(WriteStoreMark(*machine, note, mark));
    };
    copy();
    const auto [before, after] = CountProof(dir / "node");
    REQUIRE(after - before > 30);
    RequireProves(dir / "node");
    for (const bool cut : {false, true}) {
        const FaultSample sample = SampleOfFaults(after - before, 80);
        for (uint64_t at = before + 1 + sample.first; at <= after; at += sample.step) {
            INFO((cut ? "power cut at " : "failure of ") << at);
            copy();
            FaultEnv env;
            {
                Start start(dir / "node", env);
                Must(start.Open(true));
                if (cut) {
                    env.CrashAt(at);
                } else {
                    env.SetScript(
                        [at](const FaultEnv::Operation& now) { return now.number == at; });
                }
                start.Prove();
                REQUIRE(start.refuted.empty());
            }
            if (cut) env.LoseUnsynced();
            RequireProves(dir / "node");
        }
    }
}

TEST_CASE("pruning leaves the blocks above a snapshot until its coins are sorted")
{
    const TempDir dir(MemoryFolder());
    PrepareProof(dir / "node");
    FaultEnv env;
    {
        Start start(dir / "node", env);
        Must(start.Open());
        CHECK(start.session->InUse());
        CHECK(start.session->Current().empty()); // nothing proves it
    }
    {
        Start start(dir / "node", env);
        start.patience_blocks = 0;
        Must(start.Open(true));
        CHECK(start.session->Current().size() == 1);
        env.SetScript([](const FaultEnv::Operation&) { return true; });
        start.Prove();
        CHECK(start.session->Current().empty()); // the disk must not fill for ever
        env.SetScript([](const FaultEnv::Operation&) { return false; });
    }
    for (const bool fails : {true, false}) {
        Start start(dir / "node", env);
        Must(start.Open(true));
        const std::vector<PruneLock> locks = start.session->Current();
        REQUIRE(locks.size() == 1);
        CHECK(locks[0].height == kBase);
        CHECK(start.session->Save().size() == 1);
        env.SetScript([fails](const FaultEnv::Operation&) { return fails; });
        start.Prove();
        CHECK(start.proven == (fails ? 0 : 1));
        CHECK(start.session->Current().empty() == !fails); // after a failure it tries again
        env.SetScript([](const FaultEnv::Operation&) { return false; });
    }
}

TEST_CASE("a proof that the system stopped goes on in the same process")
{
    const TempDir dir(MemoryFolder());
    PrepareProof(dir / "node");
    FaultEnv env;
    Start start(dir / "node", env);
    start.pause = std::chrono::milliseconds(1);
    Must(start.Open(true));
    const uint64_t before = env.Operations();
    std::atomic<int> failures = 0;
    env.SetScript([&](const FaultEnv::Operation& now) {
        const bool fails = (now.number - before) % 40 == 39 && failures < 5;
        failures += fails ? 1 : 0;
        return fails;
    });
    start.session->StartProof(start.Chain());
    while (start.session->Proof()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(start.proven == 1);
    CHECK(failures > 0);
}

TEST_CASE("a rebuild removes a snapshot that a killed node had marked")
{
    const TempDir dir(MemoryFolder());
    const Path base = dir / "node";
    std::filesystem::create_directories(Apart(base));
    PrepareProof(base);
    const Path folder = Apart(base) / "regtest/chainstate_snapshot";
    const auto machine = MakePosixEnv();
    Must(CarryStoreMark(*machine, Apart(base) / "regtest/chainstate", folder));
    std::filesystem::copy(folder / kStoreMarkName, folder / "store-mark.txt.new");
    const auto opened = Must(DataDir::Open(*machine, {.base = base,
                                                      .blocks_base = {},
                                                      .folder = "regtest",
                                                      .chainstate_base = Apart(base)}));
    KeptLog log;
    Must(RemoveSnapshot(*machine, log, *opened));
    CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("a snapshot that the blocks refute is put aside")
{
    const TempDir dir(MemoryFolder());
    PrepareProof(dir / "node");
    const Path refuted = dir / "node/regtest/ibdbooster/snapshot";
    FaultEnv env;
    {
        // Simulates an earlier start's verdict, as if the hash of other coins were the known one.
        std::filesystem::create_directories(refuted);
        Bytes record(TheChain().params.assumeutxo.back().hash_serialized.Span().begin(),
                     TheChain().params.assumeutxo.back().hash_serialized.Span().end());
        Must(WriteFileAtomically(env, refuted / "refuted", record));
    }
    Start start(dir / "node", env);
    Must(start.Open(true));
    REQUIRE(start.Chain().SnapshotBase() == nullptr);
    REQUIRE_FALSE(std::filesystem::exists(refuted));
    REQUIRE(std::filesystem::exists(dir / "node/regtest/chainstate_snapshot_INVALID"));
    start.Feed(kTop); // from the older coins
    REQUIRE((start.Dump() == TheChain().coins));
}

} // namespace ibd::test
