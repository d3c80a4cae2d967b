// Tables written without LevelDB, opened and read by LevelDB; the swap of directories.
#include "storage/chainstate_builder.h"
#include "storage/coins_db.h"
#include "storage/crc32c.h"
#include "support.h"
#include "util/hex.h"

#include <fstream>
#include <map>
#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

using Records = std::map<Bytes, Bytes>;

Records RandomRecords(size_t n, size_t value_size)
{
    Records records;
    OutPoint outpoint = RandomOutPoint();
    while (records.size() < n) {
        if (RandomBelow(3)) outpoint.txid = RandomOutPoint().txid;
        outpoint.vout = static_cast<uint32_t>(RandomBelow(RandomBelow(4) ? 3 : 100'000));
        const CoinKey key(outpoint);
        records[Bytes(key.Span().begin(), key.Span().end())] =
            RandomBytes(1 + RandomBelow(RandomBelow(50) ? value_size : 20 * value_size));
    }
    return records;
}

std::unique_ptr<CoinsDb> OpenCoins(const Path& directory)
{
    return Must(CoinsDb::Open(TestEnv(), TestLog(), {.directory = directory}));
}

/** All records but the obfuscation key and the best block, values in the clear. */
Records ReadAll(const KvStore& kv)
{
    Records records;
    KvIterator it = kv.NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
        if (it.Key()[0] != 'C') continue;
        const ByteSpan value = it.Value();
        records[Bytes(it.Key().begin(), it.Key().end())] = Bytes(value.begin(), value.end());
    }
    Must(it.Status());
    return records;
}

/** Writes records with `writers` threads, each a range of keys. */
std::vector<TableFile> WriteParallel(ChainstateBuilder& builder, const Records& records,
                                     size_t writers)
{
    std::vector<std::vector<TableFile>> parts(writers);
    std::vector<std::thread> threads;
    for (size_t w = 0; w < writers; ++w) {
        threads.emplace_back([&, w] {
            const auto writer = builder.NewWriter();
            size_t i = 0;
            for (const auto& [key, value] : records) {
                if (i++ * writers / records.size() == w) Must(writer->Add(key, value));
            }
            parts[w] = Must(writer->Finish());
        });
    }
    for (std::thread& t : threads) t.join();
    std::vector<TableFile> tables;
    for (auto& part : parts) {
        for (TableFile& table : part) tables.push_back(std::move(table));
    }
    return tables;
}

void Build(const Path& directory, const Records& records, size_t writers, const BlockHash& best,
           uint64_t max_file_bytes = 32 << 20, bool obfuscate = true)
{
    auto builder =
        Must(ChainstateBuilder::Create(TestEnv(), {directory, obfuscate, max_file_bytes}));
    Must(builder->Publish(WriteParallel(*builder, records, writers), best));
}

int FilesAtLevel(const KvStore& kv, int level)
{
    const std::string n = kv.Property("leveldb.num-files-at-level" + std::to_string(level));
    return std::atoi(n.c_str());
}

BlockHash RandomHash() { return BlockHash::FromBytes(RandomBytes(32).data()); }

} // namespace

