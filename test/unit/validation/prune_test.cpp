// Pruning: the files that may be deleted, the files that remain, and disk faults on the way, each
// of which needs no more than a restart.
#include "block_kit.h"
#include "fixture.h"
#include "sim/fault_env.h"

#include <algorithm>
#include <set>

namespace ibd::test {

namespace {

constexpr uint64_t kMebibyte = 1 << 20;
/** The space kept free below the target. */
constexpr uint64_t kBuffer = 17 * kMebibyte;

/** Files of 100 blocks each, of `megabytes`, and the last of ten. */
std::vector<BlockFileInfo> TenFiles(uint32_t megabytes)
{
    std::vector<BlockFileInfo> files;
    for (uint32_t n = 0; n < 10; ++n) {
        files.push_back({.blocks = 100,
                         .size = megabytes << 20,
                         .undo_size = 1 << 20,
                         .height_first = n * 100,
                         .height_last = n * 100 + 99});
    }
    return files;
}

std::vector<int32_t> FirstFiles(int32_t count)
{
    std::vector<int32_t> out;
    for (int32_t n = 0; n < count; ++n) out.push_back(n);
    return out;
}

} // namespace

TEST_CASE("the last 288 blocks and the last file are kept")
{
    CHECK(LastToPrune(1000, 1000) == 712);
    CHECK(LastToPrune(1000, 711) == 711);
    CHECK(LastToPrune(287, 100) == 0);
    CHECK(LastToPrune(288, 100) == 0);
    CHECK(LastToPrune(289, 100) == 1);

    std::vector<BlockFileInfo> files = TenFiles(1);
    CHECK(FilesUpTo(files, 98).empty());
    CHECK(FilesUpTo(files, 99) == FirstFiles(1));
    CHECK(FilesUpTo(files, 298) == FirstFiles(2));
    CHECK(FilesUpTo(files, 5000) == FirstFiles(9));
    files[0] = {};                // gone
    files[1].height_last = 2'000; // holds a late block too
    CHECK(FilesUpTo(files, 399) == std::vector<int32_t>{2, 3});
    CHECK(FilesUpTo({}, 10).empty());
}

TEST_CASE("automatic pruning takes as few files as bring the rest below its target")
{
    const std::vector<BlockFileInfo> files = TenFiles(99); // 1,000 MiB
    PruneGoal goal{.target = 1000 * kMebibyte + kBuffer + 1, .tip = 999, .best_header = 999};
    CHECK(FilesAboveTarget(files, goal).empty());
    --goal.target; // "below": as much as the target is too much
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(1));
    goal.target = 550 * kMebibyte;
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(5));
    goal.target = 100 * kMebibyte;
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(7)); // up to block 711
    // In initial download space is freed for further blocks, unless no file has to be deleted at
    // all.
    goal = {.target = 900 * kMebibyte, .tip = 999, .best_header = 1299, .downloading = true};
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(5)); // and for 300 blocks: 286.1 MiB
    goal.downloading = false;
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(2));
    goal = {.target = 2000 * kMebibyte, .tip = 999, .best_header = 900'000, .downloading = true};
    CHECK(FilesAboveTarget(files, goal).empty());
}

TEST_CASE("the reader furthest behind limits pruning, with room for a reorganisation")
{
    CHECK(LimitOf({}, 700).last == 700);
    CHECK(LimitOf({}, 700).by.empty());
    const std::vector<PruneLock> locks = {{"a", 700}, {"b", 300}, {"c", 300}, {"d", 301}};
    CHECK(LimitOf(locks, 700).last == 289);
    CHECK(LimitOf(locks, 700).by == "c");
    CHECK(LimitOf(locks, 200).last == 200);
    CHECK(LimitOf(locks, 200).by.empty());
    const std::vector<PruneLock> none = {{"none read", 0}};
    CHECK(LimitOf(none, 700).last < 0);

    std::vector<BlockFileInfo> files = TenFiles(99);
    files[0].height_last = 0; // of genesis alone
    CHECK(FilesUpTo(files, LimitOf(none, 700).last).empty());
    const PruneGoal goal{.target = 100 * kMebibyte, .tip = 999, .best_header = 999, .last = 300};
    CHECK(FilesAboveTarget(files, goal) == FirstFiles(3));
}

