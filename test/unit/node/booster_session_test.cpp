// BoosterSession with a network: it waits for headers, refuses hints that do not fit, continues
// after a kill at any moment, and logs the disk space that it needs. And the gate for hints, case
// by case.
#include "booster/headers_watch.h"

#include "sim_net.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** A network without peers. */
class NoPeers final : public BlockFetcher {
public:
    void Fetch(DownloadGoal&, BlockSink&) override {}
    void StopFetching() override {}
    void Wake() override {}
    size_t PeerCount() const override
    {
        if (asked) asked();
        return 0;
    }
    HeaderAnswers AskForLastHeaders() override { return {}; }

    std::function<void()> asked;
};

HintsInfo HintsAt(uint32_t height, const BlockHash& hash)
{
    HintsInfo info;
    info.terminal_height = height;
    info.terminal_hash = hash;
    return info;
}

/** The last of `count` more headers. */
HeaderNode* Extend(HeaderTree& tree, HeaderNode* node, int count)
{
    for (int i = 0; i < count; ++i) {
        BlockHeader header;
        header.prev_hash = node->hash;
        header.bits = node->bits;
        header.time = node->time + 600;
        node = tree.Insert(header, header.Hash());
    }
    return node;
}

/** A run on an empty directory. */
struct Start {
    explicit Start(const Path& dir, const Path& hints = TheWorld().dir / "hints")
        : machine(TheWorld(), dir), booster(env, log, params, {.booster = OneThread(machine)})
    {
        Must(machine.Open(env, false));
        Must(GiveHints(booster, hints));
    }
    Result<VerdictKind> Run(BlockFetcher& fetcher)
    {
        booster.Attach(machine.Chain(), WithPeers(fetcher));
        return booster.Run();
    }

    ChainParams params = TheWorld().params;
    Machine machine;
    FaultEnv env;
    KeptLog log;
    BoosterSession booster;
};

} // namespace

TEST_CASE("without a network, hints above the headers are refused")
{
    const TempDir dir{MemoryFolder()};
    Start start(dir / "node");
    start.booster.Attach(start.machine.Chain());
    const auto outcome = start.booster.Run();
    REQUIRE_FALSE(outcome);
    CHECK_THAT(outcome.Message(), Catch::Contains("above the best header at 0"));
}

TEST_CASE("while it waits for headers it says so, and can be stopped")
{
    const TempDir dir{MemoryFolder()};
    Start start(dir / "node");
    NoPeers fetcher;
    BoosterState state = BoosterState::kFold;
    int asked = 0;
    fetcher.asked = [&] {
        if (++asked == 2) state = start.booster.Progress()->state;
        if (asked == 3) start.booster.Interrupt();
    };
    CHECK(Must(start.Run(fetcher)) == VerdictKind::kInterrupted);
    CHECK(state == BoosterState::kWaiting);
    CHECK_THAT(start.log.Text(), Catch::Contains("waiting for headers: the best one must be two "
                                                 "weeks above height 200"));
    CHECK_THAT(start.log.Text(), Catch::Contains("no peers"));
}

TEST_CASE("headers have ended after all peers have sent theirs, and none came for a while")
{
    const HeaderAnswers none{.peers = 2, .complete = 0};
    const HeaderAnswers one{.peers = 2, .complete = 1};
    const HeaderAnswers all{.peers = 2, .complete = 2};
    const int64_t second = 1'000'000;
    HeadersWatch watch(0);
    CHECK_FALSE(watch.HaveEnded(5, all, 0));
    CHECK_FALSE(watch.HaveEnded(5, all, HeadersWatch::kSettleMicros - second));
    CHECK(watch.HaveEnded(5, all, HeadersWatch::kSettleMicros));
    // Progress restarts the timeout.
    const int64_t moved = HeadersWatch::kSettleMicros + second;
    CHECK_FALSE(watch.HaveEnded(6, all, moved));
    // A peer that never answers holds it up for a time, not for ever.
    CHECK_FALSE(watch.HaveEnded(6, one, moved + HeadersWatch::kPatienceMicros - second));
    CHECK(watch.HaveEnded(6, one, moved + HeadersWatch::kPatienceMicros));
    CHECK_FALSE(watch.HaveEnded(6, none, moved + 2 * HeadersWatch::kPatienceMicros));
}

TEST_CASE("hints that are off the chain are refused when the headers are there")
{
    const TempDir dir{MemoryFolder()};
    WriteHints(dir / "hints", TheWorld().params, TheWorld().unspent, BlockHash{});
    Start start(dir / "node", dir / "hints");
    Net net(start.machine.Chain(), sim::Rng(1), true);
    SteppedFetcher fetcher(net);
    CHECK(Must(start.Run(fetcher)) == VerdictKind::kSerial);
    CHECK_THAT(start.log.Text(), Catch::Contains("the hints are refused, and the sync continues "
                                                 "without them: hints file") &&
                                     Catch::Contains("but the best header chain has " +
                                                     TheWorld().terminal.ToHex() + " there"));
}

