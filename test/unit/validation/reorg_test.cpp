// Reorganisations between branches: the coins at a tip are the same for every path to it.
#include "block_kit.h"
#include "fixture.h"
#include "sim/chain.h"
#include "util/hex.h"
#include "validation/script_threads.h"

#include <thread>

namespace ibd::test {

namespace {

ChainManagerOptions TinyCache()
{
    ChainManagerOptions options;
    options.cache_bytes = 1; // written out after every block
    return options;
}

std::vector<sim::SimBlock> Extend(sim::Chain& chain, int blocks)
{
    std::vector<sim::SimBlock> out;
    for (int i = 0; i < blocks; ++i) out.push_back(chain.Next());
    return out;
}

sim::ChainOptions SmallChain(uint64_t seed, int blocks)
{
    sim::ChainOptions options;
    options.seed = seed;
    options.blocks = blocks;
    options.outputs_per_block = 30;
    return options;
}

/** The coins after the given blocks and nothing else. */
CoinsDump CoinsAfter(const ChainParams& params, const std::vector<const Bytes*>& blocks)
{
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const Bytes* raw : blocks) REQUIRE(!engine.Process(*raw).violation);
    return engine.Dump();
}

std::vector<const Bytes*> Pointers(const std::vector<sim::SimBlock>& a,
                                   const std::vector<sim::SimBlock>& b = {})
{
    std::vector<const Bytes*> out;
    for (const auto* blocks : {&a, &b}) {
        for (const sim::SimBlock& block : *blocks) out.push_back(&block.bytes);
    }
    return out;
}

void Feed(Engine& engine, const std::vector<KitBlock>& blocks)
{
    for (const KitBlock& block : blocks) REQUIRE(!engine.Process(block.raw).violation);
}

/** Two branches of a generated chain: `common`, then `a` or the longer `b`. */
struct Fork {
    std::vector<sim::SimBlock> common, a, b;

    Fork(const ChainParams& params, uint64_t seed, int common_blocks, int length)
    {
        sim::Chain chain(params, SmallChain(seed, common_blocks + length + 1));
        common = Extend(chain, common_blocks);
        sim::Chain other = chain;
        other.Reseed(seed + 1);
        a = Extend(chain, length);
        b = Extend(other, length + 1);
    }
};

/** At each step of a reorganisation another thread reads the coins, which takes their lock. If the
 *  lock is held the test hangs. */
class CoinsWatch final : public ChainObserver {
public:
    explicit CoinsWatch(const ChainManager& chain) : m_chain(chain), m_start(chain.Current().hash)
    {
    }

    void TipLeft() override { Note(); }
    void BlockDisconnected(const HeaderNode&, const BlockView&) override { Note(); }
    void BlockConnected(const HeaderNode&, const BlockView&) override { Note(); }
    void TipReached(const HeaderNode* node) override
    {
        REQUIRE(node != nullptr);
        Note();
        m_chain_is_moving = false;
    }
    std::vector<int32_t> heights; //!< of the coins

private:
    void Note()
    {
        if (!m_chain_is_moving) return;
        CHECK(m_chain.Current().hash == m_start); // other threads see the old tip
        std::thread([this] { heights.push_back(m_chain.HoldCoins().Tip().height); }).join();
    }

    const ChainManager& m_chain;
    const BlockHash m_start;
    bool m_chain_is_moving = true;
};

} // namespace

TEST_CASE("the coins can be read between the blocks of a reorganisation")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    Feed(engine, kit.MakeChain(kit.Genesis(), 3, 1));
    CoinsWatch watch(*engine.chain);
    engine.chain->SetObserver(&watch);
    Feed(engine, kit.MakeChain(kit.Genesis(), 4, 2));
    CHECK(engine.chain->Current().height == 4);
    CHECK(watch.heights == std::vector<int32_t>{3, 2, 1, 0, 1, 2, 3, 4, 4});
}

