// The main property of undo data from blocks alone: for any seed, order and supply of blocks,
// threads, memory, spills and moment of a kill, the records equal those of a walk over a map, byte
// for byte.
#include "join/undo_portions.h"
#include "support/testdata.h"
#include "undo_setup.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("Undo keystone: records from blocks alone are a serial walk's", "[keystone]")
{
    for (int round = 0; round < 20; ++round) {
        auto& rng = TestRng();
        const uint64_t seed = rng();
        TestChainOptions shape;
        shape.blocks = 25 + static_cast<uint32_t>(rng() % 150);
        shape.txs_per_block = 1 + static_cast<uint32_t>(rng() % 30);
        UndoSetup setup(seed, shape);
        for (const size_t memory : {size_t{1}, size_t{1} << 16, size_t{1} << 22}) {
            for (const unsigned threads : {1u, 2u, 3u}) {
                UndoOptions options = setup.Options(threads, memory);
                options.join.checkpoint_bytes = rng() % 2 ? 3'000 : uint64_t{1} << 40;
                CAPTURE(seed, shape.blocks, memory, threads);
                FaultEnv env(rng());
                RequireDone(setup.Rebuild(env, options));
                setup.RequireRight();
                setup.Reset();
            }
        }
    }
}

TEST_CASE("Undo keystone: killed at any operation and resumed, whoever brings the blocks",
          "[keystone]")
{
    auto& rng = TestRng();
    const uint64_t seed = rng();
    CAPTURE(seed);
    UndoSetup setup(seed);
    UndoOptions options = setup.Options(1, 1 << 16);
    options.join.checkpoint_bytes = 6'000;
    for (const bool strangers : {false, true}) {
        const auto rebuild = [&](Env& env) {
            if (!strangers) return setup.Rebuild(env, options);
            // No falsified blocks: a witness that no commitment covers must equal the stored one.
            sim::LyingSupply supply = setup.Setup().Strangers({.seed = rng(), .lies = 0});
            return setup.RebuildFrom(env, supply, options, setup.Kept());
        };
        FaultEnv counting(rng());
        RequireDone(rebuild(counting));
        setup.RequireRight();
        setup.Reset();
        CAPTURE(strangers);
        DieAtRandomOperations(
            options.join, counting.Operations(), rebuild,
            [&] { // The consumer may or may not make its records durable.
                setup.Kept().Keep(setup.Right().size() - rng() % 20);
                return false;
            },
            [&](bool, Env& env) {
                RequireDone(rebuild(env));
                setup.RequireRight();
                setup.Reset();
            });
    }
}

TEST_CASE("Undo keystone: a death, and a failure, at any operation of a small rebuild",
          "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 22;
    shape.txs_per_block = 3;
    UndoSetup setup(7, shape);
    UndoOptions options = setup.Options(1, 1 << 16);
    options.join.checkpoint_bytes = 9'000;
    int resumed = 0;
    FailAtEachOperation([&](Env& env) { return setup.Rebuild(env, options); },
                        [&](Env& after) {
                            resumed += Must(LoadJoinState(after, setup.Directory())).has_value();
                            RequireDone(setup.Rebuild(after, options));
                            setup.RequireRight();
                        },
                        [&] { setup.Reset(); });
    REQUIRE(resumed > 0);
}

TEST_CASE("A rebuild of undo data that is stopped goes on where it was", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const UndoOptions options = setup.Options(1, 1 << 16);
    FaultEnv counting;
    uint64_t reads = 0;
    counting.SetScript([&](const FaultEnv::Operation& op) {
        reads += op.kind == "read";
        return false;
    });
    RequireDone(setup.Rebuild(counting, options));
    setup.Reset();
    std::set<JoinStage> stages;
    for (uint64_t at = 1; at < reads; at += 1 + reads / 40) {
        CAPTURE(at, reads);
        FaultEnv env;
        uint64_t read = 0;
        env.SetScript([&](const FaultEnv::Operation& op) {
            if (op.kind == "read" && ++read == at) setup.Stop() = true;
            return false;
        });
        const auto verdict = Must(setup.Rebuild(env, options));
        if (verdict.kind == VerdictKind::kInterrupted) {
            const auto kept = Must(LoadJoinState(env, setup.Directory()));
            if (kept) stages.insert(kept->stage);
        }
        setup.Stop() = false;
        FaultEnv after;
        RequireDone(setup.Rebuild(after, options));
        setup.RequireRight();
        setup.Reset();
    }
    REQUIRE(stages.size() == 2);
}