namespace {

constexpr int kBlocks = 400;
constexpr int kMore = 20; //!< whose coins are not written when files are pruned

/** Readers at given heights. */
struct FakeLocks final : PruneLocks {
    std::vector<PruneLock> Current() const override { return {{"reader", now}}; }
    std::vector<PruneLock> Save() override
    {
        ++asked;
        return {{"reader", saved}};
    }
    int32_t now = 0, saved = 0;
    int asked = 0;
};

/** A node in small files. */
class PrunedNode {
public:
    PrunedNode(Env& env, const ChainParams& params, const Path& base, KvIoCheck check = nullptr)
        : m_env(env), m_params(params), m_base(base), m_check(std::move(check))
    {
    }

    Result<> Open(uint64_t target = kManualPruning)
    {
        IBD_ASSIGN_OR_RETURN(m_dir, DataDir::Open(m_env, {m_base, {}, m_params.sub_folder}));
        ChainStackOptions parts;
        parts.manager.hash_key = {1, 2};
        parts.manager.prune_target = target;
        if (locks) parts.manager.prune_locks = {locks};
        parts.index.before_io = m_check;
        parts.blocks.max_file_size = 8 << 10;
        parts.blocks.block_chunk = 2 << 10;
        parts.blocks.undo_chunk = 1 << 10;
        parts.coins.before_io = m_check;
        if (coins_cache_bytes > 0) parts.coins.cache_bytes = coins_cache_bytes;
        parts.checker = &m_scripts;
        IBD_ASSIGN_OR_RETURN(m_stack,
                             OpenChain(m_env, *m_log, m_params, *m_dir, parts, m_interrupt));
        chain = &m_stack->Chain();
        IBD_RETURN_IF_ERROR(chain->ActivateBestChain());
        return chain->PruneAtStart();
    }
    Result<> Feed(std::span<const KitBlock> blocks)
    {
        for (const KitBlock& block : blocks) {
            IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, chain->ProcessBlock(block.raw));
            REQUIRE(!outcome.violation);
        }
        return {};
    }
    void Close()
    {
        chain = nullptr;
        m_stack.reset();
        m_dir.reset();
    }
    std::set<std::string> Files() const
    {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(m_dir->Blocks())) {
            if (entry.is_regular_file()) names.insert(entry.path().filename().string());
        }
        return names;
    }
    BlockStore& Blocks() { return m_stack->Blocks(); }
    BlockIndexDb& Index() { return m_stack->Index(); }

    /** All blocks that are stored according to the index exist; files that it does not name do not.
     */
    void CheckConsistent()
    {
        std::vector<const HeaderNode*> nodes;
        {
            const ChainReader reader = chain->Read();
            for (size_t i = 0; i < reader.Tree().Size(); ++i) {
                nodes.push_back(reader.Tree().NodeAt(i));
            }
        }
        std::set<int32_t> used;
        for (const HeaderNode* node : nodes) {
            if (node->HasData()) {
                used.insert(node->file);
                CHECK(chain->ReadBlock(*node));
            } else {
                CHECK_FALSE(node->HasUndo());
            }
            if (node->HasUndo()) CHECK(chain->ReadUndo(*node));
        }
        std::set<int32_t> there;
        for (const int32_t n : Must(Blocks().ListBlockFiles())) {
            // A crash may leave files that were begun, which are written again.
            if (n <= Blocks().LastFile()) there.insert(n);
        }
        CHECK(there == used);
    }

    ChainManager* chain = nullptr;
    // Set before Open().
    PruneLocks* locks = nullptr;
    size_t coins_cache_bytes = 0; //!< of the database; 0: the default