TEST_CASE("connect and disconnect restore the coins database byte for byte")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const uint64_t seed = TestRng()();
    INFO("seed " << seed);
    sim::Chain chain(params, SmallChain(seed, 260));
    const auto blocks = Extend(chain, 260);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    std::vector<CoinsDump> dumps{engine.Dump()};
    for (const sim::SimBlock& block : blocks) {
        REQUIRE(!engine.Process(block.bytes).violation);
        REQUIRE(engine.chain->Tip()->hash == block.hash);
        dumps.push_back(engine.Dump());
    }
    CHECK(dumps.back().size() == chain.GetTruth().Unspent());
    for (size_t height = blocks.size(); height > 0; --height) {
        Must(engine.chain->InvalidateBlock(*engine.Node(blocks[height - 1].hash)));
        REQUIRE(engine.chain->Tip()->height == static_cast<int>(height) - 1);
        REQUIRE((engine.Dump() == dumps[height - 1]));
    }
    Must(engine.chain->ReconsiderBlock(*engine.Node(blocks[0].hash)));
    CHECK(engine.chain->Tip()->hash == blocks.back().hash);
    CHECK((engine.Dump() == dumps.back()));
}

TEST_CASE("blocks of two branches in any order lead to the same coins")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    for (int round = 0; round < 6; ++round) {
        const uint64_t seed = TestRng()();
        INFO("seed " << seed);
        const Fork fork(params, seed, 105 + round, 1 + 20 * round);
        std::vector<const Bytes*> order = Pointers(fork.common);
        // Each branch in order, the two mixed.
        const std::vector<const Bytes*> a = Pointers(fork.a), b = Pointers(fork.b);
        size_t i = 0, j = 0;
        while (i < a.size() || j < b.size()) {
            const bool take_a = j == b.size() || (i < a.size() && TestRng()() % 2 == 0);
            order.push_back(take_a ? a[i++] : b[j++]);
        }
        const TempDir dir;
        Engine engine(params, dir.Get() / "data",
                      round % 2 == 0 ? TinyCache() : ChainManagerOptions{});
        engine.Start();
        for (const Bytes* raw : order) REQUIRE(!engine.Process(*raw).violation);
        CHECK(engine.chain->Tip()->hash == fork.b.back().hash);
        CHECK((engine.Dump() == CoinsAfter(params, Pointers(fork.common, fork.b))));
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 40)).sound);
    }
}

TEST_CASE("a better branch that is invalid in the middle is left again")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 105);
    KitOptions spend;
    spend.txs = {SpendTx({common[0].Reward()}, {10 * kCoin, 40 * kCoin})};
    std::vector<KitBlock> old{kit.Make(common.back(), spend)};
    for (const KitBlock& block : kit.MakeChain(old.back(), 9)) old.push_back(block);
    // The other branch: spends another coin, has a bad block in the middle, is longer.
    spend.txs = {SpendTx({common[1].Reward()}, {50 * kCoin})};
    std::vector<KitBlock> other{kit.Make(common.back(), spend)};
    for (const KitBlock& block : kit.MakeChain(other.back(), 3, 7)) other.push_back(block);
    KitOptions bad;
    bad.txs = {SpendTx({common[1].Reward()}, {kCoin})}; // spent four blocks before
    const KitBlock spoiled = kit.Make(other.back(), bad);
    const auto above = kit.MakeChain(spoiled, 8, 7);

    const TempDir dir;
    const bool tiny = GENERATE(false, true);
    Engine engine(params, dir.Get() / "data", tiny ? TinyCache() : ChainManagerOptions{});
    engine.Start();
    for (const auto& part : {common, old, other}) Feed(engine, part);
    const CoinsDump before = engine.Dump();
    // All blocks are stored before the activation, so that the branch is connected in one step.
    REQUIRE(!Must(engine.chain->AcceptBlock(spoiled.raw)).violation);
    for (const KitBlock& block : above) {
        REQUIRE(!Must(engine.chain->AcceptBlock(block.raw)).violation);
    }
    engine.witness.events.clear();
    Must(engine.chain->ActivateBestChain());
    CHECK(engine.chain->Tip()->hash == old.back().hash);
    CHECK((engine.Dump() == before));
    CHECK(engine.witness.verdicts[spoiled.hash]->reason == "bad-txns-inputs-missingorspent");
    CHECK(engine.witness.events.size() == 10 + 4 + 4 + 10);
    CHECK(!engine.Node(other.back().hash)->Failed());
    for (const KitBlock& block : above) CHECK(engine.Node(block.hash)->Failed());
    CHECK(engine.chain->Read().Tree().BestHeader() == engine.chain->Tip());

    // The valid part of the branch below the bad block can still win.
    const auto longer = kit.MakeChain(other.back(), 20, 8);
    Feed(engine, longer);
    CHECK(engine.chain->Tip()->hash == longer.back().hash);
}