TEST_CASE("Bit rot in the spills of a rebuild is noticed, and it starts over", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const UndoOptions options = setup.Options(1, 1 << 16);
    FaultEnv counting;
    uint64_t reads = 0;
    const auto is_spill = [](const Path& path) {
        return path.filename().string().starts_with("spill");
    };
    counting.CorruptReads([&](const Path& path) {
        reads += is_spill(path);
        return false;
    });
    RequireDone(setup.Rebuild(counting, options));
    setup.Reset();
    for (uint64_t at = 1; at <= reads; at += 1 + reads / 60) {
        CAPTURE(at, reads);
        FaultEnv env;
        uint64_t read = 0;
        env.CorruptReads([&](const Path& path) { return is_spill(path) && ++read == at; });
        RequireDone(setup.Rebuild(env, options));
        setup.RequireRight(); // and nothing was handed on twice
        setup.Reset();
    }
    FaultEnv env;
    env.CorruptReads(is_spill);
    const auto verdict = setup.Rebuild(env, options);
    REQUIRE_FALSE(verdict.Ok());
    CHECK(verdict.Message().find("does not keep written data") != std::string::npos);
}

TEST_CASE("A block that has changed since it was joined is read again, or is an error",
          "[keystone]")
{
    UndoSetup setup(TestRng()());
    const UndoOptions options = setup.Options(1, 1 << 16);
    FaultEnv env;
    uint64_t reads = 0;
    bool joined = false;
    const auto is_block = [](const Path& path) {
        return path.filename().string().starts_with("blk");
    };
    const auto after_join = [&](const Path& path) {
        if (path.filename().string().starts_with("spill")) joined = true; // blocks are read first
        return joined && is_block(path);
    };
    SECTION("once")
    {
        env.CorruptReads([&](const Path& path) { return after_join(path) && ++reads % 5 == 0; });
        RequireDone(setup.Rebuild(env, options));
        REQUIRE(reads > 50);
        setup.RequireRight();
    }
    SECTION("for good")
    {
        env.CorruptReads(after_join);
        setup.Setup().CleanEnv().CorruptReads(is_block); // where it is read a second time
        const auto verdict = setup.Rebuild(env, options);
        REQUIRE_FALSE(verdict.Ok());
        REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
        CHECK(verdict.Message().find("blk0") != std::string::npos);
        CHECK(Must(LoadJoinState(env, setup.Directory()))->stage == JoinStage::kPaired);
    }
}

TEST_CASE("A damaged block is noticed by a join that need not check rules, too")
{
    for (const bool connected : {false, true}) {
        UndoSetup setup(TestRng()());
        UndoOptions options = setup.Options(1, 1 << 16);
        options.join.connected = connected;
        FaultEnv env;
        const HeaderNode& node = *setup.Setup().Chain().Tip().Ancestor(30);
        const Path path = setup.Setup().Blocks().BlockPath(node.file);
        Bytes file = Must(ReadWholeFile(env, path));
        // The first byte of the coinbase's id: its version.
        const size_t version = node.data_pos + BlockHeader::kSize + 1;
        file[version] ^= 1;
        Must(WriteFileAtomically(env, path, file));
        const auto verdict = setup.Rebuild(env, options);
        REQUIRE_FALSE(verdict.Ok());
        CHECK(verdict.Message().find("hashMerkleRoot mismatch") != std::string::npos);
        REQUIRE(setup.Kept().Records().empty());
    }
}