TEST_CASE("bytes that are still to be written are compared with the room on the disk")
{
    const TempDir dir{MemoryFolder()};
    Start start(dir / "node");
    start.params.assumed_blockchain_size_gb = 2'300'000'000; // a GB for each block, and more
    Net net(start.machine.Chain(), sim::Rng(1), true);
    SteppedFetcher fetcher(net);
    CHECK(Must(start.Run(fetcher)) == VerdictKind::kDone);
    CHECK_THAT(start.log.Text(),
               Catch::Contains("200 of 200 blocks are to be fetched from peers") &&
                   Catch::Contains("disk space may not suffice"));
}

TEST_CASE("stored and missing blocks in any mixture, and a death at any operation")
{
    const TempDir dir{MemoryFolder()};
    SyncDespiteDeaths(
        dir.Get(), {}, [](BoosterSession& booster) { return GiveHints(booster); }, [](Machine&) {});
}

TEST_CASE("full validation with hints: a death at any operation, and blocks that are lost")
{
    const TempDir dir{MemoryFolder()};
    for (const UndoWanted undo : {UndoWanted::kNo, UndoWanted::kYes}) {
        CAPTURE(undo);
        SyncDespiteDeaths(
            dir / fmt::format("{}", int(undo)), {.undo = undo},
            [](BoosterSession& booster) { return GiveHints(booster); }, [](Machine&) {}, true);
    }
}

TEST_CASE("the gate for hints: which headers they wait for, and when they are refused")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    HeaderTree tree(params);
    HeaderNode* const end = Extend(tree, tree.Genesis(), 100);
    const BlockHash other(Uint256::FromHex(std::string(64, '7')).value());
    ChainManagerOptions trust;
    trust.assume_valid = end->hash;
    const auto judge = [&](const HintsInfo& hints, int64_t now = 2'000'000'000) {
        return JudgeHints(hints, tree, trust, false, now);
    };
    const HintsInfo right = HintsAt(100, end->hash);
    // Not buried: more may come, unless the best header is of today.
    CHECK(judge(right).may_change);
    CHECK_FALSE(judge(right, int64_t{end->time} + 60).may_change);
    CHECK_THAT(judge(right).refusal, Catch::Contains("too recent"));
    CHECK(JudgeHints(right, tree, trust, true, 0).terminal == end);
    // Above the best header, or off its branch.
    CHECK(judge(HintsAt(101, end->hash)).may_change);
    CHECK(judge(HintsAt(100, other)).may_change);
    // Two weeks above.
    HeaderNode* const best = Extend(tree, end, 2'017);
    CHECK(judge(right).terminal == end);
    CHECK_FALSE(judge(HintsAt(100, other)).may_change);
    CHECK_THAT(judge(HintsAt(100, other)).refusal, Catch::Contains("the best header chain has"));
    CHECK(judge(HintsAt(3'000, end->hash)).may_change);
    // Too little work at any time; no assumed-valid block; an assumed-valid block whose header is
    // unknown.
    trust.minimum_work = best->chain_work + Arith256(1);
    CHECK(judge(right, int64_t{best->time} + 60).may_change);
    trust.minimum_work = Arith256();
    trust.assume_valid = BlockHash{};
    CHECK_FALSE(judge(right).may_change);
    CHECK(judge(right).terminal == nullptr);
    trust.assume_valid = other;
    CHECK(judge(right).may_change);
}

TEST_CASE(
    "the gate for full validation with -prune: as many blocks above as a reorganisation may take")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    HeaderTree tree(params);
    HeaderNode* const end = Extend(tree, tree.Genesis(), 100);
    ChainManagerOptions trust;
    trust.prune_target = 1;
    HintsInfo hints = HintsAt(100, end->hash);
    hints.path = "some.hints";
    const auto judge = [&](int64_t now) { return JudgeHints(hints, tree, trust, true, now); };
    const int64_t late = 2'000'000'000;
    CHECK(judge(late).terminal == nullptr);
    CHECK(judge(late).may_change);
    HeaderNode* const below = Extend(tree, end, 287);
    const HintsStanding refused = judge(int64_t{below->time} + 60);
    CHECK(refused.terminal == nullptr);
    CHECK_FALSE(refused.may_change);
    CHECK_THAT(refused.refusal,
               Catch::Contains("some.hints: the hints end at height 100, 287 blocks below the best "
                               "header") &&
                   Catch::Contains("288 blocks must be above it: take hints of a lower block"));
    Extend(tree, below, 1);
    CHECK(judge(late).terminal == end);
}

} // namespace ibd::test