private:
    Env& m_env;
    const ChainParams& m_params;
    const Path m_base;
    const KvIoCheck m_check;
    std::atomic<bool> m_interrupt{false};
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    AcceptAllScripts m_scripts;
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;
};

ChainParams FastPrune()
{
    NetworkOptions options;
    options.fast_prune = true;
    return MakeChainParams(Network::kRegtest, options);
}

/** A directory with kBlocks, all written. */
void Prepare(const ChainParams& params, const Path& base, std::span<const KitBlock> blocks)
{
    std::filesystem::create_directories(base);
    const auto env = MakePosixEnv();
    PrunedNode node(*env, params, base);
    Must(node.Open());
    Must(node.Feed(blocks.first(kBlocks)));
    Must(node.chain->Flush(FlushMode::kAlways));
    CHECK_FALSE(node.chain->LastWithoutData());
    node.Close();
}

} // namespace

TEST_CASE("pruned files are gone, for the index too, and the chain goes on")
{
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks + kMore);
    const TempDir dir;
    Prepare(params, dir.Get(), blocks);
    const auto env = MakePosixEnv();
    PrunedNode node(*env, params, dir.Get());
    Must(node.Open());
    CHECK_FALSE(node.chain->HasPruned());
    const uint64_t before = node.Blocks().DiskUsage();
    Must(node.Feed(std::span(blocks).subspan(kBlocks)));

    Must(node.chain->PruneTo(0));
    CHECK_FALSE(node.chain->HasPruned());
    Must(node.chain->PruneTo(60));
    const int32_t first = *node.chain->LastWithoutData();
    CHECK(first > 0);
    CHECK(first <= 60);
    CHECK(Must(node.Index().Flag(kPrunedFlag)) == true);
    CHECK(node.Blocks().DiskUsage() < before);
    CHECK_FALSE(node.Files().contains("blk00000.dat"));
    CHECK_FALSE(node.Files().contains("rev00000.dat"));
    node.CheckConsistent();
    Must(node.chain->PruneTo(10'000)); // no more than may go
    const int32_t last = *node.chain->LastWithoutData();
    CHECK(last > first);
    CHECK(last <= kBlocks + kMore - kMinBlocksToKeep);
    node.CheckConsistent();
    CHECK(Must(VerifyChain(*node.chain, 4, kMinBlocksToKeep)));
    CHECK_FALSE(Must(VerifyChain(*node.chain, 4, 0)).complete);

    // A pruned block that is received again is stored again.
    const HeaderNode* const second = node.chain->Tip()->Ancestor(2);
    CHECK_FALSE(second->HasData());
    const BlockOutcome again = Must(node.chain->ProcessBlock(blocks[1].raw));
    CHECK(again.is_new);
    CHECK(second->HasData());
    CHECK(Must(node.chain->ReadBlock(*second)) == blocks[1].raw);
    CHECK(node.chain->LastWithoutData() == last);

    Must(node.chain->Flush(FlushMode::kAlways));
    node.Close();
    Must(node.Open());
    CHECK(node.chain->HasPruned());
    CHECK(node.chain->Tip()->hash == blocks.back().hash);
    CHECK(node.chain->LastWithoutData() == last);
    const std::vector<KitBlock> more = kit.MakeChain(blocks.back(), 5);
    Must(node.Feed(more));
    CHECK(node.chain->Tip()->hash == more.back().hash);
    // A better branch with a fork below the stored blocks ends the node without damage.
    const std::vector<KitBlock> branch = kit.MakeChain(blocks[last - 5], kBlocks, 7);
    const Result<> fed = node.Feed(branch);
    REQUIRE_FALSE(fed);
    CHECK(fed.Message() == "Failed to disconnect block.");
    CHECK(node.chain->Tip()->hash == more.back().hash);
    node.CheckConsistent();
}

TEST_CASE("no block goes that a reader needs, now or after a crash")
{
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks);
    const bool manual = GENERATE(true, false);
    const TempDir dir;
    std::filesystem::create_directories(dir.Get());
    const auto env = MakePosixEnv();
    PrunedNode node(*env, params, dir.Get());
    FakeLocks locks;
    node.locks = &locks;
    Must(node.Open(manual ? kManualPruning : kBuffer + 1));
    Must(node.Feed(blocks));
    const auto prune = [&] { // the automatic one at the next start
        if (manual) return Must(node.chain->PruneTo(kBlocks));
        Must(node.chain->PruneAtStart());
    };
    prune();
    CHECK_FALSE(node.chain->HasPruned());
    CHECK(locks.asked == 0); // no coins are written without need
    locks.now = kBlocks;
    prune();
    CHECK_FALSE(node.chain->HasPruned());
    CHECK(locks.asked == 1);
    int32_t before = 0;
    for (const int32_t height : {70, 120}) { // a file has some 50 blocks
        locks.saved = height;
        prune();
        const int32_t last = node.chain->LastWithoutData().value_or(0);
        CHECK(last > before);
        CHECK(last <= height - 11);
        node.CheckConsistent();
        before = last;
    }
    locks.now = 40; // as after a reorganisation
    locks.saved = kBlocks;
    prune();
    CHECK(node.chain->LastWithoutData() == before);
}

