// Blocks that are fetched while the node waits for hints: a download that ends early must not delay
// the peers' thread, because it receives the hints.
#include "booster/block_prefetch.h"

#include "booster/booster_machine.h"
#include "net/wire/protocol.h"
#include "sim/block_draft.h"

#include <condition_variable>
#include <thread>

#include "support/catch.h"
#include "support/kept_log.h"

namespace ibd::test {

namespace {

/** Gives the goal and the sink to the test, which plays the thread of the peers. */
class HandedOver final : public BlockFetcher {
public:
    void Fetch(DownloadGoal& goal, BlockSink& sink) override
    {
        const std::lock_guard lock(m_mutex);
        m_goal = &goal;
        m_sink = &sink;
        m_changed.notify_all();
    }
    void StopFetching() override {}
    void Wake() override
    {
        const std::lock_guard lock(m_mutex);
        m_changed.notify_all();
    }
    size_t PeerCount() const override { return 1; }
    HeaderAnswers AskForLastHeaders() override { return {}; }

    /** Waits until there are a goal and a sink, and `look` accepts them. */
    template <typename Look>
    void WaitFor(Look look)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        std::unique_lock lock(m_mutex);
        // The end of the fetching does not wake the fetcher, so it is polled.
        while (!m_sink || !look(*m_goal, *m_sink)) {
            REQUIRE(std::chrono::steady_clock::now() < end);
            m_changed.wait_for(lock, std::chrono::milliseconds(20));
        }
    }
    DownloadGoal& Goal() { return *m_goal; }
    BlockSink& Sink() { return *m_sink; }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    DownloadGoal* m_goal = nullptr;
    BlockSink* m_sink = nullptr;
};

bool HasBegun(DownloadGoal&, BlockSink&) { return true; }

/** No more blocks are requested, and the queue accepts more than its bound: a block that must wait
 *  would delay all later messages of its peer. `top`: missing at first, like all blocks below. */
void RequireEndlessRoom(HandedOver& fetcher, const HeaderNode& top)
{
    fetcher.WaitFor([](DownloadGoal& goal, BlockSink&) { return goal.NextMissing(0) == nullptr; });
    constexpr int kRounds = int(2 * PeerBlockSupply::kQueueBytes / kMaxPayload);
    for (int round = 1; round <= kRounds; ++round) {
        CAPTURE(round);
        const HeaderNode& node = *top.Ancestor(top.height - round);
        REQUIRE(fetcher.Goal().Have(node));
        REQUIRE(fetcher.Sink().HasRoom(kMaxPayload));
        REQUIRE(fetcher.Sink().Put({&node, 1, Bytes(kMaxPayload)}));
    }
}

BlockPrefetchOptions Options(std::atomic<int>& failures)
{
    BlockPrefetchOptions options;
    options.sync_bytes = 1; // each block is made durable at once
    options.has_headers = [] { return true; };
    options.failed = [&failures] { ++failures; };
    return options;
}

/** A node that fetches the blocks of a network before hints. */
struct Prefetching {
    explicit Prefetching(World& world) : machine(world, world.dir / "node")
    {
        Must(machine.Open(env));
        prefetch.emplace(env, log, machine.Chain(), fetcher, Options(failures));
        fetcher.WaitFor(HasBegun);
    }

    Machine machine;
    FaultEnv env{1};
    HandedOver fetcher;
    KeptLog log;
    std::atomic<int> failures = 0;
    std::optional<BlockPrefetch> prefetch;
};

} // namespace

TEST_CASE("Blocks before hints: a block that breaks a rule ends them and holds nothing up")
{
    World world(2, 120, 2200);
    sim::BlockDraft draft = sim::BlockDraft::Of(world.blocks[120]);
    draft.Coinbase().outputs[0].value = -1;
    draft.Commit();
    draft.FixRoot();
    sim::Mine(draft.header, world.params);
    const Bytes bad = draft.ToBytes();
    world.blocks.resize(120);
    world.blocks.push_back(bad);
    world.terminal = draft.header.Hash();
    BlockHash last = world.terminal;
    uint32_t time = draft.header.time;
    while (world.blocks.size() < 120 + 2200) {
        BlockHeader header = draft.header; // only headers count above the bad block
        header.prev_hash = last;
        header.time = ++time;
        sim::Mine(header, world.params);
        last = header.Hash();
        const auto raw = header.ToBytes();
        world.blocks.emplace_back(raw.begin(), raw.end());
    }
    Prefetching node(world);
    HandedOver& fetcher = node.fetcher;
    const HeaderNode* const block = fetcher.Goal().NextMissing(119);
    REQUIRE(block->height == 120);
    REQUIRE(fetcher.Sink().Put({block, 1, bad}));
    RequireEndlessRoom(fetcher, *block);
    CHECK_THAT(node.log.Text(), Catch::Contains("fetches no more blocks meanwhile") &&
                                    Catch::Contains("bad-txns-vout-negative"));
    Must(node.prefetch->Stop());
    CHECK(node.failures == 0);
}

TEST_CASE("Blocks before hints: a failing disk ends them, is reported, and delays nothing")
{
    World world(3, 120, 2200);
    Prefetching node(world);
    HandedOver& fetcher = node.fetcher;
    node.env.CrashAt(node.env.Operations());
    const HeaderNode* const block = fetcher.Goal().NextMissing(119);
    REQUIRE(fetcher.Sink().Put({block, 1, world.blocks[size_t(block->height)]}));
    RequireEndlessRoom(fetcher, *block);
    while (node.failures == 0) std::this_thread::yield();
    CHECK_FALSE(node.prefetch->Stop().Ok());
}

TEST_CASE("Blocks before hints: what came before the end is stored")
{
    World world(4, 120, 2200);
    Prefetching node(world);
    HandedOver& fetcher = node.fetcher;
    std::vector<const HeaderNode*> sent;
    while (sent.size() < 50) {
        const HeaderNode* const block = fetcher.Goal().NextMissing(int32_t(sent.size()));
        REQUIRE(fetcher.Sink().Put({block, 1, world.blocks[size_t(block->height)]}));
        sent.push_back(block);
    }
    Must(node.prefetch->Stop());
    CHECK(node.failures == 0);
    for (const HeaderNode* block : sent) {
        CHECK(Must(node.machine.Chain().ReadBlock(*block)) == world.blocks[size_t(block->height)]);
    }
}

} // namespace ibd::test
