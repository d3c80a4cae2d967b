// FileBlockSource on disks that are cold, whole or in part, and fail: each block of the plan once,
// with its bytes, in every order of reading.
#include "swiftsync/file_block_source.h"

#include "sim/fault_env.h"
#include "support/kept_log.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"

#include <deque>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

uint64_t Random(uint64_t below) { return TestRng()() % below; }

/** A store with blocks of random bytes in several files. */
struct Stored {
    explicit Stored(size_t count)
    {
        store = Must(BlockStore::Open(env, log,
                                      {.blocks_dir = dir.Get(),
                                       .magic = {0xfa, 0xbf, 0xb5, 0xda},
                                       .max_file_size = 3 << 20,
                                       .block_chunk = 1 << 20}));
        for (size_t i = 0; i < count; ++i) {
            const size_t size = Random(3) == 0 ? 80 + Random(2000) : 100'000 + Random(300'000);
            raw.push_back(RandomBytes(size));
            HeaderNode& node = nodes.emplace_back();
            node.height = static_cast<int32_t>(i ^ 3); // not in the order of the files
            const FilePos at = Must(store->WriteBlock(raw.back(), 1, 0));
            planned.push_back({.node = &node,
                               .file = at.file,
                               .offset = at.offset,
                               .tag = static_cast<uint32_t>(i)});
        }
    }

    const TempDir dir;
    FaultEnv env;
    KeptLog log;
    std::unique_ptr<BlockStore> store;
    std::deque<HeaderNode> nodes;
    std::vector<Bytes> raw;
    std::vector<PlannedBlock> planned;
};

/** Takes all blocks in turn from several sources. Returns whether they were read with direct I/O,
 *  or could have been, to the end. */
bool RequireAll(Stored& stored, PlanOrder order)
{
    BlockPlan plan(stored.planned, order);
    plan.Uncached().LogTo(&stored.log);
    std::vector<std::unique_ptr<FileBlockSource>> sources;
    for (int i = 0; i < 3; ++i) {
        sources.push_back(std::make_unique<FileBlockSource>(stored.env, *stored.store, plan));
    }
    std::vector<int> taken(stored.raw.size());
    while (!sources.empty()) {
        const size_t turn = Random(sources.size());
        SuppliedBlock block;
        if (!Must(sources[turn]->Next(block))) {
            sources.erase(sources.begin() + static_cast<ptrdiff_t>(turn));
            continue;
        }
        const Bytes& right = stored.raw[block.tag];
        REQUIRE(block.bytes.size() == right.size());
        REQUIRE(std::equal(right.begin(), right.end(), block.bytes.begin()));
        ++taken[block.tag];
    }
    for (const int times : taken) CHECK(times == 1);
    return plan.Uncached().Allowed();
}

constexpr PlanOrder kOrders[] = {PlanOrder::OfFiles(1 << 20), PlanOrder::OfFiles(1),
                                 PlanOrder::OfChain(2 << 20)};

} // namespace

TEST_CASE("a FileBlockSource gives each block once, with its bytes, whatever is cold")
{
    for (const PlanOrder& order : kOrders) {
        Stored stored(60);
        CHECK(RequireAll(stored, order)); // warm
        stored.env.MakeCold([](uint64_t) { return true; });
        CHECK(RequireAll(stored, order));
        const uint64_t salt = TestRng()();
        stored.env.MakeCold([=](uint64_t at) { return (salt >> (at >> 17) % 64) & 1; });
        CHECK(RequireAll(stored, order));
    }
}

TEST_CASE("a FileBlockSource reads cold blocks around the cache, and hardly any of them twice")
{
    for (const PlanOrder& order : kOrders) {
        Stored stored(60);
        std::mutex mutex;
        std::map<std::string, int> done;
        stored.env.MakeCold([](uint64_t) { return true; });
        stored.env.SetScript([&](const FaultEnv::Operation& operation) {
            const std::scoped_lock lock(mutex);
            ++done[operation.kind];
            return false;
        });
        CHECK(RequireAll(stored, order));
        const std::scoped_lock lock(mutex);
        size_t large = 0;
        for (const Bytes& block : stored.raw) {
            if (block.size() >= FileBlockSource::kLeastUncached) large += block.size();
        }
        CHECK(static_cast<size_t>(done["read uncached"]) >= large / AheadReader::kPieceBytes);
        // In stretches the ends of files; block by block also the small ones, with two calls each.
        if (!order.by_height && order.bytes > 1) CHECK(done["read"] < 20);
    }
}

TEST_CASE("a FileBlockSource whose reads around the cache fail or stop short loses no block")
{
    for (const PlanOrder& order : kOrders) {
        for (const int nth : {0, 1, 2, 7, -1}) {
            for (const char* kind : {"open uncached", "read uncached"}) {
                Stored stored(60);
                stored.env.MakeCold([](uint64_t) { return true; });
                stored.env.CutUncached(nth < 0);
                std::atomic<int> done = 0;
                stored.env.SetScript([&](const FaultEnv::Operation& operation) {
                    return operation.kind == kind && done++ == nth;
                });
                const size_t lines = stored.log.Lines().size();
                const bool allowed = RequireAll(stored, order);
                const bool failed = nth < 0 || done > nth;
                CHECK(allowed == !failed);
                CHECK(stored.log.Lines().size() == lines + (failed ? 1 : 0));
            }
        }
    }
}

TEST_CASE("a FileBlockSource gives no stretch that it claimed ahead of the plan's end")
{
    Stored stored(60);
    stored.env.MakeCold([](uint64_t) { return true; });
    BlockPlan plan(stored.planned, PlanOrder::OfFiles(1));
    FileBlockSource source(stored.env, *stored.store, plan);
    SuppliedBlock block;
    REQUIRE(Must(source.Next(block)));
    plan.Stop();
    CHECK_FALSE(Must(source.Next(block)));
}
