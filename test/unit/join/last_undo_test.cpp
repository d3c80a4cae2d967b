// Undo data of only the last blocks: for any seed, order and supply of blocks, threads, memory,
// moment of a kill and kept files of a join, the records equal those of a walk over a map.
#include "join/wanted_coins.h"
#include "undo_setup.h"

using namespace ibd;
using namespace ibd::test;

namespace {

UndoSetup RandomSetup()
{
    TestChainOptions shape;
    shape.blocks = 25 + static_cast<uint32_t>(TestRng()() % 150);
    shape.txs_per_block = 1 + static_cast<uint32_t>(TestRng()() % 30);
    return UndoSetup(TestRng()(), shape);
}

int32_t RandomFirst(UndoSetup& setup)
{
    return 1 + static_cast<int32_t>(TestRng()() % setup.Right().size());
}

/** Leaves what a join leaves, or a rebuild that was ended on its way. */
void KeepJoin(UndoSetup& setup, const UndoOptions& options, bool rebuilding = false)
{
    FaultEnv env;
    if (rebuilding) {
        setup.Kept().fails_at = RandomFirst(setup);
        REQUIRE_FALSE(setup.Rebuild(env, options).Ok());
        setup.Kept().fails_at = 0;
    } else {
        setup.KeepPairs(options.join);
    }
    const auto kept = Must(LoadJoinState(env, setup.Directory()));
    REQUIRE(kept->stage == JoinStage::kPaired);
    REQUIRE((kept->fetched_to > 0) == rebuilding);
}

bool IsSpill(const Path& path) { return path.filename().string().starts_with("spill"); }
bool IsBlock(const Path& path) { return path.filename().string().starts_with("blk"); }

} // namespace

TEST_CASE("Last undo keystone: records of the last blocks are a serial walk's", "[keystone]")
{
    for (int round = 0; round < 8; ++round) {
        UndoSetup setup = RandomSetup();
        for (const size_t memory : {size_t{1}, size_t{1} << 14, size_t{1} << 22}) {
            for (const unsigned threads : {1u, 2u, 3u}) {
                const int32_t first = RandomFirst(setup);
                CAPTURE(round, setup.Right().size(), memory, threads, first);
                FaultEnv env(TestRng()());
                RequireDone(setup.RebuildLast(env, setup.Options(threads, memory), first));
                setup.RequireRightLast();
                RequireClean(setup.Directory());
                setup.Reset();
            }
        }
    }
}

TEST_CASE("With too small a table the blocks are read once for each part", "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 100;
    shape.txs_per_block = 30;
    UndoSetup setup(TestRng()(), shape);
    const auto opened = [&](size_t memory) {
        FaultEnv env;
        uint64_t count = 0;
        env.SetScript([&](const FaultEnv::Operation& op) {
            count += op.kind == "read" && IsBlock(op.path);
            return false;
        });
        RequireDone(setup.RebuildLast(env, setup.Options(1, memory), 50));
        setup.RequireRightLast();
        setup.Reset();
        return count;
    };
    CHECK(opened(1) > 3 * opened(1 << 22));
}

TEST_CASE("What a join has kept gives the last undo data, and stays for the rest", "[keystone]")
{
    for (const bool rebuilding : {false, true}) {
        for (const unsigned threads : {1u, 2u}) {
            UndoSetup setup = RandomSetup();
            const UndoOptions options = setup.Options(threads, 1 << 16);
            KeepJoin(setup, options, rebuilding);
            const int32_t first = RandomFirst(setup);
            CAPTURE(rebuilding, threads, first);
            FaultEnv env;
            std::set<std::string> before, after;
            const auto names = [&](std::set<std::string>& out) {
                for (auto& name : Must(env.List(setup.Directory()))) out.insert(name);
            };
            names(before);
            RequireDone(setup.RebuildLast(env, options, first));
            setup.RequireRightLast();
            names(after);
            if (!rebuilding) CHECK(before == after);
            CHECK(std::includes(before.begin(), before.end(), after.begin(), after.end()));
            CHECK(Must(LoadJoinState(env, setup.Directory()))->SaysWhatIsSpent());
            RequireDone(setup.Rebuild(env, options));
            setup.RequireRight();
        }
    }
}

TEST_CASE("With what a join has kept, blocks that make no coin for the last ones are not read",
          "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 400;
    shape.txs_per_block = 2;
    UndoSetup setup(TestRng()(), shape);
    const UndoOptions options = setup.Options(1, 1 << 20);
    const auto blocks_read = [&] {
        FaultEnv env;
        uint64_t count = 0;
        env.SetScript([&](const FaultEnv::Operation& op) {
            count += op.kind == "read" && IsBlock(op.path);
            return false;
        });
        RequireDone(setup.RebuildLast(env, options, 399));
        setup.RequireRightLast();
        return count;
    };
    KeepJoin(setup, options);
    CHECK(blocks_read() < 40);
}