TEST_CASE("CRC-32C: known values, and each way equals the table")
{
    CHECK(Crc32c(AsBytes("123456789")) == 0xe3069283);
    CHECK(Crc32c(Bytes(32, 0)) == 0x8a9136aa);
    CHECK(Crc32c(Bytes(32, 0xff)) == 0x62a8ab43);
    const auto table = Crc32cWays()[0].compute;
    for (const Crc32cWay& way : Crc32cWays()) {
        CAPTURE(way.name);
        const Bytes data = RandomBytes(9'000);
        for (size_t size = 0; size <= 1'500; ++size) {
            const auto start = static_cast<uint32_t>(TestRng()());
            const ByteSpan some = ByteSpan(data).subspan(RandomBelow(64), size);
            REQUIRE(way.compute(some, start) == table(some, start));
        }
        for (int i = 0; i < 100; ++i) {
            // Above the sizes from which on several streams, or vectors, are read at a time.
            const ByteSpan some = ByteSpan(data).subspan(RandomBelow(data.size()));
            const ByteSpan first = some.first(RandomBelow(some.size() + 1));
            const ByteSpan rest = some.subspan(first.size());
            REQUIRE(way.compute(rest, way.compute(first, 0)) == table(some, 0));
        }
    }
}

TEST_CASE("LevelDB reads back what the table writer wrote, of any size and number of writers")
{
    for (size_t n : {1u, 2u, 16u, 17u, 1000u, 30'000u}) {
        for (bool obfuscate : {true, false}) {
            const TempDir dir;
            const Records records = RandomRecords(n, 40);
            const BlockHash best = RandomHash();
            Build(dir / "chainstate", records, 1 + n / 500, best, 200'000, obfuscate);
            const auto db = OpenCoins(dir / "chainstate");
            CHECK(Must(db->BestBlock()) == best);
            CHECK(Must(db->HeadBlocks()).empty());
            CHECK(db->Kv().Key().IsZero() == !obfuscate);
            REQUIRE((ReadAll(db->Kv()) == records));
            size_t i = 0;
            for (const auto& [key, value] : records) {
                if (n > 1000 && i++ % 7) continue;
                REQUIRE(Must(db->Kv().Get(key)) == value);
                Bytes absent = key;
                absent.back() ^= 0x40;
                if (!records.count(absent)) REQUIRE_FALSE(Must(db->Kv().Exists(absent)));
                REQUIRE_FALSE(Must(db->Has(RandomOutPoint())));
            }
        }
    }
}

TEST_CASE("the tables lie on one level and LevelDB finds nothing to compact")
{
    const TempDir dir;
    const Records records = RandomRecords(20'000, 60);
    Build(dir / "chainstate", records, 3, RandomHash(), 100'000);
    const auto db = OpenCoins(dir / "chainstate");
    CHECK(FilesAtLevel(db->Kv(), 2) > 10);
    for (int level : {0, 1, 3, 4, 5, 6}) CHECK(FilesAtLevel(db->Kv(), level) == 0);
    // Its own idea of where keys lie agrees with the sizes of the tables.
    const uint64_t size = db->EstimateSize();
    CHECK(size > 500'000);
    CHECK(size < 5'000'000);
}

TEST_CASE("a database made from tables lives on as any other")
{
    const TempDir dir;
    const Records records = RandomRecords(5000, 40);
    Records expected;
    const BlockHash best = RandomHash(), next = RandomHash();
    Build(dir / "chainstate", records, 2, best, 50'000);
    {
        const auto db = OpenCoins(dir / "chainstate");
        CoinsWriter writer = Must(db->StartWrite(next));
        size_t i = 0;
        for (const auto& [key, value] : records) {
            OutPoint outpoint;
            REQUIRE(ParseCoinKey(key, outpoint));
            if (++i % 3 == 0) {
                writer.Erase(outpoint);
            } else if (i % 3 == 1) {
                writer.PutRaw(outpoint, expected[key] = RandomBytes(20));
            } else {
                expected[key] = value;
            }
        }
        Must(writer.Commit());
        REQUIRE((ReadAll(db->Kv()) == expected));
    }
    const auto db = OpenCoins(dir / "chainstate");
    db->CompactRange();
    REQUIRE((ReadAll(db->Kv()) == expected));
    CHECK(Must(db->BestBlock()) == next);
}

TEST_CASE("an empty set still makes a database")
{
    const TempDir dir;
    const BlockHash best = RandomHash();
    Build(dir / "chainstate", {}, 0, best);
    const auto db = OpenCoins(dir / "chainstate");
    CHECK(Must(db->BestBlock()) == best);
    CHECK_FALSE(db->Cursor().Valid());
}

TEST_CASE("a manifest of many tables crosses the borders of its log")
{
    const TempDir dir;
    const Records records = RandomRecords(8000, 200);
    Build(dir / "chainstate", records, 4, RandomHash(), 100); // every few records are a table
    CHECK(std::filesystem::file_size(dir / "chainstate/MANIFEST-000001") > 32768);
    const auto db = OpenCoins(dir / "chainstate");
    CHECK((ReadAll(db->Kv()) == records));
}

TEST_CASE("Core's chainstate, copied into tables, has the same coins")
{
    const TempDir dir;
    if (!UnpackGolden(dir)) return;
    const auto core = OpenCoins(dir / "chainstate");
    const Records records = ReadAll(core->Kv());
    CHECK(records.size() == 13'416);
    Build(dir / "copy", records, 2, Must(core->BestBlock()));
    const auto copy = OpenCoins(dir / "copy");
    REQUIRE((ReadAll(copy->Kv()) == records));
    CHECK(copy->Cursor().BestBlock() == core->Cursor().BestBlock());
}

TEST_CASE("publishing replaces the old chainstate and leaves nothing else")
{
    const TempDir dir;
    const Path target = dir / "chainstate";
    const Records first = RandomRecords(100, 40), second = RandomRecords(100, 40);
    Build(target, first, 1, RandomHash());
    Build(target, second, 1, RandomHash());
    CHECK((ReadAll(OpenCoins(target)->Kv()) == second));
    CHECK(Must(TestEnv().List(dir.Get())) == std::vector<std::string>{"chainstate"});
}

TEST_CASE("an interrupted publication is finished or undone")
{
    const Records first = RandomRecords(50, 40), second = RandomRecords(50, 40);
    namespace fs = std::filesystem;
    // State of the three directories after a crash, and whose coins must be there afterwards.
    struct Case {
        bool target, fresh, fresh_complete, old;
        const Records* expected;
    };
    for (const Case& c : {Case{true, true, false, false, &first}, // tables under way
                          Case{true, true, true, false, &first},  // before the first rename
                          Case{false, true, true, true, &second}, // between the renames
                          Case{false, true, false, true, &first}, // cannot happen; still safe
                          Case{true, false, false, true, &first}, // before the old one is removed
                          Case{true, false, false, false, &first}}) {
        const TempDir dir;
        const Path target = dir / "chainstate";
        Build(dir / "a", first, 1, RandomHash());
        Build(dir / "b", second, 1, RandomHash());
        const WorkFolder work(target);
        Must(work.Make(TestEnv()));
        if (c.fresh) fs::copy(dir / "b", work.New());
        if (c.fresh && !c.fresh_complete) fs::remove(work.New() / "CURRENT");
        if (c.target) fs::copy(dir / "a", target);
        if (c.old) fs::copy(dir / (c.target ? "b" : "a"), work.Old());
        fs::create_directory(work.Batch());
        Must(RecoverDb(TestEnv(), TestLog(), target));
        CHECK((ReadAll(OpenCoins(target)->Kv()) == *c.expected));
        CHECK_FALSE(fs::exists(work.Get()));
    }
}

TEST_CASE("a work folder that the booster did not make is not touched")
{
    namespace fs = std::filesystem;
    const TempDir dir;
    const Path target = dir / "chainstate";
    const WorkFolder work(target);
    // Users keep copies under such names; earlier versions took them for their own.
    const std::vector<Path> foreign = {dir / "chainstate.old", dir / "chainstate.new",
                                       dir / "chainstate.batch", work.Get()};
    for (const Path& folder : foreign) {
        fs::create_directories(folder / "new");
        std::ofstream(folder / "new" / "CURRENT") << "mine";
    }
    Must(RecoverDb(TestEnv(), TestLog(), target));
    CHECK_FALSE(fs::exists(target));
    const auto refused = ChainstateBuilder::Create(TestEnv(), {target});
    CHECK_FALSE(refused.Ok());
    CHECK(refused.Message().find("move it away") != std::string::npos);
    for (const Path& folder : foreign) CHECK(fs::exists(folder / "new" / "CURRENT"));

    // A foreign file in our work folder is kept, and so is the marker.
    fs::remove_all(work.Get());
    Must(work.Make(TestEnv()));
    fs::create_directory(work.New());
    std::ofstream(work.Get() / "mine") << "mine";
    Must(RecoverDb(TestEnv(), TestLog(), target));
    CHECK_FALSE(fs::exists(work.New()));
    CHECK(fs::exists(work.Get() / "mine"));
    CHECK(fs::exists(work.Marker()));

    // A file of that name is no folder of ours either.
    fs::remove_all(work.Get());
    std::ofstream(work.Get()) << "mine";
    Must(RecoverDb(TestEnv(), TestLog(), target));
    CHECK(fs::exists(work.Get()));
    CHECK_FALSE(work.Make(TestEnv()).Ok());

    // A death between making and marking it leaves an empty one.
    fs::remove_all(work.Get());
    fs::create_directory(work.Get());
    Must(work.Make(TestEnv()));
    CHECK(fs::exists(work.Marker()));
}

TEST_CASE("every flipped bit of a table is noticed when it is read")
{
    const TempDir dir;
    const Records records = RandomRecords(200, 40);
    Build(dir / "chainstate", records, 1, RandomHash());
    Path table;
    for (const auto& entry : std::filesystem::directory_iterator(dir / "chainstate")) {
        if (entry.path().extension() == ".ldb" && entry.file_size() > 5000) table = entry.path();
    }
    const Bytes good = Must(ReadWholeFile(TestEnv(), table));
    for (int i = 0; i < 25; ++i) {
        Bytes bad = good;
        bad[RandomBelow(bad.size() / 2)] ^= static_cast<uint8_t>(1 << RandomBelow(8));
        std::ofstream(table, std::ios::binary)
            .write(reinterpret_cast<const char*>(bad.data()), std::streamsize(bad.size()));
        const auto db = CoinsDb::Open(TestEnv(), TestLog(), {.directory = dir / "chainstate"});
        if (!db) continue;
        CoinsCursor cursor = (*db)->Cursor();
        while (cursor.Valid()) cursor.Next();
        CHECK_FALSE(cursor.Status().Ok());
    }
}
