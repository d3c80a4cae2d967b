// Reading and writing of a block and of undo data on a disk of which each operation fails once.
#include "crypto/sha256.h"
#include "sim/fault_env.h"
#include "storage/block_archive.h"
#include "storage/undo.h"
#include "support.h"
#include "util/found.h"

#include <filesystem>

#include <fmt/format.h>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint64_t kMostOperations = 50; //!< of one call; more: the loop below has no end

BlockUndo SomeUndo(size_t coins)
{
    BlockUndo undo;
    undo.txs.resize(2);
    for (size_t i = 0; i < coins; ++i) {
        Coin coin = RandomCoin();
        coin.script = RandomBytes(30);
        undo.txs[i % 2].spent.push_back(std::move(coin));
    }
    return undo;
}

/** A block and its undo data, in a store on a machine whose faults a test chooses. */
struct Disk {
    explicit Disk(size_t block_size, size_t coins)
        : block(RandomBlock(block_size)), undo(SomeUndo(coins)), prev(Sha256d(block)),
          hash(Sha256d(ByteSpan(block).first(80)))
    {
        BlockStoreOptions options;
        options.blocks_dir = dir.Get();
        options.magic = kMainMagic;
        options.block_chunk = 16 << 10;
        options.undo_chunk = 4 << 10;
        store = Must(BlockStore::Open(env, TestLog(), options));
    }
    void Write()
    {
        at = Must(store->WriteBlock(block, 1, 0));
        undo_at = Must(store->WriteUndo(at.file, undo.Encode(), prev, 1));
    }
    void CheckContents() const
    {
        CHECK(Must(store->ReadBlock(at, &hash)) == block);
        CHECK(Must(store->ReadBlockUndo(undo_at, prev)) == undo);
    }
    /** The operation with this number, counted from now on, fails. */
    void Fail(uint64_t nth)
    {
        failed.clear();
        env.SetScript([this, number = env.Operations() + nth](const auto& operation) {
            if (operation.number != number) return false;
            failed = operation.kind;
            return true;
        });
    }

    const TempDir dir;
    FaultEnv env;
    Bytes block;
    BlockUndo undo;
    BlockHash prev, hash;
    std::unique_ptr<BlockStore> store;
    FilePos at, undo_at;
    std::string failed; //!< kind of the operation that failed; empty: none
};

/** Has each operation of a call fail in turn; the last run is without a fault. Returns the kinds of
 *  the operations, in order. */
template <typename Call>
std::vector<std::string> FailEach(Disk& disk, Call call)
{
    std::vector<std::string> kinds;
    for (uint64_t nth = 0; nth < kMostOperations; ++nth) {
        disk.Fail(nth);
        const auto result = call();
        disk.env.SetScript({});
        if (disk.failed.empty()) {
            CHECK(result.Ok());
            break;
        }
        kinds.push_back(disk.failed);
        INFO(kinds.back());
        REQUIRE_FALSE(result.Ok());
        CHECK(result.GetError().kind == Error::Kind::kSystem); // and never damage
        disk.CheckContents();
    }
    return kinds;
}

using Kinds = std::vector<std::string>;

} // namespace

TEST_CASE("a small record is read with one call, a large one with two; no failure is damage")
{
    for (const bool large : {false, true}) {
        Disk disk(large ? 100'000 : 1000, large ? 3000 : 10);
        disk.Write();
        const Kinds reads = large ? Kinds{"open", "read", "read"} : Kinds{"open", "read"};
        const auto& store = *disk.store;
        CHECK(FailEach(disk, [&] { return store.ReadBlock(disk.at, &disk.hash); }) == reads);
        CHECK(FailEach(disk, [&] { return store.ReadBlockUndo(disk.undo_at, disk.prev); }) ==
              reads);
        CHECK(FailEach(disk, [&] { return store.CheckUndo(disk.undo_at, disk.prev); }) == reads);
        CHECK(FailEach(disk, [&] { return store.ReadUndo(disk.undo_at, disk.prev); }) == reads);
    }
}

TEST_CASE("an undo file that is gone is damage; one that cannot be looked for is not")
{
    Disk disk(1000, 10);
    disk.Write();
    std::filesystem::remove(disk.store->UndoPath(0));
    const auto gone = disk.store->ReadBlockUndo(disk.undo_at, disk.prev);
    CHECK(IsBadData(gone));
    CHECK_THAT(gone.Message(), Catch::Contains("there is no such file"));
    disk.Fail(1); // the look for the file
    CHECK(SystemFailed(disk.store->ReadBlockUndo(disk.undo_at, disk.prev)));
    CHECK(disk.failed == "look");
}

TEST_CASE("records that end with the file, and records cut by it, at every border of the reads")
{
    // The first call reads 32 KiB with the frame.
    constexpr size_t kFirst = (32 << 10) - 8;
    for (const size_t size : {size_t{80}, kFirst - 33, kFirst - 32, kFirst - 31, kFirst - 1, kFirst,
                              kFirst + 1, size_t{262'144} - 32, size_t{262'145}, size_t{300'000}}) {
        Disk disk(size - 80, 0);
        disk.at = Must(disk.store->WriteBlock(disk.block, 1, 0));
        const Bytes data = RandomBytes(size);
        disk.undo_at = Must(disk.store->WriteUndo(0, data, disk.prev, 1));
        const uint64_t block_end = disk.at.offset + size;
        const uint64_t undo_end = disk.undo_at.offset + size + kUndoChecksumSize;
        std::filesystem::resize_file(disk.store->BlockPath(0), block_end);
        std::filesystem::resize_file(disk.store->UndoPath(0), undo_end);
        CHECK(Must(disk.store->ReadBlock(disk.at, &disk.hash)) == disk.block);
        CHECK(Must(disk.store->ReadUndo(disk.undo_at, disk.prev)) == data);
        std::filesystem::resize_file(disk.store->BlockPath(0), block_end - 1);
        std::filesystem::resize_file(disk.store->UndoPath(0), undo_end - 1);
        const auto block = disk.store->ReadBlock(disk.at, &disk.hash);
        CHECK(IsBadData(block));
        CHECK_THAT(block.Message(), Catch::Contains(fmt::format("ends at {}", block_end - 1)));
        const auto undo = disk.store->ReadUndo(disk.undo_at, disk.prev);
        CHECK(IsBadData(undo));
        CHECK_THAT(undo.Message(), Catch::Contains(fmt::format("ends at {}", undo_end - 1)));
        // A disk that gives less than it has.
        disk.env.CutReads([](const Path&) { return true; });
        CHECK(IsBadData(disk.store->ReadUndo(disk.undo_at, disk.prev)));
    }
}

TEST_CASE(
    "a write that fails at any operation leaves the records as they were, and can be repeated")
{
    Disk disk(20'000, 3000);
    disk.Write();
    const auto attempt = [&](auto write) {
        return FailEach(disk, [&, write] {
            const auto before = disk.store->Files();
            const Result<FilePos> done = write();
            if (!done) CHECK(disk.store->Files() == before);
            return done;
        });
    };
    const Bytes undo = disk.undo.Encode();
    CHECK(attempt([&] { return disk.store->WriteBlock(disk.block, 2, 0); }) ==
          Kinds{"allocate", "write"});
    CHECK(attempt([&] { return disk.store->WriteUndo(0, undo, disk.prev, 2); }) ==
          Kinds{"allocate", "write"});
    CHECK(disk.store->Files().front().blocks == 2);
    disk.CheckContents();
}