TEST_CASE("files go of their own when they have grown above the target")
{
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks + kMore);
    const TempDir dir;
    std::filesystem::create_directories(dir.Get());
    const auto env = MakePosixEnv();
    PrunedNode node(*env, params, dir.Get());
    // Less than the blocks that must be kept: all others go as soon as they may.
    Must(node.Open(kBuffer + 1));
    Must(node.Feed(blocks));
    const auto last = node.chain->LastWithoutData();
    REQUIRE(last);
    CHECK(*last > 0);
    CHECK(*last <= kBlocks + kMore - kMinBlocksToKeep);
    node.CheckConsistent();
    node.Close();

    // With room for all, nothing does.
    const TempDir other;
    PrunedNode wide(*env, params, other.Get());
    Must(wide.Open(kBuffer + (50 << 20)));
    Must(wide.Feed(blocks));
    CHECK_FALSE(wide.chain->LastWithoutData());
    CHECK_FALSE(wide.chain->HasPruned());
    // Started with less, it prunes at once.
    Must(wide.chain->Flush(FlushMode::kAlways));
    wide.Close();
    Must(wide.Open(kBuffer + 1));
    CHECK(wide.chain->LastWithoutData());
    wide.CheckConsistent();
}

TEST_CASE("a block of a stale branch that was pruned and waits for its parent")
{
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks);
    const std::vector<KitBlock> stale = kit.MakeChain(kit.Genesis(), 2, 9);
    const TempDir dir;
    const auto env = MakePosixEnv();
    PrunedNode node(*env, params, dir.Get());
    Must(node.Open());
    REQUIRE(!node.chain->AcceptHeader(BlockHeader::FromBytes(stale[0].raw.data())));
    Must(node.Feed(std::span(stale).subspan(1)));
    Must(node.Feed(blocks));
    Must(node.chain->PruneTo(50));
    const HeaderNode* const child = node.chain->Read().Find(stale[1].hash);
    CHECK_FALSE(child->HasData());
    CHECK(child->tx_count == 1);
    CHECK(child->chain_tx_count == 0);
    Must(node.Feed(stale)); // both again: linked once
    CHECK(child->HasData());
    CHECK(child->chain_tx_count == 3);
    Must(node.chain->PruneTo(100));
    Must(node.chain->Flush(FlushMode::kAlways));
    node.Close();
    Must(node.Open());
    Must(node.Feed(kit.MakeChain(blocks.back(), 1)));
    CHECK(node.chain->Tip()->height == kBlocks + 1);
}

