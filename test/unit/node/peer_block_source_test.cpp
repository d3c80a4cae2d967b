// The booster fed by peers, as a script plays them: any mixture of stored and missing blocks, any
// order, bytes that are wrong before they are right, a machine that dies at any operation. The
// coins are those of serial validation, and what a checkpoint calls folded is stored.
#include "node/peer_block_source.h"

#include "sim/block_draft.h"
#include "sim/chain.h"
#include "sim/fault_env.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/engine.h"
#include "validation/fixture.h"
#include "write_hints.h"

#include <condition_variable>
#include <thread>

#include "support/catch.h"

namespace ibd::test {

namespace {

constexpr int kBlocks = 120;

/** A chain up to the end of its hints, and the coins that serial validation leaves there. */
struct World {
    explicit World(uint64_t seed)
    {
        sim::ChainOptions options;
        options.seed = seed;
        options.blocks = kBlocks;
        options.outputs_per_block = 15;
        sim::Chain chain(params, options);
        blocks.push_back(chain.Genesis().bytes);
        while (chain.Height() < kBlocks) blocks.push_back(chain.Next().bytes);
        for (int h = 0; h <= kBlocks; ++h) {
            unspent.push_back(chain.GetTruth().UnspentOfBlock(h, true));
        }
        WriteHints(dir / "hints", params, unspent, chain.TipHash());
        Engine serial(params, dir / "serial");
        serial.Start();
        for (const Bytes& raw : blocks) serial.Process(raw);
        REQUIRE(serial.chain->Tip()->height == kBlocks);
        coins = serial.Dump();
    }
    BlockHeader Header(size_t height) const
    {
        return BlockHeader::FromBytes(blocks[height].data());
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    TempDir dir{MemoryFolder()};
    std::vector<Bytes> blocks; //!< by height
    std::vector<std::vector<uint8_t>> unspent;
    CoinsDump coins;
};

/** Plays the downloader and its peers on a thread of its own: asks for anything that is missing,
 *  gets it wrong now and then, sends what nobody asked for. */
class Peers {
public:
    Peers(const World& world, uint64_t seed) : m_world(world), m_rng(seed) {}
    ~Peers() { Stop(); }

    /** To be given to the supply. */
    std::function<void()> OnChange()
    {
        return [this] {
            const std::lock_guard lock(m_mutex);
            m_changed = true;
            m_wake.notify_all();
        };
    }
    void Start(PeerBlockSupply& supply)
    {
        m_thread = std::thread([this, &supply] { Work(supply); });
    }
    void Stop()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stop = true;
            m_wake.notify_all();
        }
        if (m_thread.joinable()) m_thread.join();
    }

    // After Stop().

