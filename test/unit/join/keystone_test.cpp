// The main property of the join: for any seed, order and supply of blocks, threads, memory, spills
// and moment of a kill, the hints equal those of a naive map, byte for byte.
#include "join_setup.h"

#include "support/aborts.h"
#include "support/testdata.h"

using namespace ibd;
using namespace ibd::test;

namespace {

class JoinSetup {
public:
    explicit JoinSetup(uint64_t seed, const TestChainOptions& shape = {}) : m_setup(seed, shape)
    {
        m_right = Must(ReadWholeFile(m_setup.CleanEnv(), m_setup.HintsPath()));
    }

    SyncSetup& Setup() { return m_setup; }
    Path Directory() const { return m_setup.Booster() / "join"; }
    Path Out() const { return m_dir.Get() / "out.hints"; }
    JoinOptions Options(unsigned threads, size_t memory) const
    {
        return MakeJoinOptions(Directory(), threads, memory);
    }

    Result<GeneratedHints> Join(Env& env, const JoinOptions& options)
    {
        FileBlockSupply files(env, m_setup.Blocks(), m_setup.Chain().Tip(), m_order);
        auto made = JoinFrom(env, files, options);
        m_by_strangers = false;
        return made;
    }
    Result<GeneratedHints> JoinFrom(Env& env, BlockSupply& supply, const JoinOptions& options)
    {
        m_sums = options.aggregate.has_value();
        m_by_strangers = true;
        return GenerateHints(env, m_setup.Log(), m_setup.Chain().Params(), m_setup.Chain().Tip(),
                             supply, options, m_stop, Out(), HintsFormat::kContainer1);
    }
    void RequireRight()
    {
        REQUIRE(Must(ReadWholeFile(m_setup.CleanEnv(), Out())) == m_right);
        if (m_sums) {
            const FirstPass found = FoundFirst();
            const FirstPass right = NaiveFirstPass(m_setup.Chain(), found.aggregate, found.salt);
            REQUIRE(found.sum == right.sum);
            // Strangers may change what no rule looks at for stored blocks: witnesses.
            if (!m_by_strangers) REQUIRE(found.checksums == right.checksums);
            REQUIRE(found.rules == right.rules);
            REQUIRE(found.terminal_hash == right.terminal_hash);
            Must(RemoveJoin(m_setup.CleanEnv(), Directory()));
        }
        RequireClean(Directory());
    }
    /** The result of a join with JoinOptions::aggregate. */
    FirstPass FoundFirst()
    {
        const auto state = Must(LoadJoinState(m_setup.CleanEnv(), Directory()));
        REQUIRE(state);
        auto found = FirstPassOf(*state);
        REQUIRE(found);
        return *found;
    }
    void Reset()
    {
        std::filesystem::remove(Out());
        std::filesystem::remove(Out().string() + ".incomplete");
        std::filesystem::remove_all(Directory());
    }
    std::atomic<bool>& Stop() { return m_stop; }

private:
    SyncSetup m_setup;
    const PlanOrder m_order = AnyOrder();
    TempDir m_dir{MemoryFolder()};
    Bytes m_right;
    bool m_sums = false;         //!< the last join did sum
    bool m_by_strangers = false; //!< its blocks come from peers
    std::atomic<bool> m_stop = false;
};

} // namespace

TEST_CASE("Join keystone: hints from blocks are the naive map's", "[keystone]")
{
    for (int round = 0; round < 20; ++round) {
        auto& rng = TestRng();
        const uint64_t seed = rng();
        TestChainOptions shape;
        shape.blocks = 25 + static_cast<uint32_t>(rng() % 150);
        shape.txs_per_block = 1 + static_cast<uint32_t>(rng() % 30);
        JoinSetup setup(seed, shape);
        for (const size_t memory : {size_t{1}, size_t{1} << 18, size_t{1} << 22}) {
            for (const unsigned threads : {1u, 2u, 3u}) {
                JoinOptions options = setup.Options(threads, memory);
                options.checkpoint_bytes = rng() % 2 ? 3'000 : uint64_t{1} << 40;
                options.checkpoint_seconds = rng() % 5 ? 60 : 0;
                if (rng() % 2) {
                    options.aggregate = rng() % 4 ? AggregateKind::kSha256 : AggregateKind::kMuHash;
                }
                CAPTURE(seed, shape.blocks, memory, threads, options.checkpoint_bytes);
                FaultEnv env(rng());
                RequireDone(setup.Join(env, options));
                setup.RequireRight();
                setup.Reset();
            }
        }
    }
}