TEST_CASE("No spill is written under the name of one that is being removed", "[keystone]")
{
    for (int round = 0; round < 12; ++round) {
        UndoSetup setup(TestRng()());
        // All meet in memory, so that the spill of the last events comes behind all pairs.
        UndoOptions options = setup.Options(2, 1 << 22);
        options.join.checkpoint_bytes = 3'000 + TestRng().Below(3'000);
        options.portion_ranges = 10;
        FaultEnv env;
        std::mutex mutex;
        bool paired = false; // all is joined, and files that the state does not name are being
                             // removed
        std::set<std::string> there, there_when_paired, coins;
        const std::string first_of_portion =
            SpillPath({}, UndoPortions::kNearSpills).filename().string();
        env.SetScript([&](const FaultEnv::Operation& op) {
            const std::lock_guard lock(mutex);
            const std::string name = op.path.filename().string();
            if (op.kind == "rename" && !paired) there_when_paired = there;
            if (!name.starts_with("spill")) return false;
            paired = paired || name == first_of_portion;
            if (op.kind == "remove") there.erase(name);
            if (op.kind != "create") return false;
            there.insert(name);
            if (paired) coins.insert(name);
            return false;
        });
        RequireDone(setup.Rebuild(env, options));
        setup.RequireRight();
        REQUIRE_FALSE(there_when_paired.empty());
        REQUIRE(coins.size() > 3);
        for (const std::string& name : coins) {
            CAPTURE(name);
            REQUIRE_FALSE(there_when_paired.contains(name));
        }
        setup.Reset();
    }
}

TEST_CASE("A consumer that fails ends the rebuild, and the next begins behind what it has",
          "[keystone]")
{
    for (const unsigned threads : {1u, 2u}) {
        UndoSetup setup(TestRng()());
        const UndoOptions options = setup.Options(threads, 1 << 16);
        FaultEnv env;
        setup.Kept().fails_at = 31;
        const auto verdict = setup.Rebuild(env, options);
        REQUIRE_FALSE(verdict.Ok());
        REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
        REQUIRE(verdict.Message() == "no room");
        REQUIRE(setup.Kept().NextHeight() == 31);
        REQUIRE(Must(LoadJoinState(env, setup.Directory()))->stage == JoinStage::kPaired);
        setup.Kept().fails_at = 0;
        // Records that are not durable at the end can be made again without a join.
        setup.Kept().fails_at_end = true;
        const auto not_durable = setup.Rebuild(env, options);
        REQUIRE_FALSE(not_durable.Ok());
        REQUIRE(not_durable.GetError().kind == Error::Kind::kSystem);
        REQUIRE(Must(LoadJoinState(env, setup.Directory()))->stage == JoinStage::kPaired);
        setup.Kept().fails_at_end = false;
        setup.Kept().Keep(40);
        RequireDone(setup.Rebuild(env, options));
        REQUIRE(setup.Kept().ended == 2);
        setup.RequireRight();
    }
}

TEST_CASE("A rebuild begins at any height, and lower again if undo data is gone", "[keystone]")
{
    for (int round = 0; round < 10; ++round) {
        UndoSetup setup(TestRng()());
        UndoOptions options = setup.Options(1 + TestRng()() % 2, 1 << 16);
        options.portion_ranges = 1 + static_cast<uint32_t>(TestRng().Below(20));
        const size_t blocks = setup.Right().size();
        FaultEnv env;
        RequireDone(setup.Rebuild(env, options));
        const size_t kept = TestRng().Below(blocks);
        setup.Kept().Keep(kept);
        const size_t fails_at = kept + 1 + TestRng().Below(blocks - kept);
        CAPTURE(options.portion_ranges, kept, fails_at);
        setup.Kept().fails_at = static_cast<int32_t>(fails_at);
        REQUIRE_FALSE(setup.Rebuild(env, options).Ok());
        REQUIRE(Must(LoadJoinState(env, setup.Directory()))->fetched_for <= kept + 1);
        setup.Kept().fails_at = 0;
        if (round % 2 == 0) setup.Kept().Keep(TestRng().Below(kept + 1));
        RequireDone(setup.Rebuild(env, options));
        setup.RequireRight();
        setup.Reset();
    }
}