    size_t lies = 0;     //!< wrong bytes sent
    size_t refused = 0;  //!< that the supply told of
    size_t mistakes = 0; //!< refused although right, or by the wrong name

private:
    void Work(PeerBlockSupply& supply)
    {
        while (!Stopped()) {
            for (const RefusedBlock& block : supply.TakeRefused()) {
                ++refused;
                const bool lied = block.peer % 2 == 1;
                if (!lied || block.why.kind != RuleViolation::Kind::kMutated) ++mistakes;
            }
            if (m_rng.Chance(1, 20)) SendUnasked(supply);
            const auto after = static_cast<int32_t>(m_rng.Below(kBlocks));
            const HeaderNode* node = supply.NextMissing(after);
            if (!node) node = supply.NextMissing(0);
            if (node) {
                Send(supply, *node);
            } else {
                Wait();
            }
        }
    }
    void Send(PeerBlockSupply& supply, const HeaderNode& node)
    {
        PeerBlock block{&node, static_cast<PeerId>(m_rng.Below(100)) * 2, {}};
        block.raw = m_world.blocks[static_cast<size_t>(node.height)];
        if (m_rng.Chance(1, 4)) {
            Spoil(block.raw, static_cast<size_t>(node.height));
            ++block.peer; // an odd one lies
        }
        const bool lie = block.peer % 2 == 1;
        while (!supply.HasRoom(block.raw.size())) {
            if (!Wait()) return;
        }
        if (!supply.Put(std::move(block))) ++mistakes; // there was room
        if (lie) ++lies;
    }
    /** Bytes with which the block cannot be told to be bad. */
    void Spoil(Bytes& raw, size_t height)
    {
        sim::BlockDraft draft = sim::BlockDraft::Of(raw);
        switch (m_rng.Below(6)) {
        case 0: raw.resize(m_rng.Below(raw.size())); return;
        case 1: raw = m_rng.RandomBytes(m_rng.Below(1000)); return;
        case 2: raw = m_world.blocks[AnotherThan(height)]; return;
        case 3: draft.Coinbase().inputs[0].witness.clear(); break;
        case 4: draft.Coinbase().inputs[0].witness = {Bytes(32, 7)}; break;
        default: draft.txs.push_back(draft.txs.back()); break;
        }
        raw = draft.ToBytes();
    }
    void SendUnasked(PeerBlockSupply& supply)
    {
        const size_t height = m_rng.Below(kBlocks + 1);
        for (const HeaderNode* node = supply.NextMissing(0); node; node = nullptr) {
            const HeaderNode* other = node->Ancestor(static_cast<int>(height));
            if (!other || !supply.Have(*other)) continue;
            if (!supply.Put({other, 0, m_rng.RandomBytes(50)})) ++mistakes; // it is dropped
        }
    }
    size_t AnotherThan(size_t height)
    {
        return (height + 1 + m_rng.Below(kBlocks)) % (kBlocks + 1);
    }
    bool Stopped()
    {
        const std::lock_guard lock(m_mutex);
        return m_stop;
    }
    /** For a change; false: the end. */
    bool Wait()
    {
        std::unique_lock lock(m_mutex);
        m_wake.wait(lock, [this] { return m_changed || m_stop; });
        m_changed = false;
        return !m_stop;
    }

    const World& m_world;
    sim::Rng m_rng;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_changed = false;
    bool m_stop = false;
    std::thread m_thread;
};

/** A data directory on a machine that may fail. */
class Machine {
public:
    Machine(const World& world, const Path& base) : m_world(world), m_base(base)
    {
        std::filesystem::create_directories(base);
    }