TEST_CASE("marks of failure are kept over a restart and only where they belong")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto chain = kit.MakeChain(kit.Genesis(), 12);
    const auto side = kit.MakeChain(chain[5], 3, 1);
    const TempDir dir;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, chain);
        Feed(engine, side);
        Must(engine.chain->InvalidateBlock(*engine.Node(chain[7].hash)));
        CHECK(engine.chain->Tip()->hash == side.back().hash);
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    CHECK(engine.chain->Tip()->hash == side.back().hash);
    for (const KitBlock& block : chain) {
        CHECK(engine.Node(block.hash)->Failed() == (block.height >= 8));
    }
    for (const KitBlock& block : side) CHECK(!engine.Node(block.hash)->Failed());
    Must(engine.chain->ReconsiderBlock(*engine.Node(chain.back().hash)));
    CHECK(engine.chain->Tip()->hash == chain.back().hash);
}

TEST_CASE("a precious block wins among equals, until a better one comes")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 3);
    const auto a = kit.MakeChain(common.back(), 2, 1);
    const auto b = kit.MakeChain(common.back(), 2, 2);
    const auto c = kit.MakeChain(common.back(), 1, 3);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const auto& part : {common, a, b, c}) Feed(engine, part);
    const auto tip = [&] { return engine.chain->Tip()->hash; };
    const auto precious = [&](const KitBlock& block) {
        Must(engine.chain->PreciousBlock(*engine.Node(block.hash)));
    };
    CHECK(tip() == a.back().hash); // came first
    precious(b.back());
    CHECK(tip() == b.back().hash);
    precious(a.back());
    CHECK(tip() == a.back().hash);
    precious(c.back()); // less work
    CHECK(tip() == a.back().hash);
    precious(b.back());
    precious(b.back());
    CHECK(tip() == b.back().hash);
    const KitBlock better = kit.Make(a.back());
    engine.Process(better.raw);
    CHECK(tip() == better.hash);
    const KitBlock equal = kit.Make(b.back());
    engine.Process(equal.raw);
    CHECK(tip() == better.hash);
    precious(equal);
    CHECK(tip() == equal.hash);
}

TEST_CASE("invalidating finds the next best branch, and each step can be taken back")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 5);
    const auto a = kit.MakeChain(common.back(), 6, 1);
    const auto b = kit.MakeChain(common.back(), 5, 2);
    const auto c = kit.MakeChain(common[1], 4, 3);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const auto& part : {common, a, b, c}) Feed(engine, part);
    const auto tip = [&] { return engine.chain->Tip()->hash; };
    const auto invalidate = [&](const KitBlock& block) {
        Must(engine.chain->InvalidateBlock(*engine.Node(block.hash)));
    };
    invalidate(a[5]);
    // Equal work now: a's fifth was connected before b's fifth came.
    CHECK(tip() == a[4].hash);
    invalidate(a[2]);
    CHECK(tip() == b.back().hash);
    invalidate(common[4]);
    CHECK(tip() == c.back().hash);
    Must(engine.chain->ReconsiderBlock(*engine.Node(b[0].hash)));
    CHECK(tip() == b.back().hash);
    Must(engine.chain->ReconsiderBlock(*engine.Node(a[5].hash)));
    CHECK(tip() == a.back().hash);
    const HeaderNode* genesis = engine.chain->Read().Tree().Genesis();
    Must(engine.chain->InvalidateBlock(*genesis)); // has no effect
    CHECK(tip() == a.back().hash);
    invalidate(common[0]);
    CHECK(engine.chain->Tip()->height == 0);
    CHECK(engine.Dump().empty());
    // New blocks on an invalid one are refused, and a new branch is taken.
    CHECK(engine.Process(kit.Make(a.back()).raw).violation->reason == "bad-prevblk");
    const auto fresh = kit.MakeChain(kit.Genesis(), 2, 9);
    Feed(engine, fresh);
    CHECK(tip() == fresh.back().hash);
}