TEST_CASE("Of the coins of a rebuild those are kept that a later portion spends")
{
    UndoSetup setup(7, {.blocks = 120, .txs_per_block = 10});
    std::map<uint32_t, uint64_t> bytes;
    for (const uint32_t ranges : {1u, 30u, kUndoPortionRanges}) {
        UndoOptions options = setup.Options(1, 1 << 16);
        options.portion_ranges = ranges;
        FaultEnv env;
        setup.Kept().fails_at = static_cast<int32_t>(setup.Right().size());
        REQUIRE_FALSE(setup.Rebuild(env, options).Ok());
        bytes[ranges] = SizeOf(Must(LoadJoinState(env, setup.Directory()))->coin_spills);
        setup.Kept().fails_at = 0;
        RequireDone(setup.Rebuild(env, options));
        setup.RequireRight();
        setup.Reset();
    }
    CHECK(bytes[1] > bytes[30]);
    CHECK(bytes[30] > 0);
    CHECK(bytes[kUndoPortionRanges] == 0);
}

TEST_CASE("A block whose outline came with its coins is not read again")
{
    UndoSetup setup(TestRng()());
    UndoOptions options = setup.Options(1, 1 << 22);
    std::array<uint64_t, 2> reads{};
    for (const bool outlines : {false, true}) {
        FaultEnv env;
        env.SetScript([&](const FaultEnv::Operation& op) {
            const bool block = op.path.filename().string().starts_with("blk");
            reads[outlines] += block && op.kind == "read";
            return false;
        });
        options.outlines = outlines;
        RequireDone(setup.Rebuild(env, options));
        setup.RequireRight();
        setup.Reset();
    }
    CHECK(reads[true] < reads[false]);
}

TEST_CASE("Undo files are those that a serial walk would have written", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const Path& blocks = setup.Setup().Blocks().BlockPath(0).parent_path();
    TempDir dir(MemoryFolder());
    const Path copy = dir.Get() / "blocks";
    std::filesystem::copy(blocks, copy);
    class Writing final : public UndoConsumer {
    public:
        explicit Writing(BlockStore& store) : m_store(store) {}
        Result<> Take(const HeaderNode& node, const UndoRecord& undo) override
        {
            IBD_RETURN_IF_ERROR(
                m_store.WriteUndo(node.file, undo, static_cast<uint32_t>(node.height)));
            return {};
        }
        Result<> End() override { return m_store.Flush(); }

    private:
        BlockStore& m_store;
    };
    BlockStoreOptions store;
    store.blocks_dir = copy;
    store.magic = setup.Setup().Chain().Params().magic;
    store.max_file_size = 16 << 10;
    store.block_chunk = 4 << 10;
    const auto serial = Must(BlockStore::Open(setup.Setup().CleanEnv(), setup.Setup().Log(), store,
                                              setup.Setup().Blocks().Files()));
    Writing rebuilt(setup.Setup().Blocks());
    const HeaderNode& tip = setup.Setup().Chain().Tip();
    for (int h = 1; h <= tip.height; ++h) {
        const HeaderNode& node = *tip.Ancestor(h);
        Must(serial->WriteUndo(node.file, setup.Right()[static_cast<size_t>(h) - 1],
                               node.PrevHash(), static_cast<uint32_t>(h)));
    }
    FaultEnv env;
    FileBlockSupply files(env, setup.Setup().Blocks(), tip, AnyOrder());
    RequireDone(setup.RebuildFrom(env, files, setup.Options(2, 1 << 16), rebuilt));
    Must(serial->Flush());
    Must(setup.Setup().Blocks().Flush());
    size_t compared = 0;
    for (const int32_t n : Must(serial->ListBlockFiles())) {
        CAPTURE(n);
        // A file of stale blocks alone has none.
        REQUIRE(env.Exists(serial->UndoPath(n)) == env.Exists(setup.Setup().Blocks().UndoPath(n)));
        if (!env.Exists(serial->UndoPath(n))) continue;
        REQUIRE(Must(ReadWholeFile(env, serial->UndoPath(n))) ==
                Must(ReadWholeFile(env, setup.Setup().Blocks().UndoPath(n))));
        ++compared;
    }
    REQUIRE(compared > 2);
}
