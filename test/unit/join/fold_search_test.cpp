// Coins found while blocks are folded: the undo data made from them equals that of a walk over a
// map. If not all of them can be found, or on any error, the fold is unaffected and the blocks are
// read again.
#include "undo_setup.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr size_t kEnough = 1 << 22; // bytes

/** Fails the test if all blocks are read. */
class NoSupply final : public BlockSupply {
public:
    Result<> Begin(const std::function<bool(int32_t)>&) override
    {
        return SystemError("the blocks are read once more");
    }
    std::unique_ptr<BlockSource> MakeSource() override { return nullptr; }
    void Stop() override {}
    size_t BlocksToFold() const override { return 0; }
    uint64_t EstimatedBytes() const override { return 0; }
};

FilePos PlaceOf(const HeaderNode& node) { return {node.file, node.data_pos}; }

/** A setup, one watched fold of it, and undo data of its last blocks. */
class Watched {
public:
    /** Blocks from `first_block` on are the last. `late_block`, if any, is not stored when the
     *  search begins. */
    explicit Watched(UndoSetup& setup, int32_t first_block = 1, int32_t late_block = -1)
        : first(first_block), late(late_block), not_yet(late_block > 0 ? 1 : 0), m_setup(setup)
    {
    }

    BoosterOptions Folding(unsigned threads = 1) const { return m_setup.Setup().Options(threads); }
    FoldSearch Search(Env& env, size_t memory = kEnough, unsigned threads = 1)
    {
        const HeaderNode& tip = m_setup.Setup().Chain().Tip();
        return {env,
                m_setup.Setup().Log(),
                m_setup.Setup().Chain().Params(),
                tip,
                static_cast<uint32_t>(first),
                m_setup.Setup().Blocks(),
                [this](const HeaderNode& node) { return Place(node); },
                m_setup.Options(threads, memory).join,
                m_setup.Stop(),
                [this](std::optional<FoundCoins> all) { found = std::move(all); },
                most_deferred};
    }
    Result<Verdict> Fold(Env& env, BoosterOptions options, size_t memory = kEnough)
    {
        found.reset();
        FoldSearch search = Search(env, memory, options.threads);
        options.observers = {&search};
        return m_setup.Setup().Sync(env, options);
    }
    void MustFold(Env& env, BoosterOptions options, size_t memory = kEnough)
    {
        const auto verdict = Fold(env, options, memory);
        if (!verdict) FAIL(verdict.Message());
        INFO(verdict->reason);
        REQUIRE(verdict->kind == VerdictKind::kDone);
        m_setup.Setup().RequireRight();
    }
    /** Uses the search's result, if there is one. */
    void RequireRightLast(unsigned threads = 1)
    {
        FaultEnv env;
        const UndoOptions options = m_setup.Options(threads, kEnough);
        NoSupply none;
        RequireDone(found ? m_setup.RebuildLastFrom(env, none, options, first, std::move(found))
                          : m_setup.RebuildLast(env, options, first));
        m_setup.RequireRightLast();
    }
    void Reset()
    {
        m_setup.Setup().Reset();
        m_setup.Reset();
        found.reset();
    }

    int32_t first;
    std::optional<FoundCoins> found;
    /** A block of this height is not stored before the search asks for its place so often. */
    int32_t late;
    int not_yet;
    uint64_t most_deferred = FoldSearch::kMostDeferred;

private:
    FilePos Place(const HeaderNode& node)
    {
        return node.height == late && not_yet-- > 0 ? FilePos() : PlaceOf(node);
    }

    UndoSetup& m_setup;
};

bool IsIn(const Path& path, const Path& directory) { return path.parent_path() == directory; }

/** The blocks that made the coins which the blocks from `first` on spend. */
std::set<uint32_t> MakersOf(const UndoSetup& setup, size_t first)
{
    std::set<uint32_t> makers;
    for (size_t height = first; height <= setup.Right().size(); ++height) {
        const BlockUndo undo = Must(BlockUndo::Decode(setup.Right()[height - 1]));
        for (const auto& tx : undo.txs) {
            for (const Coin& coin : tx.spent) makers.insert(coin.height);
        }
    }
    return makers;
}

/** Shows the blocks of these heights, in this order, on one worker. */
void ShowBlocks(UndoSetup& setup, FoldSearch& search, std::span<const uint32_t> heights)
{
    BlockView view;
    for (const uint32_t height : heights) {
        Must(view.Parse(setup.Setup().Chain().Raw(height)));
        search.Folded(0, view, height);
    }
}

std::vector<uint32_t> AllHeights(const UndoSetup& setup)
{
    std::vector<uint32_t> heights(setup.Right().size());
    for (uint32_t i = 0; i < heights.size(); ++i) heights[i] = i + 1;
    return heights;
}

} // namespace