    Result<> Open(FaultEnv& env)
    {
        Close();
        const KvIoCheck check = [&env](const char* kind, const Path& path) {
            return env.Step(kind, path);
        };
        IBD_ASSIGN_OR_RETURN(m_dir, DataDir::Open(env, {m_base, {}, "regtest"}));
        ChainStackOptions options;
        options.manager.hash_key = {1, 2};
        options.index.before_io = check;
        options.blocks.max_file_size = 8 << 10;
        options.blocks.block_chunk = 4 << 10;
        options.coins.before_io = check;
        options.checker = &m_scripts;
        m_stack =
            std::make_unique<ChainStack>(env, *m_log, m_world.params, *m_dir, options, m_interrupt);
        IBD_RETURN_IF_ERROR(m_stack->OpenIndex());
        IBD_RETURN_IF_ERROR(m_stack->OpenBlocks());
        IBD_RETURN_IF_ERROR(Chain().LoadIndex());
        IBD_RETURN_IF_ERROR(Chain().StoreGenesis());
        for (size_t h = 1; h < m_world.blocks.size(); ++h) {
            REQUIRE_FALSE(Chain().AcceptHeader(m_world.Header(h), &m_tip));
        }
        return {};
    }
    /** Some of the blocks are there already. */
    Result<> StoreSome(sim::Rng& rng)
    {
        for (size_t h = 1; h < m_world.blocks.size(); ++h) {
            if (rng.Chance(1, 3)) IBD_RETURN_IF_ERROR(Chain().AcceptBlock(m_world.blocks[h]));
        }
        return Chain().Flush(FlushMode::kAlways);
    }
    Result<Verdict> Sync(FaultEnv& env, Peers& peers, unsigned threads = 2)
    {
        ChainKeeper keeper(Chain());
        PeerBlockSupply supply(env, m_stack->Blocks(), *m_tip, keeper, peers.OnChange(), 6'000);
        BoosterOptions options;
        options.threads = threads;
        options.memory_bytes = 1 << 13;
        options.checkpoint_bytes = 6'000;
        options.directory = Booster();
        options.chainstate = m_dir->Chainstate();
        const auto clean = MakePosixEnv();
        const auto hints = Must(OpenHints(*clean, m_world.dir / "hints"));
        SyncEngine engine(env, *m_log, m_world.params, *m_tip, m_stack->Blocks(), supply, *hints,
                          options);
        peers.Start(supply);
        auto verdict = engine.Run();
        peers.Stop();
        return verdict;
    }
    /** What a checkpoint says to be folded can be read back by a node that starts now. */
    size_t RequireFoldedIsStored()
    {
        FaultEnv env;
        const auto kept = LoadCheckpoint(env, Booster());
        REQUIRE(kept);
        if (!*kept) return 0;
        Must(Open(env));
        for (uint32_t h = 1; h <= kBlocks; ++h) {
            if (!(*kept)->folded.Contains(h)) continue;
            const HeaderNode& node = *m_tip->Ancestor(static_cast<int>(h));
            REQUIRE(node.HasData());
            REQUIRE(Must(Chain().ReadBlock(node)) == m_world.blocks[h]);
        }
        return (*kept)->folded.Count();
    }
    /** The node goes on from what the booster left. */
    void RequireRight()
    {
        FaultEnv env;
        Must(Open(env));
        Must(Chain().AttachCoins(Must(m_stack->OpenCoins())));
        Must(Chain().ActivateBestChain());
        REQUIRE(Chain().Tip() == m_tip);
        REQUIRE((Dump() == m_world.coins));
        for (const HeaderNode* node = m_tip; node; node = node->prev) {
            REQUIRE(Must(Chain().ReadBlock(*node)) == m_world.blocks[size_t(node->height)]);
        }
        Close();
    }
    CoinsDump Dump()
    {
        CoinsDump dump;
        CoinsCursor cursor = Chain().CoinsDatabase().Cursor();
        for (; cursor.Valid(); cursor.Next()) {
            const ByteSpan value = cursor.RawValue();
            dump.emplace(cursor.Key(), Bytes(value.begin(), value.end()));
        }
        Must(cursor.Status());
        return dump;
    }
    void Close()
    {
        m_stack.reset();
        m_dir.reset();
    }
    bool IsDone() const
    {
        return !std::filesystem::exists(Booster() / "checkpoint.dat") &&
               std::filesystem::exists(m_base / "regtest/chainstate/CURRENT");
    }
    ChainManager& Chain() { return m_stack->Chain(); }
    const HeaderNode& Tip() const { return *m_tip; }
    BlockStore& Blocks() { return m_stack->Blocks(); }
    Path Booster() const { return m_base / "booster"; }

private:
    const World& m_world;
    const Path m_base;
    const std::atomic<bool> m_interrupt{false};
    AcceptAllScripts m_scripts;
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;
    const HeaderNode* m_tip = nullptr;
};

} // namespace

TEST_CASE("Peers: blocks in any order, many of them wrong, give the coins of serial validation")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    const World world(seed);
    sim::Rng rng(seed);
    size_t lies = 0;
    for (int round = 0; round < 12; ++round) {
        Machine machine(world, world.dir / fmt::format("{}", round));
        FaultEnv env(rng());
        Must(machine.Open(env));
        if (round % 2) Must(machine.StoreSome(rng));
        Peers peers(world, rng());
        const Verdict verdict = Must(machine.Sync(env, peers, 1 + round % 3));
        INFO(verdict.reason);
        REQUIRE(verdict.kind == VerdictKind::kAccepted);
        CHECK(peers.mistakes == 0);
        CHECK(peers.lies == peers.refused);
        lies += peers.lies;
        machine.RequireRight();
    }
    CHECK(lies > 100);
}

TEST_CASE("Peers: killed at any operation, the next start goes on, and all agrees")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    const World world(seed);
    sim::Rng rng(seed);
    uint64_t operations = 0;
    {
        Machine machine(world, world.dir / "whole");
        FaultEnv env(1);
        Must(machine.Open(env));
        Peers peers(world, 1);
        REQUIRE(Must(machine.Sync(env, peers)).kind == VerdictKind::kAccepted);
        operations = env.Operations();
    }
    size_t deaths = 0;
    size_t folded = 0;
    for (int round = 0; round < 25; ++round) {
        Machine machine(world, world.dir / fmt::format("{}", round));
        for (int death = 0; death < 6 && !machine.IsDone(); ++death) {
            CAPTURE(round, death);
            FaultEnv env(rng());
            env.CrashAt(rng.Below(operations + operations / 4));
            Peers peers(world, rng());
            const bool opened = machine.Open(env).Ok();
            if (opened && machine.Sync(env, peers)) break;
            CHECK(peers.mistakes == 0);
            ++deaths;
            machine.Close();
            env.LoseUnsynced();
            folded += machine.RequireFoldedIsStored();
        }
        if (!machine.IsDone()) {
            FaultEnv env(rng());
            Must(machine.Open(env));
            Peers peers(world, rng());
            REQUIRE(Must(machine.Sync(env, peers)).kind == VerdictKind::kAccepted);
        }
        machine.RequireRight();
    }
    CHECK(deaths > 25);
    CHECK(folded > 100);
}

