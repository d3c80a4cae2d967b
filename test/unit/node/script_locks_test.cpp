// No script of a transaction runs while its thread holds the pool's mutex or the chain's state
// lock, for each way in which a transaction is submitted: one section for each.
#include "mempool/pool_file.h"
#include "mempool/upkeep.h"
#include "node/pool_feed.h"
#include "node/tx_intake.h"
#include "rpc/tip_coins.h"
#include "support/catch.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

#include <thread>

namespace ibd::test {

namespace {

constexpr Amount kReward = 5'000'000'000;
constexpr Amount kFee = 10'000;

/** Takes both locks on another thread before scripts run: if the thread that runs them holds one,
 *  the test hangs. */
class Watch {
public:
    Watch(TxPool& pool, ChainManager& chain) : m_pool(pool), m_chain(chain) {}

    RuleResult RunScripts(const CheckedTx& checked)
    {
        std::thread([this] {
            Must(m_chain.Flush(FlushMode::kIfNeeded)); // takes the state lock for writing
            const Lock lock(m_pool.mutex);
            ++checks;
        }).join();
        ++runs;
        return ibd::RunScripts(checked, nullptr);
    }
    std::atomic<size_t> runs = 0;
    std::atomic<size_t> checks = 0;

private:
    TxPool& m_pool;
    ChainManager& m_chain;
};

PolicyOptions AnyScript()
{
    PolicyOptions policy;
    policy.require_standard = false;
    return policy;
}

/** A chain with ripe coins, and a pool that follows it. */
struct Fixture {
    static constexpr int kRipe = 10;

    explicit Fixture(const TempDir& dir) : engine(params, dir.Get() / "data")
    {
        engine.Start();
        chain = engine.chain;
        engine.chain->SetObserver(&feed);
        blocks = kit.MakeChain(kit.Genesis(), 100 + kRipe);
        for (const KitBlock& block : blocks) REQUIRE(!engine.Process(block.raw).violation);
    }

