// The booster with blocks from scripted peers: any mixture of stored and missing blocks, any order,
// wrong bytes before right ones, and a machine that is killed at any operation. The coins are those
// of serial validation, and all blocks that a checkpoint lists as folded are stored.
#include "booster/booster_machine.h"

#include "sim/block_draft.h"

#include <condition_variable>
#include <thread>

#include "support/catch.h"

namespace ibd::test {

namespace {

constexpr int kBlocks = 120;

/** Plays the downloader and its peers on a thread of its own: asks for any missing block, sends
 *  wrong bytes now and then, and unrequested blocks. */
class Peers final : public BlockFetcher {
public:
    Peers(const World& world, uint64_t seed) : m_world(world), m_rng(seed) {}
    ~Peers() override { StopFetching(); }

    void Fetch(DownloadGoal& goal, BlockSink& sink) override
    {
        StopFetching();
        m_stop = false;
        m_thread = std::thread([this, &goal, &sink] { Work(goal, sink); });
    }
    void StopFetching() override
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stop = true;
            m_wake.notify_all();
        }
        if (m_thread.joinable()) m_thread.join();
    }
    void Wake() override
    {
        const std::lock_guard lock(m_mutex);
        m_changed = true;
        m_wake.notify_all();
    }
    size_t PeerCount() const override { return 100; }
    HeaderAnswers AskForLastHeaders() override { return {}; }

    int32_t never = -1; //!< height of a block that is not sent

    // After StopFetching().

    size_t lies = 0;     //!< wrong bytes sent
    size_t coin_lies = 0; //!< of these, wrong coins of a right block
    size_t refused = 0;  //!< refusals by the supply
    size_t mistakes = 0; //!< refused although right, or by the wrong name

private:
    void Work(DownloadGoal& goal, BlockSink& sink)
    {
        while (!Stopped()) {
            for (const RefusedBlock& block : sink.TakeRefused()) {
                ++refused;
                const bool lied = block.peer % 2 == 1;
                if (!lied || !block.why.IsOfDataAlone()) ++mistakes;
            }
            if (m_rng.Chance(1, 20)) SendUnasked(goal, sink);
            const auto after = static_cast<int32_t>(m_rng.Below(kBlocks));
            const HeaderNode* node = goal.NextMissing(after);
            if (node && node->height == never) node = goal.NextMissing(never);
            if (!node) node = goal.NextMissing(0);
            if (node && node->height == never && goal.NextMissing(never)) continue;
            if (node) {
                Send(goal, sink, *node);
            } else {
                Wait();
            }
        }
    }
    void Send(const DownloadGoal& goal, BlockSink& sink, const HeaderNode& node)
    {
        const auto height = static_cast<size_t>(node.height);
        if (node.height == never) return std::this_thread::sleep_for(std::chrono::milliseconds(1));
        PeerBlock block{&node, static_cast<PeerId>(m_rng.Below(100)) * 2, {}};
        block.raw = m_world.blocks[height];
        if (goal.WantsSpentCoins()) block.spent_coins = Encode(m_world.spent[height]);
        if (m_rng.Chance(1, 4)) {
            if (!goal.WantsSpentCoins() || !SpoilCoins(block.spent_coins, height)) {
                Spoil(block.raw, height);
            }
            ++block.peer; // an odd one lies
        }
        const bool lie = block.peer % 2 == 1;
        while (!sink.HasRoom(block.raw.size() + block.spent_coins.size())) {
            if (!Wait()) return;
        }
        if (!sink.Put(std::move(block))) ++mistakes; // there was room
        if (lie) ++lies;
    }
    /** Corrupts the bytes in a way that does not make the block invalid. */
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
    /** Falsifies the coins so that a check notices it at once. */
    bool SpoilCoins(Bytes& message, size_t height)
    {
        if (m_rng.Chance(1, 3)) return false;
        SpentCoinsMessage spent = m_world.spent[height];
        const bool some = !spent.coins.empty();
        switch (m_rng.Below(4)) {
        case 0: message.resize(m_rng.Below(message.size())); break;
        case 1:
            spent.coins.push_back({static_cast<uint32_t>(spent.coins.size()), Coin{}});
            message = Encode(spent);
            break;
        case 2:
            if (!some) return false;
            ++spent.coins.back().input;
            message = Encode(spent);
            break;
        default:
            if (!some) return false;
            spent.coins.front().coin.height = static_cast<uint32_t>(height) + 1;
            message = Encode(spent);
        }
        ++coin_lies;
        return true;
    }
    void SendUnasked(DownloadGoal& goal, BlockSink& sink)
    {
        const size_t height = m_rng.Below(kBlocks + 1);
        for (const HeaderNode* node = goal.NextMissing(0); node; node = nullptr) {
            const HeaderNode* other = node->Ancestor(static_cast<int>(height));
            if (!other || !goal.Have(*other)) continue;
            if (!sink.Put({other, 0, m_rng.RandomBytes(50)})) ++mistakes; // it is dropped
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

/** Fetches nothing. */
class CountingFetcher final : public BlockFetcher {
public:
    void Fetch(DownloadGoal&, BlockSink&) override { ++calls; }
    void StopFetching() override {}
    void Wake() override { ++calls; }
    size_t PeerCount() const override { return 3; }
    HeaderAnswers AskForLastHeaders() override { return {}; }

    int calls = 0;
};

} // namespace

TEST_CASE("Peers: blocks in any order, many of them wrong, give the coins of serial validation")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    const World world(seed);
    sim::Rng rng(seed);
    size_t lies = 0, coin_lies = 0;
    for (int round = 0; round < 18; ++round) {
        Machine machine(world, world.dir / fmt::format("{}", round));
        machine.with_coins = round % 3 == 2;
        FaultEnv env(rng());
        Must(machine.Open(env));
        if (round % 2) Must(machine.StoreSome(rng));
        Peers peers(world, rng());
        const Verdict verdict = Must(machine.Sync(env, peers, 1 + round % 3));
        INFO(verdict.reason);
        REQUIRE(verdict.kind == VerdictKind::kDone);
        CHECK(peers.mistakes == 0);
        CHECK(peers.lies == peers.refused);
        lies += peers.lies;
        coin_lies += peers.coin_lies;
        machine.RequireRight();
    }
    CHECK(lies > 100);
    CHECK(coin_lies > 50);
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
        REQUIRE(Must(machine.Sync(env, peers)).kind == VerdictKind::kDone);
        operations = env.Operations();
    }
    size_t deaths = 0;
    size_t folded = 0;
    for (int round = 0; round < 30; ++round) {
        Machine machine(world, world.dir / fmt::format("{}", round));
        machine.with_coins = round % 3 == 2;
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
            REQUIRE(Must(machine.Sync(env, peers)).kind == VerdictKind::kDone);
        }
        machine.RequireRight();
    }
    CHECK(deaths > 25);
    CHECK(folded > 100);
}