TEST_CASE("Peers: the queue is bounded, and a block has one place in it")
{
    const World world(1);
    Machine machine(world, world.dir / "node");
    FaultEnv env(1);
    Must(machine.Open(env));
    ChainKeeper keeper(machine.Chain());
    int changes = 0;
    PeerBlockSupply supply(
        env, machine.Blocks(), machine.Tip(), keeper, [&] { ++changes; }, 3'000);
    CHECK(supply.NextMissing(0) == nullptr); // nobody has begun
    CHECK_FALSE(supply.HasRoom(1));
    Must(supply.Begin([](int32_t height) { return height <= 10; }));
    CHECK(supply.BlocksToFold() == kBlocks - 10);
    const HeaderNode* node = supply.NextMissing(0);
    REQUIRE(node->height == 11);
    CHECK(supply.NextMissing(50)->height == 51);
    CHECK(supply.NextMissing(kBlocks) == nullptr);
    CHECK(supply.Have(*node->prev));
    CHECK(supply.Put({node->prev, 1, Bytes(9'000)})); // dropped

    CHECK(supply.Put({node, 1, Bytes(1'000)}));
    CHECK(supply.Have(*node));
    CHECK(supply.NextMissing(0)->height == 12);
    CHECK(supply.Put({node, 2, Bytes(9'000)})); // a second one is dropped
    CHECK(supply.Put({supply.NextMissing(0), 1, Bytes(1'000)}));
    CHECK_FALSE(supply.HasRoom(1'000));
    node = supply.NextMissing(0);
    CHECK_FALSE(supply.Put({node, 1, Bytes(1'000)}));
    CHECK_FALSE(supply.Have(*node));
    const auto source = supply.MakeSource();
    CHECK(changes == 1); // there is something to ask for
    SuppliedBlock block;
    REQUIRE(Must(source->Next(block)));
    CHECK(block.node->height == 11);
    CHECK_FALSE(block.indexed);
    CHECK(changes == 2);
    CHECK(supply.Put({node, 1, Bytes(1'000)}));

    REQUIRE(Must(source->Reject(block, Violation(RuleViolation::Kind::kMutated, "x"))));
    CHECK(changes == 3);
    CHECK(supply.Have(*block.node)); // not before the downloader knows
    const auto refused = supply.TakeRefused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].node->height == 11);
    CHECK(refused[0].peer == 1);
    CHECK(supply.NextMissing(0)->height == 11);
    CHECK(supply.TakeRefused().empty());

    supply.Stop();
    CHECK(supply.NextMissing(0) == nullptr);
    CHECK_FALSE(Must(source->Next(block)));
}

TEST_CASE("Peers: a block that breaks a rule ends the sync, whoever sends it")
{
    World world(2);
    sim::BlockDraft draft = sim::BlockDraft::Of(world.blocks.back());
    draft.Coinbase().outputs[0].value = -1;
    draft.Commit();
    draft.FixRoot();
    sim::Mine(draft.header, world.params);
    world.blocks.back() = draft.ToBytes();
    WriteHints(world.dir / "bad", world.params, world.unspent, draft.header.Hash());
    std::filesystem::rename(world.dir / "bad", world.dir / "hints");
    Machine machine(world, world.dir / "node");
    FaultEnv env(1);
    Must(machine.Open(env));
    Peers peers(world, 1);
    const Verdict verdict = Must(machine.Sync(env, peers));
    CHECK(verdict.kind == VerdictKind::kBlockInvalid);
    CHECK(verdict.height == kBlocks);
    CHECK_THAT(verdict.reason, Catch::Contains("bad-txns-vout-negative"));
}

} // namespace ibd::test