TEST_CASE("the coins are synced before a block file is deleted")
{
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks);
    const TempDir dir;
    Prepare(params, dir.Get(), blocks);
    FaultEnv env;
    PrunedNode node(env, params, dir.Get(),
                    [&](const char* kind, const Path& path) { return env.Step(kind, path); });
    node.coins_cache_bytes = 1 << 18; // LevelDB begins a new log after 64 KiB
    Must(node.Open());
    BlockView first;
    Must(first.Parse(blocks[0].raw));
    const Amount value = first.Txs()[0].outputs[0].value;
    KitOptions many;
    many.txs.push_back(
        SpendTx({{first.Txs()[0].txid, 0}}, std::vector<Amount>(3000, value / 3000)));
    Must(node.Feed({{kit.Make(blocks.back(), many)}}));
    std::map<Path, std::string> last; // operation on each log of the coins' database
    std::map<Path, std::string> at_removal;
    size_t writes = 0;
    env.SetScript([&](const FaultEnv::Operation& now) {
        if (now.path.parent_path().filename() == "chainstate" && now.path.extension() == ".log") {
            last[now.path] = now.kind;
            writes += now.kind == "write" ? 1 : 0;
        }
        if (now.path.filename() == "blk00000.dat" && now.kind == "remove") at_removal = last;
        return false;
    });
    Must(node.chain->PruneTo(kBlocks));
    CHECK(writes > 0);
    CHECK(at_removal.size() > 1);
    for (const auto& [log, operation] : at_removal) {
        INFO(log.string());
        CHECK((operation == "sync" || operation == "remove")); // removed: a table has its changes
    }
}

// Each disk operation fails once, or is the last before a kill. After a restart the same files are
// deleted as without the fault, and every file that the index names exists.
TEST_CASE("a fault while files are pruned costs a restart and nothing else")
{
    const bool dies = GENERATE(false, true);
    const ChainParams params = FastPrune();
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kBlocks + kMore);
    const TempDir dir;
    Prepare(params, dir.Get() / "base", blocks);
    std::set<std::string> kinds;
    const auto live = [&](uint64_t number) {
        const Path copy = dir.Get() / "copy";
        std::filesystem::remove_all(copy);
        std::filesystem::copy(dir.Get() / "base", copy, std::filesystem::copy_options::recursive);
        FaultEnv env(number);
        const KvIoCheck check = [&](const char* kind, const Path& path) {
            return env.Step(kind, path);
        };
        PrunedNode node(env, params, copy, check);
        Must(node.Open());
        Must(node.Feed(std::span(blocks).subspan(kBlocks)));
        const uint64_t before = env.Operations();
        if (dies) env.CrashAt(before + number);
        env.SetScript([&](const FaultEnv::Operation& operation) {
            if (operation.number != before + number) return false;
            kinds.insert(operation.kind);
            return true;
        });
        (void)node.chain->PruneTo(kBlocks);
        const uint64_t operations = env.Operations() - before;
        node.Close();
        if (dies) env.LoseUnsynced();

        FaultEnv healthy;
        PrunedNode again(healthy, params, copy);
        Must(again.Open());
        CHECK(again.chain->Tip()->height >= kBlocks);
        again.CheckConsistent(); // also what was deleted half
        Must(again.Feed(std::span(blocks).subspan(kBlocks)));
        Must(again.chain->PruneTo(kBlocks));
        CHECK(again.chain->Tip()->hash == blocks.back().hash);
        again.CheckConsistent();
        const auto files = again.Files();
        again.Close();
        return std::pair{operations, files};
    };
    const auto [operations, wanted] = live(1'000'000);
    REQUIRE(operations > 15);
    for (uint64_t number = 0; number < operations; ++number) {
        INFO("operation " << number << " of " << operations << (dies ? ", the last" : ""));
        CHECK(live(number).second == wanted);
    }
    if (dies) return; // a killed machine does not report the request
    CHECK(kinds.contains("remove"));
    CHECK(kinds.contains("sync"));
}

} // namespace ibd::test