TEST_CASE("Join keystone: the booster takes the hints that a join makes", "[keystone]")
{
    JoinSetup setup(TestRng()());
    FaultEnv env(1);
    JoinOptions options = setup.Options(2, 1 << 16);
    const bool sums = GENERATE(false, true);
    if (sums) options.aggregate = AggregateKind::kSha256;
    RequireDone(setup.Join(env, options));
    if (sums) {
        const auto state = Must(LoadJoinState(env, setup.Directory()));
        CHECK(state->stage == JoinStage::kHinted);
        CHECK(state->AllSpills().empty());
        setup.Setup().First() = setup.FoundFirst();
    }
    std::filesystem::copy_file(setup.Out(), setup.Setup().HintsPath(),
                               std::filesystem::copy_options::overwrite_existing);
    const auto verdict = setup.Setup().Sync(env, setup.Setup().Options(2));
    if (!verdict) FAIL(verdict.Message());
    REQUIRE(verdict->kind == VerdictKind::kDone);
    setup.Setup().RequireRight();
}

TEST_CASE("Join keystone: killed at any operation and resumed, whoever brings the blocks",
          "[keystone]")
{
    auto& rng = TestRng();
    const uint64_t seed = rng();
    CAPTURE(seed);
    JoinSetup setup(seed);
    JoinOptions options = setup.Options(1, 1 << 16);
    options.checkpoint_bytes = 6'000;
    options.aggregate = AggregateKind::kSha256;
    for (const bool strangers : {false, true}) {
        const auto join = [&](Env& env) {
            if (!strangers) return setup.Join(env, options);
            sim::LyingSupply supply = setup.Setup().Strangers({.seed = rng()});
            auto made = setup.JoinFrom(env, supply, options);
            CHECK(supply.Mistakes() == 0);
            return made;
        };
        FaultEnv counting(rng());
        RequireDone(join(counting));
        setup.RequireRight();
        setup.Reset();
        CAPTURE(strangers);
        DieAtRandomOperations(
            options, counting.Operations(), join,
            // The last rename may have been done when the sync of its folder failed.
            [&] { return std::filesystem::exists(setup.Out()); },
            [&](bool done, Env& env) {
                if (!done) RequireDone(join(env));
                REQUIRE(std::filesystem::exists(setup.Out()));
                setup.RequireRight();
                setup.Reset();
            });
    }
}

TEST_CASE("Join keystone: a death, and a failure, at any operation of a small join", "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 22;
    shape.txs_per_block = 3;
    JoinSetup setup(7, shape);
    JoinOptions options = setup.Options(1, 1 << 16);
    options.checkpoint_bytes = 9'000;
    options.aggregate = AggregateKind::kSha256;
    FailAtEachOperation([&](Env& env) { return setup.Join(env, options); },
                        [&](Env& after) {
                            if (!std::filesystem::exists(setup.Out())) {
                                RequireDone(setup.Join(after, options));
                            }
                            setup.RequireRight();
                        },
                        [&] { setup.Reset(); });
}

TEST_CASE("Join: hints have their name before what they are made of goes", "[keystone]")
{
    JoinSetup setup(TestRng()());
    JoinOptions options = setup.Options(1, 1 << 12);
    options.pairs = true;
    FaultEnv env, clean;
    bool events_go = false, named = true;
    env.SetScript([&](const FaultEnv::Operation&) {
        const auto state = LoadJoinState(clean, setup.Directory());
        if (!state || !*state || (*state)->stage == JoinStage::kReading) return false;
        events_go = true;
        named = named && std::filesystem::exists(setup.Out());
        return false;
    });
    RequireDone(setup.Join(env, options));
    REQUIRE(events_go);
    REQUIRE(named);
}

TEST_CASE("A join that is stopped goes on where it was", "[keystone]")
{
    JoinSetup setup(TestRng()());
    JoinOptions options = setup.Options(1, 1 << 16);
    FaultEnv env;
    uint64_t reads = 0;
    env.SetScript([&](const FaultEnv::Operation& op) {
        if (op.kind == "read" && ++reads == 30) setup.Stop() = true;
        return false;
    });
    const auto made = setup.Join(env, options);
    REQUIRE(made.Ok());
    REQUIRE(made->verdict.kind == VerdictKind::kInterrupted);
    REQUIRE_FALSE(std::filesystem::exists(setup.Out()));
    const auto kept = Must(LoadJoinState(env, setup.Directory()));
    REQUIRE(kept);
    REQUIRE(kept->BlocksRead() > 1);
    setup.Stop() = false;
    FaultEnv after;
    RequireDone(setup.Join(after, options));
    setup.RequireRight();
}