TEST_CASE("Damaged pairs do not keep the last undo data from being made", "[keystone]")
{
    UndoSetup setup = RandomSetup();
    const UndoOptions options = setup.Options(1, 1 << 16);
    KeepJoin(setup, options);
    FaultEnv env;
    env.CorruptReads([](const Path& path) { return path.filename() == "spill000000.dat"; });
    const auto verdict = setup.RebuildLast(env, options, RandomFirst(setup));
    RequireDone(verdict);
    setup.RequireRightLast();
}

TEST_CASE("Last undo keystone: killed at any operation and repeated", "[keystone]")
{
    UndoSetup setup(TestRng()());
    UndoOptions options = setup.Options(1, 1 << 16);
    constexpr int32_t kFirst = 25;
    for (const bool kept : {false, true}) {
        CAPTURE(kept);
        const auto prepare = [&] {
            setup.Reset();
            if (kept) KeepJoin(setup, options);
        };
        const auto rebuild = [&](Env& env) { return setup.RebuildLast(env, options, kFirst); };
        prepare();
        FaultEnv counting;
        RequireDone(rebuild(counting));
        prepare();
        DieAtRandomOperations(
            options.join, counting.Operations(), rebuild,
            [&] {
                setup.Last().Keep(TestRng()() % (setup.Right().size() - kFirst + 2));
                return setup.Last().NextHeight() > static_cast<int32_t>(setup.Right().size());
            },
            [&](bool done, Env& env) {
                if (!done) RequireDone(rebuild(env));
                setup.RequireRightLast();
                RequireDone(setup.Rebuild(env, options));
                setup.RequireRight();
                prepare();
            });
    }
}

TEST_CASE("Last undo keystone: every single crash point, and every single failure", "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 30;
    shape.txs_per_block = 3;
    UndoSetup setup(7, shape);
    const UndoOptions options = setup.Options(1, 1 << 16);
    for (const bool kept : {false, true}) {
        CAPTURE(kept);
        const auto reset = [&] {
            setup.Reset();
            if (kept) KeepJoin(setup, options);
        };
        reset();
        FailAtEachOperation([&](Env& env) { return setup.RebuildLast(env, options, 20); },
                            [&](Env& after) {
                                RequireDone(setup.RebuildLast(after, options, 20));
                                setup.RequireRightLast();
                                RequireDone(setup.Rebuild(after, options));
                                setup.RequireRight();
                            },
                            reset);
    }
}

TEST_CASE("The last undo data is stopped soon, and leaves nothing behind", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const UndoOptions options = setup.Options(1, 1 << 16);
    int interrupted = 0;
    for (uint64_t at = 1; at < 60; ++at) {
        CAPTURE(at);
        FaultEnv env;
        uint64_t reads = 0, later = 0;
        env.SetScript([&](const FaultEnv::Operation& op) {
            later += setup.Stop() && op.kind == "read";
            if (op.kind == "read" && ++reads == at) setup.Stop() = true;
            return false;
        });
        const auto verdict = Must(setup.RebuildLast(env, options, 20));
        interrupted += verdict.kind == VerdictKind::kInterrupted;
        CHECK(later < 4);
        RequireClean(setup.Directory());
        setup.Stop() = false;
        FaultEnv after;
        RequireDone(setup.RebuildLast(after, options, 20));
        setup.RequireRightLast();
        setup.Reset();
    }
    CHECK(interrupted > 20);
}

TEST_CASE("A damaged block is read again, or named, and so is a damaged spill", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const UndoOptions options = setup.Options(1, 1 << 16);
    SECTION("blocks, on their way")
    {
        for (int round = 0; round < 30; ++round) {
            FaultEnv env;
            uint64_t reads = 0;
            const uint64_t each = 2 + TestRng()() % 20;
            env.CorruptReads(
                [&](const Path& path) { return IsBlock(path) && ++reads % each == 0; });
            CAPTURE(round, each);
            const auto verdict = setup.RebuildLast(env, options, 20);
            // Damage in both readings is an error.
            if (verdict) {
                RequireDone(verdict);
                setup.RequireRightLast();
            } else {
                REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
                CHECK(verdict.Message().find("blk0") != std::string::npos);
            }
            setup.Reset();
        }
    }
    SECTION("blocks, for good")
    {
        constexpr size_t kMerkleRoot = 40; // another header: another block
        constexpr size_t kVersion = 81;    // of the coinbase, which has another id then
        const auto damage = [&](int height, size_t offset) {
            const HeaderNode& node = *setup.Setup().Chain().Tip().Ancestor(height);
            ChangeStored(setup.Setup(), node, offset, 1);
        };
        const bool certain = GENERATE(true, false);
        if (certain) {
            const bool of_last = GENERATE(true, false);
            if (of_last) damage(setup.Setup().Chain().Tip().height, kVersion);
            if (!of_last) damage(5, kMerkleRoot);
        } else {
            for (int height = 1; height < 20; ++height) damage(height, kVersion);
        }
        FaultEnv env;
        const auto verdict = setup.RebuildLast(env, options, 20);
        RequireClean(setup.Directory());
        if (verdict) {
            REQUIRE_FALSE(certain);
            RequireDone(verdict); // none of those coins was wanted
            setup.RequireRightLast();
        } else {
            CAPTURE(verdict.Message());
            REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
            CHECK(verdict.Message().find("blk0") != std::string::npos);
        }
    }
    SECTION("spills")
    {
        FaultEnv env;
        uint64_t reads = 0;
        env.CorruptReads([&](const Path& path) { return IsSpill(path) && ++reads == 3; });
        RequireDone(setup.RebuildLast(env, options, 20));
        setup.RequireRightLast();
        setup.Reset();
        env.CorruptReads(IsSpill);
        const auto verdict = setup.RebuildLast(env, options, 20);
        REQUIRE_FALSE(verdict.Ok());
        CHECK(verdict.Message().find("does not keep written data") != std::string::npos);
        RequireClean(setup.Directory());
    }
}

