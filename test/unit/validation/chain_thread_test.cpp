// Waits between threads: readers of headers never wait, readers of coins wait for a block or a
// write, changes of the chain wait for the blocks before them. No clock: a gate holds a thread
// where it is.
#include "validation/chain_thread.h"

#include "block_kit.h"
#include "fixture.h"

#include <future>

namespace ibd::test {

namespace {

/** A coinbase script that differs from the others at its height. */
KitOptions Salted(uint32_t salt)
{
    KitOptions options;
    options.salt = salt;
    return options;
}

/** A thread that comes through waits until it is opened. */
class Gate {
public:
    void Pass()
    {
        m_reached.set_value();
        m_opened.get_future().wait();
    }
    void WaitUntilReached() { m_reached.get_future().wait(); }
    void Open() { m_opened.set_value(); }

private:
    std::promise<void> m_reached, m_opened;
};

/** Scripts are right; before the n-th block is, it passes a gate. */
class GatedScripts final : public ScriptChecker {
public:
    explicit GatedScripts(int block) : m_block(block) {}
    void Begin(ScriptFlags) override {}
    void Add(const TxView&, std::span<const Coin>) override {}
    RuleResult Finish() override
    {
        if (++m_blocks == m_block) gate.Pass();
        return std::nullopt;
    }
    Gate gate;

private:
    const int m_block;
    int m_blocks = 0;
};

void NeverFatal(const Error& error) { FAIL(error.message); }

/** A chain that is stored and not connected. */
class Unconnected {
public:
    explicit Unconnected(int blocks) : engine(params, dir.Get() / "data")
    {
        engine.Start();
        for (const KitBlock& block : kit.MakeChain(kit.Genesis(), blocks)) {
            Must(engine.chain->AcceptBlock(block.raw));
        }
    }
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    const TempDir dir;
    Engine engine;
};

/** A thread that has connected seven of 20 blocks and waits in the eighth, with the coins in hand.
 */
class Connecting : public Unconnected {
public:
    Connecting() : Unconnected(20)
    {
        chain.SetScriptChecker(&scripts);
        connected = std::async(std::launch::async, [&] { thread.Activate(); });
        scripts.gate.WaitUntilReached();
    }
    ChainManager& chain = *engine.chain;
    GatedScripts scripts{8};
    ChainThread thread{chain, NeverFatal};
    std::future<void> connected;
};

} // namespace

TEST_CASE("headers are read while a block is being connected, and changes wait for its end")
{
    Connecting setup;
    ChainManager& chain = setup.chain;
    ChainThread& thread = setup.thread;
    CHECK(chain.Current().height == 7);
    CHECK(chain.Read().Tip()->height == 7);
    CHECK(chain.Read().Tree().BestHeader()->height == 20);
    const BlockHeader header =
        BlockHeader::FromBytes(setup.kit.Make(setup.kit.Genesis(), Salted(7)).raw.data());
    CHECK(!chain.AcceptHeader(header));

    std::promise<void> asked;
    auto height = std::async(std::launch::async, [&] {
        asked.set_value();
        return thread.Run([&] { return chain.Current().height; });
    });
    asked.get_future().wait();
    setup.scripts.gate.Open();
    const int32_t seen = height.get();
    CHECK(seen >= 8); // never in the middle of a block
    CHECK(seen <= 20);
    setup.connected.get();
    CHECK(chain.Current().height == 20);
}

TEST_CASE("a change that waits comes before the next block")
{
    Connecting setup;
    ChainManager& chain = setup.chain;
    ChainThread& thread = setup.thread;
    // A second task is known to wait once the first has been given from the same thread.
    std::vector<int32_t> heights;
    std::thread::id changer;
    auto first = std::async(std::launch::async, [&] {
        thread.Run([&] {
            changer = std::this_thread::get_id();
            heights.push_back(chain.Current().height);
            return 0;
        });
    });
    while (!thread.HasTasks()) std::this_thread::yield();
    setup.scripts.gate.Open();
    first.get();
    setup.connected.get();
    CHECK(heights == std::vector<int32_t>{8});
    CHECK(changer != std::this_thread::get_id());
    CHECK(chain.Current().height == 20);
}

TEST_CASE("calls that change the chain give their verdict, whoever connects")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    ChainManager& chain = *engine.chain;
    ChainThread thread(chain, NeverFatal);
    const auto process = [&](const KitBlock& block) {
        return Must(thread.Run([&] { return chain.ProcessBlock(block.raw); }));
    };
    const auto blocks = kit.MakeChain(kit.Genesis(), 3);
    for (const KitBlock& block : blocks) {
        const BlockOutcome outcome = process(block);
        CHECK(outcome.is_new);
        REQUIRE(outcome.verdict);
        CHECK(!*outcome.verdict);
    }
    CHECK(!process(blocks[1]).is_new);
    const KitBlock aside = kit.Make(kit.Genesis(), Salted(1)); // no verdict is needed
    CHECK(!process(aside).verdict);
    KitOptions greedy;
    greedy.reward = 51 * kCoin;
    const BlockOutcome refused = process(kit.Make(blocks.back(), greedy));
    REQUIRE(refused.verdict);
    REQUIRE(*refused.verdict);
    CHECK((*refused.verdict)->reason == "bad-cb-amount");
    CHECK(chain.Current() == TipInfo{blocks.back().hash, 3});
}

TEST_CASE("a failure to connect is reported, and the thread keeps serving")
{
    Unconnected setup(3);
    ChainManager& chain = *setup.engine.chain;
    chain.SetScriptChecker(nullptr); // an error, where scripts must be run
    std::vector<std::string> failures;
    ChainThread thread(chain, [&](const Error& error) {
        failures.push_back(error.message);
        setup.engine.interrupt = true;
    });
    thread.Activate();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].find("without a script engine") != std::string::npos);
    CHECK(thread.Run([&] { return chain.Current().height; }) == 0);
}

TEST_CASE("headers are read while coins are written")
{
    Unconnected setup(5);
    Gate gate;
    Must(setup.engine.chain->ActivateBestChain());
    ChainManager& chain = *setup.engine.chain;
    auto written = std::async(std::launch::async, [&] {
        return chain.VisitFlushed([&](CoinsDb&, const CoinsCache&) -> Result<> {
            gate.Pass(); // the writer still holds the coins
            return {};
        });
    });
    gate.WaitUntilReached();
    CHECK(chain.Current().height == 5);
    CHECK(chain.Read().Active().Height() == 5);
    gate.Open();
    Must(written.get());
    CHECK(chain.HoldCoins().Tip().height == 5);
}

} // namespace ibd::test
