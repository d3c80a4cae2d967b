// Events: values reach every consumer in order on one thread, and the chain does not wait for them
// until too many are queued.
#include "node/commands.h"
#include "node/events.h"

#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

#include "support/catch.h"
#include <future>

namespace ibd::test {

namespace {

/** Records the events; blocks at the first one until released. */
class Recorder final : public EventConsumer {
public:
    void Take(const Event& event) override
    {
        if (seen.empty()) {
            m_reached.set_value();
            m_go.get_future().wait();
        }
        if (const auto* tip = std::get_if<TipEvent>(&event)) {
            seen.push_back(std::to_string(tip->tip.height) + (tip->downloading ? "d" : ""));
        }
        if (const auto* warning = std::get_if<WarningEvent>(&event)) seen.push_back(warning->text);
    }
    void WaitUntilReached() { m_reached.get_future().wait(); }
    void Go() { m_go.set_value(); }

    std::vector<std::string> seen;

private:
    std::promise<void> m_reached, m_go;
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
    Events events(warnings);
    std::vector<int> at_once;
    events.AddConsumer(slow);
    events.OnTip([&](const HeaderNode& tip) { at_once.push_back(tip.height); });
    events.Follow(*engine.chain);
    events.Start();
    engine.Start();
    slow.WaitUntilReached();
    for (const KitBlock& block : kit.MakeChain(kit.Genesis(), 5)) engine.Process(block.raw);
    events.WarningSet(NodeWarning::kInvalidChain, "text");
    events.WarningSet(NodeWarning::kInvalidChain, "not new");
    CHECK(warnings.Messages() == std::vector<std::string>{"text"}); // to be seen at once
    CHECK(at_once == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(slow.seen.empty());
    slow.Go();
    events.Drain();
    CHECK(slow.seen == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "text"});
    events.WarningCleared(NodeWarning::kInvalidChain);
    CHECK(warnings.Messages().empty());
    events.Stop();
    events.Drain(); // returns although the thread has ended
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
    commands.Take(TipEvent{{hash, 1}, true}); // no news during the initial download
    commands.Take(TipEvent{{hash, 2}, false});
    CHECK(!std::filesystem::exists(out)); // it was not waited for
    commands.Take(WarningEvent{NodeWarning::kInvalidChain, "it's; $(wrong)"});
    while (!std::filesystem::exists(dir.Get() / "done")) std::this_thread::yield();
    CHECK(ReadAll(out) == hash.ToHex() + " " + hash.ToHex() + "\n");
    CHECK(ReadAll(dir.Get() / "alert") == "its; (wrong)\n");
    commands.RunAndWait({"touch " + (dir.Get() / "waited").string(), "", "exit 3"});
    CHECK(std::filesystem::exists(dir.Get() / "waited"));
}

} // namespace ibd::test