    /** Spends the reward of an early block. */
    MutableTransaction Tx(size_t block, Amount fee = kFee) const
    {
        return SpendTx({blocks[block].Reward()}, {kReward / 2, kReward / 2 - fee});
    }
    static MutableTransaction Child(const MutableTransaction& parent, Amount fee = kFee)
    {
        return SpendTx({{parent.Id(), 0}}, {kReward / 4, kReward / 4 - fee});
    }
    int64_t Now() { return engine.GetEnv().UnixTime(); }
    Arrival Arriving() { return {.now = Now(), .time = Now()}; }
    void Submit(const MutableTransaction& tx)
    {
        const auto out = Must(door.Submit(tx.Freeze(), {.arrival = Arriving()}));
        REQUIRE(!out.verdict.violation);
    }
    bool Has(const MutableTransaction& tx)
    {
        const Lock lock(pool.mutex);
        return pool.Find(tx.Id()) != nullptr;
    }
    /** A block on `prev`. */
    KitBlock Make(const KitBlock& prev, const std::vector<MutableTransaction>& txs, uint32_t salt,
                  Amount reward = -1) const
    {
        KitOptions options;
        options.txs = txs;
        options.salt = salt;
        options.reward = reward;
        return kit.Make(prev, options);
    }
    KitBlock Connect(const KitBlock& prev, const std::vector<MutableTransaction>& txs,
                     uint32_t salt)
    {
        KitBlock block = Make(prev, txs, salt);
        REQUIRE(!engine.Process(block.raw).violation);
        return block;
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    std::vector<KitBlock> blocks;
    Engine engine;
    std::atomic<ChainManager*> chain = nullptr;
    TxPool pool{PoolLimits()};
    Watch watch{pool, *engine.chain};
    TxAcceptance rules{params.consensus, AnyScript(), nullptr,
                       [this](const CheckedTx& checked, VerificationCaches*) {
                           return watch.RunScripts(checked);
                       }};
    ChainTipCoins coins{chain, engine.GetEnv()};
    TxSubmission door{rules, pool, coins};
    size_t failures = 0;
    PoolFeed feed{pool, rules, chain, coins, engine.GetEnv(), [this](const Error&) { ++failures; }};
};

void CheckRuns(const Fixture& node, size_t expected)
{
    CHECK(node.watch.runs == expected);
    CHECK(node.watch.checks == expected);
    CHECK(node.failures == 0);
    CHECK(!node.pool.gate.IsClosed());
}

} // namespace

TEST_CASE("no script of a new transaction runs under a lock", "[pool]")
{
    const TempDir dir;
    Fixture node(dir);
    const MutableTransaction tx = node.Tx(0);
    const std::vector<TransactionRef> package = {node.Tx(1, 0).Freeze(),
                                                 Fixture::Child(node.Tx(1, 0)).Freeze()};
    size_t expected = 1;
    SECTION("testmempoolaccept")
    {
        CHECK(!Must(node.door.Test(tx.Freeze(), node.Now())).violation);
    }
    SECTION("testmempoolaccept with a package")
    {
        const std::vector<TransactionRef> paying = {tx.Freeze(), Fixture::Child(tx).Freeze()};
        CHECK(!Must(node.door.TestPackage(paying, node.Now())).violation);
        expected = 2;
    }
    SECTION("sendrawtransaction")
    {
        node.Submit(tx);
        CHECK(node.Has(tx));
    }
    SECTION("submitpackage")
    {
        CHECK(!Must(node.door.SubmitPackage(package, node.Arriving())).violation);
        expected = 2;
    }
    SECTION("peers")
    {
        TxIntake intake(node.door, node.pool, node.engine.GetEnv());
        intake.Start([] {}, [&](const Error&) { ++node.failures; });
        intake.Put({.peer = 1, .txs = {tx.Freeze()}});
        intake.Put({.peer = 2, .txs = package});
        for (size_t answers = 0; answers < 2; std::this_thread::yield()) {
            for (const TxAnswer& answer : intake.TakeAnswers()) {
                CHECK(!answer.violation);
                ++answers;
            }
        }
        CHECK(node.Has(tx));
        expected = 3;
    }
    SECTION("mempool.dat")
    {
        node.Submit(tx);
        PoolFile file{dir.Get() / "mempool.dat"};
        Env& env = node.engine.GetEnv();
        Logger& log = node.engine.GetLog();
        Must(DumpPool(node.pool, file, env, log));
        {
            const Lock lock(node.pool.mutex);
            RemoveWithDescendants(node.pool, tx.Id(), RemovalReason::kExpiry);
        }
        const std::atomic<bool> interrupt = false;
        Must(ImportPool(file.path, {}, node.door, node.pool, env, log, interrupt));
        CHECK(node.Has(tx));
        expected = 2;
    }
    CheckRuns(node, expected);
}

TEST_CASE("no script of a returned transaction runs under a lock", "[pool]")
{
    const TempDir dir;
    Fixture node(dir);
    const MutableTransaction tx = node.Tx(0);
    size_t expected = 1;
    SECTION("a block")
    {
        node.Submit(tx);
        node.Connect(node.blocks.back(), {tx, Fixture::Child(tx)}, 1);
        CHECK(!node.Has(tx));
    }
    SECTION("a reorganisation")
    {
        const MutableTransaction again = node.Tx(2);
        const KitBlock left = node.Connect(node.blocks.back(), {tx, Fixture::Child(tx), again}, 1);
        const KitBlock other = node.Connect(node.blocks.back(), {again}, 2);
        const KitBlock tip = node.Connect(other, {}, 2);
        REQUIRE(node.engine.chain->Current().hash == tip.hash);
        CHECK(node.Has(tx));
        CHECK(node.Has(Fixture::Child(tx)));
        CHECK(!node.Has(again));
        expected = 2;
    }
    SECTION("a block that is taken back")
    {
        const KitBlock block = node.Connect(node.blocks.back(), {tx}, 1);
        const HeaderNode* const found = node.engine.Node(block.hash);
        Must(node.engine.chain->InvalidateBlock(*found));
        CHECK(node.Has(tx));
    }
    CheckRuns(node, expected);
}

TEST_CASE("blocks of three branches spend one coin, and the pool keeps one spender", "[pool]")
{
    const TempDir dir;
    Fixture node(dir);
    const KitBlock& fork = node.blocks.back();
    node.Connect(fork, {node.Tx(0)}, 1);
    // The second branch is better, but its last block makes too much money.
    const KitBlock second = node.Make(fork, {node.Tx(0, 2 * kFee)}, 2);
    const KitBlock bad = node.Make(second, {}, 2, 2 * kReward);
    const KitBlock third = node.Make(fork, {}, 3);
    const KitBlock tip = node.Make(third, {}, 3);
    for (const KitBlock* block : {&second, &third, &bad, &tip}) node.engine.Process(block->raw);
    REQUIRE(node.engine.chain->Current().hash == tip.hash);
    const Lock lock(node.pool.mutex);
    CHECK(node.pool.Size() == 1);
    CHECK(node.failures == 0);
}

} // namespace ibd::test