TEST_CASE("Peers: if a block with its coins does not come, the sync ends, and its work is kept")
{
    const World world(3);
    Machine machine(world, world.dir / "node");
    machine.with_coins = true;
    machine.patience = 5'000'000;
    FaultEnv env(1);
    Must(machine.Open(env));
    {
        Peers peers(world, 1);
        peers.never = 77;
        const Verdict verdict = Must(machine.Sync(env, peers));
        CHECK(int(verdict.kind) == int(VerdictKind::kIncomplete));
        CHECK(machine.gave_up);
    }
    const auto kept = Must(LoadCheckpoint(env, machine.Booster()));
    REQUIRE(kept);
    CHECK(kept->folded.Count() == kBlocks - 1);
    machine.patience.reset();
    Peers peers(world, 2);
    REQUIRE(Must(machine.Sync(env, peers)).kind == VerdictKind::kDone);
    CHECK_FALSE(machine.gave_up);
    machine.RequireRight();
}

TEST_CASE("Peers: the queue is bounded, and a block has one place in it")
{
    const World world(1);
    Machine machine(world, world.dir / "node");
    FaultEnv env(1);
    Must(machine.Open(env));
    ChainKeeper keeper(machine.Chain());
    CountingFetcher fetcher;
    int& changes = fetcher.calls;
    PeerBlockSupply supply(env, machine.Blocks(), machine.Tip(), keeper, fetcher, 3'000);
    CHECK(supply.NextMissing(0) == nullptr); // nothing has begun
    CHECK(supply.PreferredFrom() == DownloadGoal::kNoneFirst);
    supply.Prefer(40);
    CHECK(supply.PreferredFrom() == 40);
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

TEST_CASE("Peers: the estimate of all bytes follows the blocks that came")
{
    const World world(1);
    Machine machine(world, world.dir / "node");
    FaultEnv env(1);
    Must(machine.Open(env));
    ChainKeeper keeper(machine.Chain());
    CountingFetcher fetcher;
    PeerBlockSupply supply(env, machine.Blocks(), machine.Tip(), keeper, fetcher);
    Must(supply.Begin([](int32_t) { return false; }));
    CHECK(supply.EstimatedBytes() == 0); // decisions suppose nothing
    CHECK(supply.NewEstimate() == kBlocks * kGuessedBlockBytes);
    const auto source = supply.MakeSource();
    uint64_t bytes = 0;
    for (uint64_t came = 1; came <= kBlocks; ++came) {
        const HeaderNode& node = *supply.NextMissing(0);
        const Bytes& raw = world.blocks[static_cast<size_t>(node.height)];
        REQUIRE(supply.Put({&node, 1, Bytes(raw)}));
        SuppliedBlock block;
        REQUIRE(Must(source->Next(block)));
        BlockView view;
        Must(view.Parse(block.bytes));
        Must(source->Keep(block, view));
        bytes += raw.size();
        CHECK(supply.NewEstimate() == bytes + bytes * (kBlocks - came) / came);
    }
    // Blocks folded by an earlier start are not included; stored blocks are.
    Must(supply.Begin([](int32_t height) { return height <= 10; }));
    CHECK(supply.NewEstimate() == supply.EstimatedBytes());
    CHECK(supply.EstimatedBytes() < bytes);
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