TEST_CASE("What a join keeps for the fold is no join to go on with", "[keystone]")
{
    JoinSetup setup(TestRng()());
    JoinOptions options = setup.Options(1, 1 << 16);
    options.aggregate = AggregateKind::kSha256;
    FaultEnv env;
    RequireDone(setup.Join(env, options));
    const FirstPass before = setup.FoundFirst();
    std::filesystem::remove(setup.Out()); // the hints are lost
    RequireDone(setup.Join(env, options));
    CHECK(setup.FoundFirst().salt != before.salt);
    setup.RequireRight();
}

TEST_CASE("The state of a join: round trip, and every changed byte or length is refused")
{
    JoinSetup setup(TestRng()(), {.blocks = 22, .txs_per_block = 1});
    FaultEnv env;
    for (const auto kind : {AggregateKind::kSha256, AggregateKind::kMuHash}) {
        JoinOptions options = setup.Options(1, 1 << 16);
        options.aggregate = kind;
        RequireDone(setup.Join(env, options));
        const JoinState state = *Must(LoadJoinState(env, setup.Directory()));
        Bytes bytes = state.Encode();
        const JoinState read = Must(JoinState::Decode(bytes));
        CHECK(read.Encode() == bytes);
        CHECK(read.aggregate == kind);
        CHECK(read.salt == state.salt);
        CHECK(read.sum == state.sum);
        CHECK(read.checksums == state.checksums);
        JoinState other = state; // a spill that could not be read back is not written
        other.outputs.pop_back();
        CHECK(Aborts([&] { (void)other.Encode(); }));
        other = state;
        other.checksums.emplace_back();
        CHECK(Aborts([&] { (void)other.Encode(); }));
        for (size_t at = 0; at < bytes.size(); ++at) {
            bytes[at] ^= 0x40;
            REQUIRE_FALSE(JoinState::Decode(bytes).Ok());
            bytes[at] ^= 0x40;
            REQUIRE_FALSE(JoinState::Decode(ByteSpan(bytes).first(at)).Ok());
        }
        setup.Reset();
    }
}

TEST_CASE("Bit rot in what a join keeps is noticed, and it starts over", "[keystone]")
{
    JoinSetup setup(TestRng()());
    const JoinOptions options = setup.Options(1, 1 << 16);
    FaultEnv env;
    bool rotten = true;
    env.CorruptReads([&](const Path& path) {
        const bool spill = path.filename().string().starts_with("spill");
        return spill && std::exchange(rotten, false); // once: the disk is sound otherwise
    });
    RequireDone(setup.Join(env, options));
    REQUIRE_FALSE(rotten);
    setup.RequireRight();
    setup.Reset();
    env.CorruptReads(
        [&](const Path& path) { return path.filename().string().starts_with("spill"); });
    const auto made = setup.Join(env, options);
    REQUIRE_FALSE(made.Ok());
    CHECK(made.Message().find("does not keep written data") != std::string::npos);
}

TEST_CASE("Hints are not written over another file, nor without room for the spills", "[keystone]")
{
    JoinSetup setup(TestRng()());
    const JoinOptions options = setup.Options(1, 1 << 16);
    FaultEnv env;
    Overwrite(setup.Out(), AsBytes("mine"));
    const auto made = setup.Join(env, options);
    REQUIRE_FALSE(made.Ok());
    CHECK(made.Message().find("exists already") != std::string::npos);
    CHECK(Must(ReadWholeFile(env, setup.Out())) == Bytes{'m', 'i', 'n', 'e'});
    setup.Reset();
    env.SetSpace(10);
    const auto cramped = setup.Join(env, options);
    REQUIRE(cramped.Ok());
    CHECK(cramped->verdict.kind == VerdictKind::kNoRoom);
    CHECK(cramped->verdict.reason.find("but the join needs about") != std::string::npos);
}

TEST_CASE("What the partitions give needs room when all blocks are read, too", "[keystone]")
{
    JoinSetup setup(TestRng()(), {.blocks = 300});
    JoinOptions options = setup.Options(1, 1 << 16);
    options.pairs = options.values = true;
    FaultEnv env;
    env.SetScript([](const FaultEnv::Operation& operation) {
        const std::string name = operation.path.filename().string();
        return name.starts_with("spill") && std::stoul(name.substr(5)) >= kPassingSpills;
    });
    REQUIRE_FALSE(setup.Join(env, options).Ok());
    FaultEnv small;
    small.SetSpace(10); // bytes
    const auto cramped = Must(setup.Join(small, options));
    CHECK(cramped.verdict.kind == VerdictKind::kNoRoom);
    const auto kept = Must(LoadJoinState(small, setup.Directory()));
    CHECK(kept->BlocksRead() == kept->outputs.size());
    FaultEnv roomy;
    roomy.SetSpace(uint64_t{1} << 40);
    CHECK(Must(setup.Join(roomy, options)).verdict.kind == VerdictKind::kDone);
}
