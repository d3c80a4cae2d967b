// Waits for headers that are never sent, on a simulated network from seeds: the chain of all peers
// ends below the awaited block, while some peers lie, stall, disconnect or are slow. Each wait must
// end, or report the awaited event. Time is the network's own.
#include "sim_net.h"

namespace ibd::test {

namespace {

/** Lets simulated time pass at each look at the headers, also when no more come. */
class PassingTime final : public SteppedFetcher {
public:
    explicit PassingTime(Net& net) : SteppedFetcher(net), m_net(net) {}

    /** Called at each look. */
    size_t PeerCount() const override
    {
        if (at_look) at_look();
        const int64_t until = m_net.Sim().Now() + kBetweenLooks;
        while (!Fetches() && m_net.Sim().Now() < until) Step();
        return m_net.us.Peers().Count();
    }

    std::function<void()> at_look;

private:
    // Few looks, because each also takes real time. Longer than the wait for late peers.
    static constexpr int64_t kBetweenLooks = 60 * kSecond;

    Net& m_net;
};

/** A node without blocks and its peers. */
struct Node {
    Node(const Path& dir, uint64_t seed, const OwnHintsOptions& own = {}, bool tail = true,
         std::optional<BlockHash> assume_valid = {}, bool full = false)
        : machine(TheWorld(), dir), env(seed),
          booster(env, log, TheWorld().params, {.booster = Options(machine, full), .own = own})
    {
        machine.assume_valid = assume_valid;
        machine.expects_more_headers = true;
        env.SetSpace(uint64_t{1} << 40);
        Must(machine.Open(env, false));
        net.emplace(machine.Chain(), sim::Rng(seed), tail);
        fetcher.emplace(*net);
        env.SetClock([this] { return net->Sim().Now(); });
    }
    static BoosterOptions Options(const Machine& machine, bool full)
    {
        BoosterOptions options = OneThread(machine);
        options.full_validation = full;
        return options;
    }
    VerdictKind Run()
    {
        booster.Attach(machine.Chain(), WithPeers(*fetcher));
        return Must(booster.Run());
    }

    Machine machine;
    FaultEnv env;
    KeptLog log;
    BoosterSession booster;
    std::optional<Net> net;
    std::optional<PassingTime> fetcher;
};

constexpr uint64_t kSeeds = 4;
const OwnHintsOptions kAsked{.mode = OwnHintsOptions::Mode::kAsked};

/** Seeds one after another, each with a folder. */
template <typename Run>
void ForSeeds(Run run)
{
    const TempDir dir{MemoryFolder()};
    const uint64_t first = TestRng()();
    for (uint64_t seed = first; seed < first + kSeeds; ++seed) {
        CAPTURE(seed);
        run(dir / fmt::format("{}", seed), seed);
    }
}

} // namespace

TEST_CASE("headers end: an assumed-valid block near the end of all chains", "[headers_end]")
{
    ForSeeds([](const Path& dir, uint64_t seed) {
        const size_t last = TheWorld().blocks.size() - 1;
        Node node(dir, seed, kAsked, true, TheWorld().Header(last).Hash());
        CHECK(node.Run() == VerdictKind::kDone);
        CHECK_THAT(node.log.Text(),
                   Catch::Contains(fmt::format("the headers end at height {}: ", last)));
        // The highest block that is buried, and all blocks up to there.
        Must(node.machine.Attach());
        const auto tip = size_t(node.machine.Chain().Tip()->height);
        CHECK(tip > size_t(kBlocks));
        CHECK(tip < last);
        CHECK_THAT(node.log.Text(), Catch::Contains(fmt::format("up to height {}", tip)));
    });
}

TEST_CASE("headers end: an assumed-valid block on no chain is not awaited", "[headers_end]")
{
    ForSeeds([](const Path& dir, uint64_t seed) {
        const auto nowhere = Uint256::FromHex(std::string(64, '5'));
        Node node(dir, seed, kAsked, true, nowhere);
        CHECK(node.Run() == VerdictKind::kSerial);
        CHECK_THAT(node.log.Text(),
                   Catch::Contains("the sync continues without it: no stored block may be assumed "
                                   "valid (assumevalid hash not in headers)"));
    });
}

TEST_CASE("headers end: full validation takes the highest block that is buried", "[headers_end]")
{
    const TempDir dir{MemoryFolder()};
    Node node(dir / "node", TestRng()(), kAsked, true, {}, true);
    CHECK(node.Run() == VerdictKind::kDone);
    CHECK_THAT(node.log.Text(), Catch::Contains("the headers end at height"));
    Must(node.machine.Attach());
    CHECK(node.machine.Chain().Tip()->height > kBlocks);
}

TEST_CASE("headers end: where they end below the hints, the log says it once", "[headers_end]")
{
    const size_t last = TheWorld().blocks.size() - 1;
    const size_t above = last + 100;
    const TempDir dir{MemoryFolder()};
    const std::vector<std::vector<uint8_t>> unspent(above + 1, {1});
    WriteHints(dir / "hints", TheWorld().params, unspent, *Uint256::FromHex(std::string(64, '5')));
    Node node(dir / "node", TestRng()());
    Must(GiveHints(node.booster, dir / "hints"));
    const std::string line = fmt::format("the best header is at height {}, and the hints end above "
                                         "it, at height {}: waiting for a peer with a longer chain",
                                         last, above);
    int looks_after = 0;
    node.fetcher->at_look = [&] {
        looks_after += node.log.Text().find(line) != std::string::npos;
        if (looks_after == 3) node.booster.Interrupt();
    };
    CHECK(node.Run() == VerdictKind::kInterrupted);
    const std::string text = node.log.Text();
    const size_t found = text.find(line);
    REQUIRE(found != std::string::npos);
    CHECK(text.find(line, found + 1) == std::string::npos);
}

TEST_CASE("headers end: hints that end too near to the end of all chains are not awaited",
          "[headers_end]")
{
    ForSeeds([](const Path& dir, uint64_t seed) {
        Node node(dir, seed, {}, false); // peers end where the hints end
        Must(GiveHints(node.booster));
        CHECK(node.Run() == VerdictKind::kSerial);
        CHECK_THAT(
            node.log.Text(),
            Catch::Contains(fmt::format("the headers end at height {}: ", kBlocks)) &&
                Catch::Contains("the hints are refused, and the sync continues without them"));
    });
}

} // namespace ibd::test