TEST_CASE("Found while folding: undo data of the last blocks is a serial walk's", "[keystone]")
{
    for (int round = 0; round < 8; ++round) {
        TestChainOptions shape;
        shape.blocks = 25 + static_cast<uint32_t>(TestRng()() % 150);
        shape.txs_per_block = 1 + static_cast<uint32_t>(TestRng()() % 30);
        UndoSetup setup(TestRng()(), shape);
        Watched watched(setup);
        for (const unsigned threads : {1u, 2u, 3u}) {
            watched.first = 1 + static_cast<int32_t>(TestRng()() % setup.Right().size());
            CAPTURE(round, shape.blocks, threads, watched.first);
            FaultEnv env(TestRng()());
            watched.MustFold(env, watched.Folding(threads));
            REQUIRE(watched.found);
            watched.RequireRightLast(threads);
            RequireClean(setup.Directory());
            watched.Reset();
        }
    }
}

TEST_CASE("With too small a table nothing is found while folding", "[keystone]")
{
    UndoSetup setup(TestRng()(), {.blocks = 100, .txs_per_block = 30});
    Watched watched(setup);
    FaultEnv env;
    watched.MustFold(env, watched.Folding(), 1);
    CHECK_FALSE(watched.found);
    RequireClean(setup.Directory());
    watched.RequireRightLast();
}

TEST_CASE("A fold that goes on from an earlier one is not watched", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    BoosterOptions options = watched.Folding();
    options.checkpoint_bytes = 2'000;
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        FaultEnv counting;
        watched.MustFold(counting, options);
        watched.Reset();
        FaultEnv dies(TestRng()());
        dies.CrashAt(TestRng()() % counting.Operations());
        REQUIRE_FALSE(watched.Fold(dies, options).Ok());
        dies.LoseUnsynced();
        FaultEnv env;
        const auto kept = Must(LoadCheckpoint(env, setup.Setup().Booster()));
        watched.MustFold(env, options);
        CHECK(watched.found.has_value() == (!kept || kept->folded.Count() == 0));
        watched.RequireRightLast();
        RequireClean(setup.Directory());
        watched.Reset();
    }
}

TEST_CASE("A fold after a first pass is not watched: it hashes too little", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup);
    AggregateSalt salt;
    setup.Setup().CleanEnv().RandomBytes(salt);
    setup.Setup().First() = NaiveFirstPass(setup.Setup().Chain(), AggregateKind::kSha256, salt);
    FaultEnv env;
    watched.MustFold(env, watched.Folding());
    CHECK_FALSE(watched.found);
}

TEST_CASE("A fold that starts over is watched from the start", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    FaultEnv env;
    uint64_t reads = 0;
    env.CorruptReads([&](const Path& path) {
        return path.filename().string().starts_with("run") && ++reads == 1;
    });
    watched.MustFold(env, watched.Folding());
    REQUIRE(reads > 1);
    REQUIRE(watched.found);
    watched.RequireRightLast();
}

TEST_CASE("Whatever fails in the folder of undo data, the fold does not", "[keystone]")
{
    UndoSetup setup(7, {.blocks = 30, .txs_per_block = 3});
    Watched watched(setup, 20);
    for (uint64_t fail_at = 0, count = fail_at + 1; fail_at < count; ++fail_at) {
        for (const bool for_good : {false, true}) {
            CAPTURE(fail_at, for_good);
            count = 0;
            FaultEnv env;
            env.SetScript([&](const FaultEnv::Operation& op) {
                if (op.path != setup.Directory() && !IsIn(op.path, setup.Directory())) return false;
                const uint64_t number = count++;
                return for_good ? number >= fail_at : number == fail_at;
            });
            watched.MustFold(env, watched.Folding());
            CHECK(watched.found.has_value() == (fail_at >= count));
            watched.RequireRightLast();
            RequireClean(setup.Directory());
            watched.Reset();
        }
    }
}

TEST_CASE("Blocks that are damaged on their way to the search are no harm", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    int found = 0;
    for (uint64_t number = 1; number <= 30; ++number) {
        CAPTURE(number);
        FaultEnv env(TestRng()());
        uint64_t reads = 0;
        env.CorruptReads([&](const Path& path) {
            return path.filename().string().starts_with("blk") && ++reads == number;
        });
        watched.MustFold(env, watched.Folding());
        found += watched.found.has_value();
        watched.RequireRightLast();
        watched.Reset();
    }
    CHECK(found > 0);
}

