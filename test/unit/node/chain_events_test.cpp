// ChainEvents: the chain's changes as values, in order, while the chain continues. Commands.
#include "node/chain_events.h"
#include "node/commands.h"

#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

#include "support/catch.h"
#include <future>
#include <utility>

namespace ibd::test {

namespace {

/** Follows the coins by the events of blocks. */
struct FollowedBlocks {
    void Connect(const BlockConnected& block)
    {
        right = right && block.height == static_cast<int32_t>(chain.size()) &&
                (chain.empty() || block.prev_hash == chain.back());
        chain.push_back(block.hash);
    }
    void Disconnect(const BlockDisconnected& block)
    {
        right = right && chain.size() > 1 && block.hash == chain.back() &&
                block.prev_hash == chain[chain.size() - 2];
        chain.pop_back();
        ++disconnected;
    }

    std::vector<BlockHash> chain;
    bool right = true; //!< each event fitted the ones before it
    int disconnected = 0;
};

/** Records the events; blocks at the first one until released. */
class Recorder final : public EventConsumer {
public:
    void Take(const Event& event) override
    {
        if (!std::exchange(m_begun, true)) {
            m_reached.set_value();
            m_go.get_future().wait();
        }
        if (const auto* tip = std::get_if<TipChanged>(&event)) {
            seen.push_back(std::to_string(tip->tip.height) + (tip->downloading ? "d" : ""));
        }
        if (const auto* warning = std::get_if<WarningRaised>(&event)) {
            seen.push_back(warning->text);
        }
        if (const auto* block = std::get_if<BlockConnected>(&event)) blocks.Connect(*block);
        if (const auto* block = std::get_if<BlockDisconnected>(&event)) blocks.Disconnect(*block);
    }
    void WaitUntilReached() { m_reached.get_future().wait(); }
    void Go() { m_go.set_value(); }

    std::vector<std::string> seen;
    FollowedBlocks blocks;

private:
    bool m_begun = false;
    std::promise<void> m_reached, m_go;
};

/** Records the heights of tips, with "again" where the chain has no new block. */
class Tips final : public EventConsumer {
public:
    void Take(const Event& event) override
    {
        const auto& tip = std::get<TipChanged>(event);
        seen.push_back(std::to_string(tip.tip.height) + (tip.has_new_blocks ? "" : " again"));
    }