TEST_CASE("WantedCoins: each output is taken once, by a spend that is not below it", "[keystone]")
{
    constexpr uint32_t kFirst = 1'000;
    const SipKey key{TestRng()(), TestRng()()};
    WantedCoins wanted(kFirst, 200, 1 << 20, key);
    std::vector<OutPoint> outpoints;
    for (uint32_t i = 0; i < 200; ++i) {
        outpoints.push_back({Txid::FromBytes(RandomBytes(32).data()), i});
        uint8_t bytes[36];
        std::copy_n(outpoints.back().txid.data(), 32, bytes);
        WriteLE32(bytes + 32, i);
        REQUIRE(wanted.Add(bytes, JoinRecord::PlaceOf(kFirst + i, i + 1)));
    }
    REQUIRE(wanted.Size() == 200);
    CHECK(wanted.FirstMissing() == JoinRecord::PlaceOf(kFirst, 1));
    const auto take = [&](const OutPoint& o, uint32_t height, bool again) {
        REQUIRE(wanted.MayHold(o.txid));
        return wanted.Take(wanted.Prepare(wanted.Begin(o.txid), o.vout), height, again);
    };
    for (uint32_t i = 0; i < 200; ++i) {
        CHECK_FALSE(take(outpoints[i], kFirst + i + 1, false)); // made above
        CHECK_FALSE(take({outpoints[i].txid, i + 1}, 1, false));
        CHECK(take(outpoints[i], kFirst + i, false) == JoinRecord::PlaceOf(kFirst + i, i + 1));
        CHECK_FALSE(take(outpoints[i], 1, true));
        CHECK_FALSE(wanted.Repeated());
    }
    CHECK_FALSE(wanted.FirstMissing());
    CHECK_FALSE(take(outpoints[7], 1, false));
    CHECK(wanted.Repeated());
    wanted.Clear();
    CHECK_FALSE(wanted.Repeated());
    CHECK(wanted.Size() == 0);
    int held = 0;
    for (const OutPoint& o : outpoints) held += wanted.MayHold(o.txid);
    CHECK(held == 0);
}

TEST_CASE("WantedCoins: a table of any size holds seven eighths of its slots", "[keystone]")
{
    constexpr uint32_t kFirst = 1'000;
    constexpr size_t kBytesPerSlot = 17;
    const SipKey key{TestRng()(), TestRng()()};
    for (const size_t slots : {64, 128, 192, 320, 1088}) {
        CAPTURE(slots);
        WantedCoins wanted(kFirst, 100'000, slots * kBytesPerSlot, key);
        std::map<std::pair<Txid, uint32_t>, uint64_t> expected;
        std::array<uint8_t, 36> bytes{};
        while (true) {
            const OutPoint o{Txid::FromBytes(RandomBytes(32).data()),
                             static_cast<uint32_t>(TestRng()() % 3)};
            const uint64_t place = JoinRecord::PlaceOf(kFirst, expected.size() + 1);
            std::copy_n(o.txid.data(), 32, bytes.begin());
            WriteLE32(bytes.data() + 32, o.vout);
            if (!wanted.Add(bytes.data(), place)) break;
            expected.emplace(std::pair(o.txid, o.vout), place);
        }
        CHECK(expected.size() == slots / 8 * 7);
        for (const auto& [o, place] : expected) {
            REQUIRE(wanted.MayHold(o.first));
            const sip::State begun = wanted.Begin(o.first);
            CHECK_FALSE(wanted.Take(wanted.Prepare(begun, o.second + 1), kFirst, false));
            CHECK(wanted.Take(wanted.Prepare(begun, o.second), kFirst, false) == place);
        }
        CHECK_FALSE(wanted.FirstMissing());
    }
    // Memory for all expected inputs, for any number of them, and not much more.
    for (size_t inputs = 1; inputs < 700; ++inputs) {
        CAPTURE(inputs);
        WantedCoins wanted(kFirst, inputs, 1 << 20, key);
        std::array<uint8_t, 36> bytes{};
        size_t room = 0;
        for (;; ++room) {
            WriteLE32(bytes.data(), static_cast<uint32_t>(room));
            if (!wanted.Add(bytes.data(), JoinRecord::PlaceOf(kFirst, room + 1))) break;
        }
        CHECK(room >= inputs);
        CHECK(room <= (inputs + 2) / 3 * 4 + 64);
    }
}