TEST_CASE("A fold that is watched from block to block finds all or nothing", "[keystone]")
{
    UndoSetup setup(7, {.blocks = 100, .txs_per_block = 20});
    Watched watched(setup, 90);
    FaultEnv env;
    FoldSearch search = watched.Search(env);
    REQUIRE(search.Begin(1));
    std::vector<uint32_t> heights = AllHeights(setup);
    const std::set<uint32_t> makers = MakersOf(setup, 90);
    const uint32_t maker = *makers.begin();
    uint32_t other = 1; // makes nothing that is wanted
    while (makers.contains(other)) ++other;
    REQUIRE(other < 90);
    SECTION("all are shown, in any order")
    {
        std::shuffle(heights.begin(), heights.end(), TestRng());
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK(watched.found);
    }
    SECTION("one is not shown")
    {
        heights.erase(heights.begin() + static_cast<int>(TestRng()() % heights.size()));
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("one that makes such coins is shown twice, as if their ids occurred twice")
    {
        heights[other - 1] = maker;
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("one that makes such coins is not shown")
    {
        heights[maker - 1] = other;
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("another block is shown than was read before")
    {
        const ByteSpan raw = setup.Setup().Chain().Raw(100);
        Bytes changed(raw.begin(), raw.end());
        changed[BlockHeader::kSize + 1] ^= 1; // of the coinbase's version: nothing spends it
        BlockView view;
        Must(view.Parse(changed));
        heights.pop_back();
        ShowBlocks(setup, search, heights);
        search.Folded(0, view, 100);
        search.End();
        CHECK_FALSE(watched.found);
    }
    watched.RequireRightLast();
    RequireClean(setup.Directory());
}

TEST_CASE("A fold may go beyond the blocks whose coins are wanted", "[keystone]")
{
    UndoSetup setup(TestRng()());
    const HeaderNode& tip = setup.Setup().Chain().Tip();
    const HeaderNode& terminal = *tip.Ancestor(tip.height - 7);
    const UndoOptions options = setup.Options(1, kEnough);
    FaultEnv env;
    std::optional<FoundCoins> found;
    FoldSearch search(env, setup.Setup().Log(), setup.Setup().Chain().Params(), terminal, 30,
                      setup.Setup().Blocks(), PlaceOf, options.join, setup.Stop(),
                      [&](std::optional<FoundCoins> all) { found = std::move(all); });
    REQUIRE(search.Begin(1));
    ShowBlocks(setup, search, AllHeights(setup));
    search.End();
    REQUIRE(found);
    CHECK(found->first == 30);
    CHECK(found->state.terminal_hash == terminal.hash);
    // Useful only for those.
    RequireDone(setup.RebuildLast(env, options, 30, std::move(found)));
    setup.RequireRightLast();
    RequireClean(setup.Directory());
}

TEST_CASE("What was found is not used for other blocks", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    FaultEnv env;
    watched.MustFold(env, watched.Folding());
    REQUIRE(watched.found);
    RequireDone(
        setup.RebuildLast(env, setup.Options(1, kEnough), 19, std::exchange(watched.found, {})));
    setup.RequireRightLast();
    RequireClean(setup.Directory());
}

TEST_CASE("What was found and is damaged or gone is looked for in the blocks", "[keystone]")
{
    for (const bool gone : {false, true}) {
        UndoSetup setup(TestRng()());
        Watched watched(setup, 20);
        FaultEnv env;
        watched.MustFold(env, watched.Folding());
        REQUIRE(watched.found);
        const Path spill = setup.Directory() / "spill000000.dat";
        REQUIRE(std::filesystem::exists(spill));
        if (gone) {
            std::filesystem::remove(spill);
        } else {
            Bytes bytes = Must(ReadWholeFile(env, spill));
            bytes[TestRng()() % bytes.size()] ^= 1;
            Overwrite(spill, bytes);
        }
        RequireDone(setup.RebuildLast(env, setup.Options(1, kEnough), 20,
                                      std::exchange(watched.found, {})));
        setup.RequireRightLast();
        RequireClean(setup.Directory());
    }
}

TEST_CASE("Where a join has kept its pairs nothing is looked for while folding", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    const UndoOptions options = setup.Options(1, 1 << 16);
    setup.KeepPairs(options.join);
    FaultEnv env;
    watched.MustFold(env, watched.Folding());
    CHECK_FALSE(watched.found);
    RequireDone(setup.RebuildLast(env, options, 20));
    setup.RequireRightLast();
    RequireDone(setup.Rebuild(env, options));
    setup.RequireRight();
}

TEST_CASE("Pairs of another chain are no reason not to look", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    setup.KeepPairs(setup.Options(1, 1 << 16).join);
    FaultEnv env;
    JoinState kept = *Must(LoadJoinState(env, setup.Directory()));
    kept.terminal_hash = BlockHash();
    Must(SaveStage(env, setup.Directory(), kept));
    watched.MustFold(env, watched.Folding());
    REQUIRE(watched.found);
    watched.RequireRightLast();
}

TEST_CASE("What an earlier search has found goes when another begins", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup, 20);
    FaultEnv env;
    watched.MustFold(env, watched.Folding());
    REQUIRE(watched.found);
    FoldSearch search = watched.Search(env);
    REQUIRE(search.Begin(1));
    CHECK_FALSE(watched.found);
    search.End();
    CHECK_FALSE(watched.found);
    RequireClean(setup.Directory());
    watched.RequireRightLast();
}

TEST_CASE("A search that is stopped while it reads again has found nothing", "[keystone]")
{
    UndoSetup setup(7, {.blocks = 100, .txs_per_block = 20});
    Watched watched(setup, 90, 95);
    FaultEnv env;
    FoldSearch search = watched.Search(env);
    REQUIRE(search.Begin(1));
    ShowBlocks(setup, search, AllHeights(setup));
    setup.Stop() = true;
    search.End();
    CHECK_FALSE(watched.found);
    setup.Stop() = false;
    RequireClean(setup.Directory());
    watched.RequireRightLast();
}

TEST_CASE("A search that is stopped before the fold leaves it alone", "[keystone]")
{
    UndoSetup setup(TestRng()());
    Watched watched(setup);
    setup.Stop() = true;
    FaultEnv env;
    watched.MustFold(env, watched.Folding());
    CHECK_FALSE(watched.found);
    RequireClean(setup.Directory());
    setup.Stop() = false;
    watched.RequireRightLast();
}

TEST_CASE("Last blocks that are not stored before are looked at once they are folded", "[keystone]")
{
    for (int round = 0; round < 12; ++round) {
        UndoSetup setup(TestRng()(), {.blocks = 60, .txs_per_block = 12});
        Watched watched(setup);
        watched.first = 1 + static_cast<int32_t>(TestRng()() % setup.Right().size());
        watched.late = static_cast<int32_t>(setup.Right().size());
        watched.not_yet = 1;
        for (const unsigned threads : {1u, 3u}) {
            CAPTURE(round, threads, watched.first);
            FaultEnv env(TestRng()());
            watched.MustFold(env, watched.Folding(threads));
            REQUIRE(watched.found);
            watched.RequireRightLast(threads);
            RequireClean(setup.Directory());
            watched.Reset();
            watched.not_yet = 1;
        }
    }
}

TEST_CASE("A search that has to wait finds all or nothing", "[keystone]")
{
    UndoSetup setup(7, {.blocks = 100, .txs_per_block = 20});
    Watched watched(setup, 90, 95);
    FaultEnv env;
    FoldSearch search = watched.Search(env);
    std::vector<uint32_t> heights = AllHeights(setup);
    SECTION("the last first")
    {
        std::reverse(heights.begin(), heights.end());
        REQUIRE(search.Begin(1));
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK(watched.found);
    }
    SECTION("one of them is not stored although it was folded")
    {
        watched.not_yet = 2;
        REQUIRE(search.Begin(1));
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("another is not stored when it is to be read again")
    {
        watched.not_yet = 1;
        REQUIRE(search.Begin(1));
        ShowBlocks(setup, search, heights);
        watched.late = 50;
        watched.not_yet = 1;
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("one of them is another now")
    {
        const ByteSpan raw = setup.Setup().Chain().Raw(95);
        Bytes changed(raw.begin(), raw.end());
        changed[BlockHeader::kSize + 1] ^= 1;
        BlockView view;
        Must(view.Parse(changed));
        heights.erase(heights.begin() + 94);
        REQUIRE(search.Begin(1));
        search.Folded(0, view, 95);
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    SECTION("one never comes")
    {
        heights.erase(heights.begin() + 94);
        REQUIRE(search.Begin(1));
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK_FALSE(watched.found);
    }
    watched.late = -1;
    watched.RequireRightLast();
    RequireClean(setup.Directory());
}

TEST_CASE("A search waits for so many bytes of blocks and no more", "[keystone]")
{
    UndoSetup setup(7, {.blocks = 100, .txs_per_block = 20});
    uint64_t before = 0; // bytes of the blocks that are not the last
    for (uint32_t height = 1; height < 90; ++height) {
        before += setup.Setup().Chain().Raw(height).size();
    }
    for (const uint64_t room : {uint64_t{0}, before - 1, before}) {
        const bool last_first = room == 0;
        Watched watched(setup, 90, 95);
        watched.most_deferred = room;
        FaultEnv env;
        FoldSearch search = watched.Search(env);
        std::vector<uint32_t> heights = AllHeights(setup);
        if (last_first) std::reverse(heights.begin(), heights.end());
        REQUIRE(search.Begin(1));
        ShowBlocks(setup, search, heights);
        search.End();
        CHECK(watched.found.has_value() == (last_first || room == before));
    }
}
