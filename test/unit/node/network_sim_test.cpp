// Whole syncs on a simulated network, each from one seed: headers, blocks, the booster or serial
// validation, with twenty peers of which some send false blocks or headers, disconnect, stall or
// are slow; lost peers are replaced. Everything runs on one thread. IBD_SIM_SEEDS=1000 runs a
// thousand seeds; IBD_TEST_SEED=n begins with seed n.
#include "booster/booster_session.h"
#include "node/chain_for_peers.h"

#include "sim_net.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

size_t SeedsToRun(size_t usual)
{
    const char* const text = std::getenv("IBD_SIM_SEEDS");
    return text ? std::strtoul(text, nullptr, 10) : usual;
}

/** Stores and connects received blocks at once. */
class SerialSink final : public DownloadGoal, public BlockSink {
public:
    explicit SerialSink(ChainManager& chain) : m_chain(chain) {}

    const HeaderNode* NextMissing(int32_t after) const override
    {
        const ChainReader reader = m_chain.Read();
        const HeaderNode* const best = reader.Tree().BestHeader();
        const int32_t first = std::max(after, reader.Tip()->height) + 1;
        for (int32_t height = first; height <= best->height; ++height) {
            if (!best->Ancestor(height)->HasData()) return best->Ancestor(height);
        }
        return nullptr;
    }
    bool Have(const HeaderNode& node) const override
    {
        const ChainReader reader = m_chain.Read();
        return node.HasData();
    }
    int32_t WindowEnd() const override { return m_chain.Tip()->height + kDownloadWindow; }
    bool HasRoom(size_t) const override { return true; }
    bool Put(PeerBlock&& block) override
    {
        const BlockOutcome outcome = Must(m_chain.ProcessBlock(block.raw));
        if (outcome.violation || outcome.node != block.node) {
            m_refused.push_back(
                {block.node, block.peer,
                 outcome.violation.value_or(Violation(RuleViolation::Kind::kMutated, "other"))});
        }
        return true;
    }
    std::vector<RefusedBlock> TakeRefused() override { return std::exchange(m_refused, {}); }

private:
    ChainManager& m_chain;
    std::vector<RefusedBlock> m_refused;
};

/** The values that distinguish two runs of a seed. */
struct Trace {
    uint64_t steps = 0;
    int64_t time = 0;
    size_t liars = 0;
    size_t discouraged = 0; //!< liars in blocks or headers
    size_t caught_in_headers = 0;
    size_t replaced = 0;
    bool operator==(const Trace&) const = default;
};

Trace TraceOf(Net& net)
{
    return {net.Sim().Steps(),         net.Sim().Now(),       net.liars.size(),
            net.us.discouraged.size(), net.CaughtInHeaders(), net.replaced};
}

Trace SyncWithBooster(uint64_t seed, const Path& dir)
{
    sim::Rng rng(seed);
    Machine machine(TheWorld(), dir);
    FaultEnv env(rng());
    Must(machine.Open(env, false));
    Net net(machine.Chain(), sim::Rng(rng()), true);
    SteppedFetcher fetcher(net);
    const auto log = MakeNullLogger();
    BoosterSession booster(env, *log, TheWorld().params, {.booster = OneThread(machine)});
    Must(GiveHints(booster));
    booster.Attach(machine.Chain(), WithPeers(fetcher));
    CHECK(Must(booster.Run()) == VerdictKind::kDone);
    const auto progress = booster.Progress();
    REQUIRE(progress->download);
    CHECK(progress->download->received == kBlocks);
    net.CheckPunished();
    machine.RequireCoins();
    return TraceOf(net);
}

Trace SyncSerially(uint64_t seed, const Path& dir)
{
    sim::Rng rng(seed);
    Machine machine(TheWorld(), dir);
    FaultEnv env(rng());
    Must(machine.Open(env, false));
    Must(machine.Attach());
    Net net(machine.Chain(), sim::Rng(rng()), false);
    SerialSink sink(machine.Chain());
    net.us.Peers().DownloadInto(sink, sink);
    while (machine.Chain().Tip()->height < kBlocks) {
        REQUIRE(net.Sim().Step());
        REQUIRE(net.Sim().Now() < kStart * kSecond + kLongest);
    }
    net.CheckPunished();
    machine.RequireCoins();
    return TraceOf(net);
}

void RunSeeds(Trace (*sync)(uint64_t seed, const Path& dir), uint64_t first, const Path& base)
{
    const size_t seeds = SeedsToRun(30);
    Trace all;
    for (uint64_t seed = first; seed < first + seeds; ++seed) {
        CAPTURE(seed);
        const Path dir = base / fmt::format("{}", seed);
        const Trace trace = sync(seed, dir);
        all.liars += trace.liars;
        all.discouraged += trace.discouraged;
        all.caught_in_headers += trace.caught_in_headers;
        all.replaced += trace.replaced;
        std::filesystem::remove_all(dir);
    }
    // For each seed, a liar can lie only if a block is requested from it.
    CHECK(all.liars > 0);
    CHECK(2 * (all.discouraged - all.caught_in_headers) > all.liars); // some lie too late
    CHECK(all.caught_in_headers > 0);
    CHECK(all.replaced > 0);
}

} // namespace

TEST_CASE("a network of twenty peers, from a seed: a whole sync with the booster", "[network]")
{
    const TempDir dir{MemoryFolder()};
    const uint64_t first = TestRng()();
    CHECK(SyncWithBooster(first, dir / "a") == SyncWithBooster(first, dir / "b"));
    RunSeeds(SyncWithBooster, first + 1, dir.Get());
}

TEST_CASE("a network of twenty peers, from a seed: a whole serial sync", "[network]")
{
    const TempDir dir{MemoryFolder()};
    const uint64_t first = TestRng()();
    CHECK(SyncSerially(first, dir / "a") == SyncSerially(first, dir / "b"));
    RunSeeds(SyncSerially, first + 1, dir.Get());
}

} // namespace ibd::test