TEST_CASE(
    "near the tip a block that comes back finds its scripts in the cache, elsewhere it does not")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    sim::ChainOptions signed_chain = SmallChain(TestRng()(), 130);
    signed_chain.signed_spends = true;
    sim::Chain chain(params, signed_chain);
    const auto blocks = Extend(chain, 130);
    const bool near_tip = GENERATE(true, false);
    ChainManagerOptions options;
    if (near_tip) options.max_tip_age = int64_t{100} * 365 * 24 * 60 * 60;
    const TempDir dir;
    VerificationCaches caches(1 << 20, {3});
    ScriptThreads threads(1);
    threads.SetCaches(&caches);
    Engine engine(params, dir.Get() / "data", options);
    engine.chain->SetScriptChecker(&threads);
    engine.Start();
    uint64_t spends = 0; // of the last twenty blocks
    for (size_t i = 0; i < blocks.size(); ++i) {
        REQUIRE(!engine.Process(blocks[i].bytes).violation);
        BlockView view;
        REQUIRE(view.Parse(blocks[i].bytes));
        if (i >= 110) spends += view.Txs().size() - 1;
    }
    REQUIRE(spends > 0);
    const CoinsDump before = engine.Dump();
    CHECK(caches.scripts.Entries().Hits() == 0);
    for (uint64_t round = 1; round <= 2; ++round) {
        Must(engine.chain->InvalidateBlock(*engine.Node(blocks[110].hash)));
        Must(engine.chain->ReconsiderBlock(*engine.Node(blocks[110].hash)));
        CHECK(engine.chain->Tip()->hash == blocks.back().hash);
        CHECK((engine.Dump() == before));
        CHECK(caches.scripts.Entries().Hits() == (near_tip ? round * spends : 0));
    }
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 20)));
    CHECK(caches.scripts.Entries().Hits() == (near_tip ? 3 * spends : 0));
}

TEST_CASE("no reader sees a tip with less work during a reorganisation")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 3);
    const auto a = kit.MakeChain(common.back(), 60, 1);
    const auto b = kit.MakeChain(common.back(), 61, 2);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const auto& part : {common, a}) Feed(engine, part);
    for (const KitBlock& block : b) Must(engine.chain->AcceptBlock(block.raw));
    std::atomic<bool> done{false}, worse{false};
    std::thread watcher([&] {
        while (!done) {
            if (engine.chain->Current().height < a.back().height) worse = true;
            if (engine.chain->Read().Tip()->height < a.back().height) worse = true;
        }
    });
    Must(engine.chain->ActivateBestChain());
    done = true;
    watcher.join();
    CHECK(!worse);
    CHECK(engine.chain->Tip()->hash == b.back().hash);
}

TEST_CASE("the real reorganisation of Floresta's test is followed")
{
    const auto path = TestData("floresta/test_reorg.json");
    if (!path) return;
    const UniValue branches = ReadTestJson(*path);
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    REQUIRE(branches.size() == 2);
    std::vector<BlockHash> tips;
    for (size_t b = 0; b < 2; ++b) {
        for (const UniValue& hex : branches[b].getValues()) {
            const auto raw = FromHex(hex.get_str());
            REQUIRE(raw);
            const BlockOutcome outcome = engine.Process(*raw);
            INFO((outcome.violation ? outcome.violation->ToString() : ""));
            REQUIRE(!outcome.violation);
        }
        tips.push_back(engine.chain->Tip()->hash);
    }
    CHECK(engine.chain->Tip()->height == 16);
    CHECK(tips[0] != tips[1]);
    CHECK(engine.chain->Read().Tree().Find(tips[0])->height == 10);
}

} // namespace ibd::test