    std::vector<std::string> seen;
};

/** A chain whose events a consumer gets. */
struct Observed {
    Observed(EventConsumer& consumer, EventKinds kinds)
    {
        events.AddConsumer(consumer, {kinds, WhenFull::kBlock, 2});
        observer.Follow(*engine.chain);
        events.Start();
        engine.Start();
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    const TempDir dir;
    Engine engine{params, dir.Get() / "data"};
    NodeWarnings warnings;
    Events events;
    ChainEvents observer{events, warnings};
};

std::string ReadAll(const Path& path)
{
    const Bytes bytes = ReadTestFile(path.string());
    return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("the chain goes on while a consumer is stuck, which then gets all in order")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    ChainManagerOptions options;
    options.max_tip_age = int64_t{100} * 365 * 24 * 60 * 60; // the kit's blocks are old
    Engine engine(params, dir.Get() / "data", options);
    NodeWarnings warnings;
    Recorder slow;
    Events events;
    ChainEvents observer(events, warnings);
    std::vector<int> at_once;
    events.AddConsumer(slow, {.kinds = EventKinds::Of<TipChanged, WarningRaised>()});
    observer.OnTip([&](const HeaderNode& tip) { at_once.push_back(tip.height); });
    observer.Follow(*engine.chain);
    events.Start();
    engine.Start();
    slow.WaitUntilReached();
    for (const KitBlock& block : kit.MakeChain(kit.Genesis(), 5)) engine.Process(block.raw);
    observer.WarningSet(NodeWarning::kInvalidChain, "text");
    observer.WarningSet(NodeWarning::kInvalidChain, "not new");
    CHECK(warnings.Messages() == std::vector<std::string>{"text"}); // to be seen at once
    CHECK(at_once == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(slow.seen.empty());
    slow.Go();
    events.Drain();
    CHECK(slow.seen == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "text"});
    observer.WarningCleared(NodeWarning::kInvalidChain);
    CHECK(warnings.Messages().empty());
    events.Stop();
    events.Drain(); // returns although the thread has ended
}

TEST_CASE("the events of blocks follow the coins through a reorganisation")
{
    Recorder follower;
    follower.Go();
    Observed chain(follower, EventKinds::Of<BlockConnected, BlockDisconnected, TipChanged>());
    const BlockKit& kit = chain.kit;
    Engine& engine = chain.engine;
    const std::vector<KitBlock> first = kit.MakeChain(kit.Genesis(), 4);
    for (const KitBlock& block : first) engine.Process(block.raw);
    for (const KitBlock& block : kit.MakeChain(first[1], 5, 1)) engine.Process(block.raw);
    chain.events.Drain();
    CHECK(follower.blocks.right);
    CHECK(follower.blocks.disconnected == 2);
    REQUIRE(follower.blocks.chain.size() == 8);
    CHECK(follower.blocks.chain.back() == engine.chain->Current().hash);
    CHECK(chain.events.Dropped(follower) == 0);
}

TEST_CASE("a tip without new blocks is marked")
{
    Tips tips;
    Observed chain(tips, EventKinds::Of<TipChanged>());
    const BlockKit& kit = chain.kit;
    Engine& engine = chain.engine;
    const std::vector<KitBlock> first = kit.MakeChain(kit.Genesis(), 3);
    for (const KitBlock& block : first) engine.Process(block.raw);
    KitOptions options;
    options.salt = 1;
    const KitBlock other = kit.Make(first[1], options);
    options.reward = 100 * kCoin;
    const KitBlock bad = kit.Make(other, options);
    engine.Process(other.raw);
    engine.Process(bad.raw); // tries the branch, and goes back
    CHECK(engine.chain->Current().hash == first[2].hash);
    for (const KitBlock& block : kit.MakeChain(other, 2, 2)) engine.Process(block.raw);
    chain.events.Drain();
    CHECK(tips.seen == std::vector<std::string>{"0", "1", "2", "3", "3 again", "4", "5"});
    chain.events.Stop();
}

TEST_CASE("a command runs for a tip once")
{
    const TempDir dir;
    const Path out = dir.Get() / "out";
    const auto log = MakeNullLogger();
    Commands commands({"echo %s >> " + out.string(), ""}, *log);
    BlockHash tip;
    tip.data()[0] = 1;
    commands.Take(TipChanged{{tip, 1}});
    commands.Take(TipChanged{{tip, 1}, false, false});
    BlockHash lower;
    while (!std::filesystem::exists(out)) std::this_thread::yield();
    commands.Take(TipChanged{{lower, 0}, false, false});
    const auto lines = [&] { return std::ranges::count(ReadAll(out), '\n'); };
    while (lines() < 2) std::this_thread::yield();
    CHECK(ReadAll(out) == tip.ToHex() + "\n" + lower.ToHex() + "\n");
}

TEST_CASE("commands are started in order with what they are about")
{
    const TempDir dir;
    const Path out = dir.Get() / "out";
    const auto log = MakeNullLogger();
    // Started in the background, each waits until the file that the one before it makes is there.
    const std::string block = "while [ ! -e " + (dir.Get() / "go").string() +
                              " ]; do sleep 0.01; done; echo '%s %s' > " + out.string() +
                              "; touch " + (dir.Get() / "done").string();
    Commands commands({block, "echo %s > " + (dir.Get() / "alert").string() + "; touch " +
                                  (dir.Get() / "go").string()},
                      *log);
    BlockHash hash;
    hash.data()[0] = 7;
    commands.Take(TipChanged{{hash, 1}, true}); // no news during the initial download
    MissedEvents missed;
    commands.Missed(missed); // no tip among them
    missed.tip = TipChanged{{hash, 2}, false};
    commands.Missed(missed); // the command is started for the last one
    CHECK(!std::filesystem::exists(out)); // it was not waited for
    commands.Take(WarningRaised{NodeWarning::kInvalidChain, "it's; $(wrong)"});
    while (!std::filesystem::exists(dir.Get() / "done")) std::this_thread::yield();
    CHECK(ReadAll(out) == hash.ToHex() + " " + hash.ToHex() + "\n");
    CHECK(ReadAll(dir.Get() / "alert") == "its; (wrong)\n");
    commands.RunAndWait({"touch " + (dir.Get() / "waited").string(), "", "exit 3"});
    CHECK(std::filesystem::exists(dir.Get() / "waited"));
}

} // namespace ibd::test
