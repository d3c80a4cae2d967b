// The LevelDB wrapper, the coins database and the block index on fresh and damaged directories.
#include "storage/block_index_db.h"
#include "storage/coins_db.h"
#include "support.h"
#include "support/aborts.h"
#include "util/hex.h"

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

std::unique_ptr<KvStore> OpenKv(const Path& directory, bool obfuscate = true)
{
    KvOptions o;
    o.directory = directory;
    o.obfuscate = obfuscate;
    return Must(KvStore::Open(TestEnv(), TestLog(), o));
}

std::unique_ptr<CoinsDb> OpenCoins(const Path& directory, size_t batch_bytes = 32 << 20)
{
    CoinsDbOptions o;
    o.directory = directory;
    o.batch_bytes = batch_bytes;
    return Must(CoinsDb::Open(TestEnv(), TestLog(), o));
}

std::unique_ptr<BlockIndexDb> OpenIndex(const Path& directory)
{
    return Must(BlockIndexDb::Open(TestEnv(), TestLog(), {.directory = directory}));
}

BlockHash RandomHash() { return BlockHash::FromBytes(RandomBytes(32).data()); }

/** Core's order of coins: by the bytes of their keys. */
using CoinMap = std::map<Bytes, std::pair<OutPoint, Coin>>;

Bytes KeyOf(const OutPoint& outpoint)
{
    const CoinKey key(outpoint);
    return Bytes(key.Span().begin(), key.Span().end());
}

CoinMap AllCoins(const CoinsDb& db)
{
    CoinMap coins;
    CoinsCursor cursor = db.Cursor();
    for (; cursor.Valid(); cursor.Next()) {
        coins[KeyOf(cursor.Key())] = {cursor.Key(), Must(cursor.Value())};
    }
    Must(cursor.Status());
    return coins;
}

/** All records but the obfuscation key. */
std::map<Bytes, Bytes> RecordsOf(const KvStore& store)
{
    std::map<Bytes, Bytes> records;
    KvIterator it = store.NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
        if (std::ranges::equal(it.Key(), ObfuscationRecordKey())) continue;
        records[Bytes(it.Key().begin(), it.Key().end())] =
            Bytes(it.Value().begin(), it.Value().end());
    }
    Must(it.Status());
    return records;
}

Bytes WholeFile(const Path& path) { return Must(ReadWholeFile(TestEnv(), path)); }

/** Flips bits in the first half of each table. */
void DamageTables(const Path& directory)
{
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.path().extension() != ".ldb" && entry.path().extension() != ".sst") continue;
        Bytes bytes = WholeFile(entry.path());
        for (size_t at = 100; at < bytes.size() / 2; at += 1000) bytes[at] ^= 0x10;
        std::ofstream(entry.path(), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    }
}

} // namespace

TEST_CASE("a store keeps its obfuscation key and hides values on disk")
{
    const TempDir dir;
    const Bytes key = {'x'}, value(100, 0x5a);
    XorKey xor_key;
    {
        const auto kv = OpenKv(dir / "db");
        xor_key = kv->Key();
        CHECK_FALSE(xor_key.IsZero());
        KvBatch batch(*kv);
        batch.Put(key, value);
        CHECK(batch.ApproximateSize() > 100);
        Must(kv->Write(batch, true));
        CHECK(Must(kv->Get(key)) == value);
        CHECK(Must(kv->Exists(key)));
        CHECK_FALSE(Must(kv->Exists(Bytes{'y'})));
        CHECK_FALSE(Must(kv->Get(Bytes{'y'})).has_value());
        // A second opener is refused by LevelDB's own lock.
        const auto second = KvStore::Open(TestEnv(), TestLog(), {.directory = dir / "db"});
        REQUIRE_FALSE(second.Ok());
        CHECK(second.GetError().kind == Error::Kind::kSystem);
        CHECK(second.Message().find((dir / "db").string()) != std::string::npos);
    }
    const auto kv = OpenKv(dir / "db", false);
    CHECK(kv->Key() == xor_key);
    CHECK(Must(kv->Get(key)) == value);
    KvIterator it = kv->NewIterator();
    it.SeekToFirst();
    REQUIRE(it.Valid());
    CHECK(ToHex(it.Key()) == "0e00" + ToHex(AsBytes("obfuscate_key")));
    for (const auto& entry : std::filesystem::directory_iterator(dir / "db")) {
        const Bytes bytes = WholeFile(entry.path());
        CHECK(std::search(bytes.begin(), bytes.end(), value.begin(), value.begin() + 16) ==
              bytes.end());
    }
    CHECK(OpenKv(dir / "plain", false)->Key().IsZero());
    CHECK(OpenKv(dir / "plain", false)->IsEmpty().Ok());
}

TEST_CASE("wiping, destroying, compacting, estimating")
{
    const TempDir dir;
    {
        const auto kv = OpenKv(dir / "db", false);
        KvBatch batch(*kv);
        for (int i = 0; i < 2000; ++i) batch.Put(RandomBytes(32), RandomBytes(1000));
        Must(kv->Write(batch));
        kv->CompactRange();
        CHECK(kv->EstimateSize(Bytes{0}, Bytes(33, 0xff)) > 1'000'000);
        CHECK(kv->MemoryUsage() > 0);
        CHECK(kv->Property("leveldb.stats").find("Compactions") != std::string::npos);
        CHECK(kv->Property("nothing").empty());
    }
    KvOptions wipe;
    wipe.directory = dir / "db";
    wipe.wipe = true;
    CHECK(Must(Must(KvStore::Open(TestEnv(), TestLog(), wipe))->IsEmpty()));
    // Only files with names of LevelDB go.
    const Path foreign[] = {dir / "db" / "notes.log", dir / "db" / "7a.log"};
    for (const Path& path : foreign) std::ofstream(path) << "a user's";
    Must(DestroyDb(TestEnv(), dir / "db"));
    CHECK(Must(TestEnv().List(dir / "db")).size() == 2);
    for (const Path& path : foreign) Must(TestEnv().Remove(path));
    Must(DestroyDb(TestEnv(), dir / "db"));
    CHECK_FALSE(TestEnv().Exists(dir / "db"));
    Must(DestroyDb(TestEnv(), dir / "never was"));
}

/** `count` writes, of which only the last are in the log. Record "n" has the number of the last. */
void MakeCounted(const Path& directory, uint8_t count)
{
    KvOptions options;
    options.directory = directory;
    options.cache_bytes = 1 << 20; // a table for each quarter of it
    const auto kv = Must(KvStore::Open(TestEnv(), TestLog(), options));
    for (uint8_t i = 1; i <= count; ++i) {
        KvBatch batch(*kv);
        batch.Put(Bytes{'n'}, Bytes{i});
        batch.Put(Bytes{'r', i}, RandomBytes(20'000));
        Must(kv->Write(batch));
    }
}

/** The number of writes a database holds, each of them whole. */
uint8_t CountOf(const Path& directory)
{
    const auto records = RecordsOf(*OpenKv(directory));
    const auto last = records.find(Bytes{'n'});
    if (last == records.end()) {
        CHECK(records.empty());
        return 0;
    }
    const uint8_t count = last->second.at(0);
    CHECK(records.size() == size_t{count} + 1);
    for (uint8_t i = 1; i <= count; ++i) CHECK(records.contains(Bytes{'r', i}));
    return count;
}

// A log that outlives its tables would fill the next database: a chainstate with a few of its
// coins, at the old tip.
TEST_CASE("an interrupted removal leaves an earlier state of a database, or an empty one")
{
    const TempDir dir;
    constexpr uint8_t kWrites = 40;
    MakeCounted(dir / "whole", kWrites);
    std::set<uint8_t> seen;
    int step = 0;
    for (bool done = false; !done; ++step) {
        const Path db = dir / std::to_string(step);
        std::filesystem::copy(dir / "whole", db);
        KvOptions wipe;
        wipe.directory = db;
        wipe.wipe = true;
        int steps = 0;
        wipe.before_io = [&](const char* kind, const Path& path) -> Result<> {
            if (std::string_view(kind) != "remove" || steps++ < step) return {};
            return SystemError("killed before the removal of {}", path.string());
        };
        done = KvStore::Open(TestEnv(), TestLog(), wipe).Ok();
        INFO(step);
        seen.insert(CountOf(db));
        CountOf(db); // and once more: nothing comes to life
    }
    CHECK(step > 5);
    CHECK(seen.contains(0));
    CHECK(seen.contains(kWrites));
    CHECK(seen.size() >= 3); // without the records of a log
}

// Unmodified LevelDB compacts a table after many seeks in it. A node at the tip would rewrite its
// chainstate several times a day.
TEST_CASE("reading never rewrites tables")
{
    const TempDir dir;
    std::atomic<int> created = 0;
    KvOptions options;
    options.directory = dir / "db";
    options.cache_bytes = 1 << 20;
    options.before_io = [&](const char* kind, const Path& path) -> Result<> {
        if (kind == std::string_view("create") && path.extension() == ".ldb") ++created;
        return {};
    };
    const auto open = [&] { return Must(KvStore::Open(TestEnv(), TestLog(), options)); };
    const auto write = [](KvStore& kv, uint8_t last) {
        KvBatch batch(kv);
        for (uint8_t i = 0; i < 255; ++i) batch.Put(Bytes{i, last}, RandomBytes(2000));
        Must(kv.Write(batch));
    };
    {
        const auto kv = open();
        write(*kv, 1);
        kv->CompactRange();
        write(*kv, 0);
    }
    const auto kv = open(); // makes a table of its log, above that of the keys that are read
    const int before = created;
    REQUIRE(before >= 2);
    for (int round = 0; round < 100; ++round) {
        for (uint8_t i = 0; i < 254; ++i) REQUIRE(Must(kv->Get(Bytes{i, 1})).has_value());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // for a compaction to begin
    CHECK(created == before);
}

TEST_CASE("a sorted batch does what the batch does, also to keys that it changes twice")
{
    TempDir dir;
    std::array<std::unique_ptr<KvStore>, 2> stores;
    for (size_t i = 0; i < 2; ++i) {
        stores[i] = OpenKv(dir.Get() / std::to_string(i));
    }
    for (int round = 0; round < 20; ++round) {
        std::array<KvBatch, 2> batches{KvBatch(*stores[0]), KvBatch(*stores[1])};
        for (size_t change = TestRng()() % 300; change > 0; --change) {
            const Bytes key = {static_cast<uint8_t>(TestRng()()), static_cast<uint8_t>(round % 3)};
            const Bytes value = RandomBytes(TestRng()() % 50);
            const bool erase = TestRng()() % 3 == 0;
            for (KvBatch& batch : batches) erase ? batch.Erase(key) : batch.Put(key, value);
        }
        const size_t size = batches[1].ApproximateSize();
        batches[1].Sort();
        CHECK(batches[1].ApproximateSize() == size);
        for (size_t i = 0; i < 2; ++i) REQUIRE(stores[i]->Write(batches[i]).Ok());
        CHECK(RecordsOf(*stores[0]) == RecordsOf(*stores[1]));
    }
    CHECK(!RecordsOf(*stores[0]).empty());
}

TEST_CASE("an iterator does not see later writes")
{
    const TempDir dir;
    const auto kv = OpenKv(dir / "db", false);
    KvBatch batch(*kv);
    batch.Put(Bytes{1}, Bytes{1});
    batch.Put(Bytes{3}, Bytes{3});
    Must(kv->Write(batch));
    KvIterator it = kv->NewIterator();
    batch.Clear();
    batch.Put(Bytes{2}, Bytes{2});
    batch.Erase(Bytes{3});
    Must(kv->Write(batch));
    it.Seek(Bytes{2});
    REQUIRE(it.Valid());
    CHECK(it.Key()[0] == 3);
    it.Next();
    CHECK_FALSE(it.Valid());
    Must(it.Status());
}

TEST_CASE("damaged databases give errors, not wrong answers")
{
    const TempDir dir;
    std::map<Bytes, Bytes> data;
    {
        const auto kv = OpenKv(dir / "db");
        KvBatch batch(*kv);
        for (int i = 0; i < 500; ++i) {
            const Bytes key = RandomBytes(32);
            batch.Put(key, data[key] = RandomBytes(500));
        }
        Must(kv->Write(batch, true));
        kv->CompactRange();
    }
    DamageTables(dir / "db");
    size_t errors = 0;
    const auto kv = KvStore::Open(TestEnv(), TestLog(), {.directory = dir / "db"});
    for (const auto& [key, value] : data) {
        if (!kv) break; // refused at once: fine too
        const auto got = (*kv)->Get(key);
        errors += !got.Ok();
        if (got.Ok()) REQUIRE(*got == value);
        if (!got.Ok()) REQUIRE(got.GetError().kind == Error::Kind::kSystem);
    }
    CHECK((!kv.Ok() || errors > 0));

    std::ofstream(dir / "db/CURRENT") << "nonsense";
    CHECK_FALSE(KvStore::Open(TestEnv(), TestLog(), {.directory = dir / "db"}).Ok());
    std::ofstream(dir / "file") << "x";
    CHECK_FALSE(KvStore::Open(TestEnv(), TestLog(), {.directory = dir / "file"}).Ok());
}

TEST_CASE("a damaged database that needs no key opens, and reading it fails")
{
    const TempDir dir;
    {
        const auto kv = OpenKv(dir / "db", false);
        KvBatch batch(*kv);
        for (int i = 0; i < 500; ++i) {
            Bytes key = RandomBytes(32);
            key[0] = 'b'; // after the record of a key, which is looked for
            batch.Put(key, RandomBytes(500));
        }
        Must(kv->Write(batch, true));
        kv->CompactRange();
    }
    DamageTables(dir / "db");
    const auto kv = OpenKv(dir / "db", false);
    KvIterator it = kv->NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
    }
    CHECK_FALSE(it.Status().Ok());
}

TEST_CASE("coins written in batches equal a map, step by step")
{
    const TempDir dir;
    auto db = OpenCoins(dir / "chainstate", 10'000);
    CHECK(Must(db->BestBlock()).IsNull());
    CHECK(Must(db->HeadBlocks()).empty());
    CHECK_FALSE(db->Cursor().Valid());
    CoinMap oracle;
    for (int round = 0; round < 6; ++round) {
        std::vector<std::pair<OutPoint, std::optional<Coin>>> changes;
        for (auto it = oracle.begin(); it != oracle.end();) {
            const bool spend = RandomBelow(3) == 0;
            if (spend) changes.emplace_back(it->second.first, std::nullopt);
            it = spend ? oracle.erase(it) : std::next(it);
        }
        for (int i = 0; i < 200; ++i) {
            OutPoint outpoint = RandomOutPoint();
            if (i % 3 && !oracle.empty()) outpoint.txid = oracle.begin()->second.first.txid;
            const Coin coin = RandomCoin();
            changes.emplace_back(outpoint, coin);
            oracle[KeyOf(outpoint)] = {outpoint, coin};
        }
        const BlockHash best = RandomHash();
        size_t i = 0;
        Must(db->Write(
            [&](CoinChange& change) {
                if (i == changes.size()) return false;
                change.outpoint = &changes[i].first;
                change.coin = changes[i].second ? &*changes[i].second : nullptr;
                ++i;
                return true;
            },
            best));
        CHECK(Must(db->BestBlock()) == best);
        CHECK(db->Cursor().BestBlock() == best);
        CHECK(Must(db->HeadBlocks()).empty());
        if (round == 3) {
            db.reset();
            db = OpenCoins(dir / "chainstate", 10'000);
        }
        CHECK(AllCoins(*db) == oracle);
    }
    for (const auto& [key, entry] : oracle) {
        REQUIRE(Must(db->Get(entry.first)) == entry.second);
        REQUIRE(Must(db->Has(entry.first)));
        CHECK_FALSE(Must(db->Has(RandomOutPoint())));
    }
    CoinsCursor cursor = db->Cursor();
    cursor.Seek(std::next(oracle.begin(), 100)->second.first);
    REQUIRE(cursor.Valid());
    CHECK(KeyOf(cursor.Key()) == std::next(oracle.begin(), 100)->first);
}

TEST_CASE("an interrupted write leaves its head blocks and is finished by a repetition")
{
    const TempDir dir;
    const BlockHash first = RandomHash(), second = RandomHash();
    std::vector<std::pair<OutPoint, Coin>> coins;
    for (int i = 0; i < 300; ++i) coins.emplace_back(RandomOutPoint(), RandomCoin());
    {
        const auto db = OpenCoins(dir / "chainstate", 1000);
        CoinsWriter to_first = Must(db->StartWrite(first));
        Must(to_first.Commit());
        CoinsWriter writer = Must(db->StartWrite(second));
        for (int i = 0; i < 150; ++i) writer.Put(coins[i].first, coins[i].second);
        // Not committed: as after a crash.
    }
    const auto db = OpenCoins(dir / "chainstate", 1000);
    CHECK(Must(db->BestBlock()).IsNull());
    CHECK(Must(db->HeadBlocks()) == std::vector<BlockHash>{second, first});
    CHECK_FALSE(AllCoins(*db).empty());
    const auto elsewhere = db->StartWrite(RandomHash());
    REQUIRE_FALSE(elsewhere.Ok());
    CHECK(elsewhere.Message().find("-reindex-chainstate") != std::string::npos);
    CoinsWriter writer = Must(db->StartWrite(second));
    for (const auto& [outpoint, coin] : coins) writer.Put(outpoint, coin);
    Must(writer.Commit());
    CHECK(Must(db->BestBlock()) == second);
    CHECK(Must(db->HeadBlocks()).empty());
    CHECK(AllCoins(*db).size() == coins.size());
}

TEST_CASE("coins are read from many threads while one writes")
{
    const TempDir dir;
    const auto db = OpenCoins(dir / "chainstate", 5000);
    std::vector<std::pair<OutPoint, Coin>> coins;
    for (int i = 0; i < 500; ++i) coins.emplace_back(RandomOutPoint(), RandomCoin());
    CoinsWriter writer = Must(db->StartWrite(RandomHash()));
    for (const auto& [outpoint, coin] : coins) writer.Put(outpoint, coin);
    Must(writer.Commit());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (const auto& [outpoint, coin] : coins) {
                const auto got = db->Get(outpoint);
                if (!got.Ok() || *got != coin) ++wrong;
            }
        });
    }
    CoinsWriter more = Must(db->StartWrite(RandomHash()));
    for (int i = 0; i < 500; ++i) more.Put(RandomOutPoint(), coins[0].second);
    Must(more.Commit());
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("malformed chainstate records are errors that name the directory and the coin")
{
    const TempDir dir;
    const OutPoint outpoint = RandomOutPoint();
    const auto db = OpenCoins(dir / "chainstate");
    KvBatch batch(db->Kv());
    batch.Put(CoinKey(outpoint).Span(), Bytes{1, 2});
    batch.Put(Bytes{'B'}, Bytes(31));
    batch.Put(Bytes{'H'}, Bytes(64));
    Must(db->Kv().Write(batch));
    const auto coin = db->Get(outpoint);
    REQUIRE_FALSE(coin.Ok());
    CHECK(coin.Message().find(outpoint.txid.ToHex()) != std::string::npos);
    CHECK(coin.Message().find("chainstate") != std::string::npos);
    CHECK_FALSE(db->Cursor().Value().Ok());
    CHECK_FALSE(db->BestBlock().Ok());
    CHECK_FALSE(db->HeadBlocks().Ok());

    batch.Clear();
    batch.Erase(CoinKey(outpoint).Span());
    batch.Put(Bytes(20, 'C'), Bytes{1});
    batch.Put(Bytes(33, 'c'), Bytes{1});
    Must(db->Kv().Write(batch));
    const CoinsCursor cursor = db->Cursor();
    CHECK_FALSE(cursor.Valid());
    CHECK_FALSE(cursor.Status().Ok());
}

TEST_CASE("a chainstate of per-transaction records is refused")
{
    const TempDir dir;
    {
        const auto kv = OpenKv(dir / "chainstate");
        KvBatch batch(*kv);
        batch.Put(Bytes(33, 'c'), Bytes{1});
        Must(kv->Write(batch));
    }
    const auto db = CoinsDb::Open(TestEnv(), TestLog(), {.directory = dir / "chainstate"});
    REQUIRE_FALSE(db.Ok());
    CHECK(db.Message().find("-reindex-chainstate") != std::string::npos);
}

TEST_CASE("block index: records, files, flags")
{
    const TempDir dir;
    std::map<BlockHash, BlockIndexRecord> oracle;
    std::vector<std::pair<int32_t, BlockFileInfo>> files = {{0, {3, 1000, 50, 0, 7, 10, 20}},
                                                            {2, {1, 99, 0, 8, 8, 30, 30}}};
    {
        const auto db = OpenIndex(dir / "index");
        CHECK(Must(db->LoadFiles()).empty());
        CHECK_FALSE(Must(db->LastFile()).has_value());
        CHECK_FALSE(Must(db->Flag("txindex")).has_value());
        std::vector<std::pair<BlockHash, BlockIndexRecord>> blocks;
        for (uint32_t i = 0; i < 300; ++i) {
            BlockIndexRecord r;
            r.height = static_cast<int32_t>(i);
            r.status = 5 | (i & 3) << 3;
            r.tx_count = static_cast<uint32_t>(RandomBelow(5000));
            if (i & 3) r.file = static_cast<int32_t>(RandomBelow(5000));
            if (i & 1) r.data_pos = static_cast<uint32_t>(RandomBelow(1 << 27));
            if (i & 2) r.undo_pos = static_cast<uint32_t>(RandomBelow(1 << 27));
            r.header = BlockHeader::FromBytes(RandomBytes(80).data());
            oracle[r.header.Hash()] = r;
            blocks.emplace_back(r.header.Hash(), r);
        }
        Must(db->Write({files, 2, blocks}));
        Must(db->SetReindexing(true));
        Must(db->SetFlag("prunedblockfiles", true));
        Must(db->SetFlag("txindex", false));
    }
    const auto db = OpenIndex(dir / "index");
    CHECK(db->Kv().Key().IsZero());
    std::map<BlockHash, BlockIndexRecord> loaded;
    Must(db->LoadBlocks([&](const BlockHash& hash, const BlockIndexRecord& record) {
        loaded[hash] = record;
        return Result<>();
    }));
    CHECK(loaded == oracle);
    const auto stopped = db->LoadBlocks(
        [](const BlockHash&, const BlockIndexRecord&) { return Result<>(BadData("enough")); });
    CHECK(stopped.Message() == "enough");
    const auto infos = Must(db->LoadFiles());
    REQUIRE(infos.size() == 3);
    CHECK(infos[0] == files[0].second);
    CHECK(infos[1] == BlockFileInfo{});
    CHECK(infos[2] == files[1].second);
    CHECK(Must(db->LastFile()) == 2);
    CHECK(Must(db->Reindexing()));
    Must(db->SetReindexing(false));
    CHECK_FALSE(Must(db->Reindexing()));
    CHECK(Must(db->Flag("prunedblockfiles")) == true);
    CHECK(Must(db->Flag("txindex")) == false);

    KvBatch batch(db->Kv());
    Bytes key = {'b'};
    Append(key, RandomBytes(32));
    batch.Put(key, Bytes(90, 0xff));
    Must(db->Kv().Write(batch));
    const auto bad =
        db->LoadBlocks([](const BlockHash&, const BlockIndexRecord&) { return Result<>(); });
    REQUIRE_FALSE(bad.Ok());
    CHECK(bad.Message().find("index") != std::string::npos);
}

TEST_CASE("a block record that could not be read back is not written")
{
    const TempDir dir;
    const auto db = OpenIndex(dir.Get());
    const auto write = [&](const BlockIndexRecord& record, int32_t last_file = 0) {
        const std::pair<BlockHash, BlockIndexRecord> block(RandomHash(), record);
        Must(db->Write({{}, last_file, std::span(&block, 1)}));
    };
    BlockIndexRecord record;
    CHECK_FALSE(Aborts([&] { write(record); }));
    CHECK(Aborts([&] { write(record, -1); }));
    CHECK(Aborts([&] { write(record, 1'000'001); }));
    record.height = -1;
    CHECK(Aborts([&] { write(record); }));
    record.height = 1;
    record.status = BlockIndexRecord::kHaveData;
    record.file = -1;
    CHECK(Aborts([&] { write(record); }));
    record.file = 0;
    CHECK_FALSE(Aborts([&] { write(record); }));
}

TEST_CASE("a coin that could not be read back is not written")
{
    const TempDir dir;
    const auto db = OpenCoins(dir.Get());
    const auto write = [&](uint32_t vout, Amount value) {
        CoinsWriter writer = Must(db->StartWrite(RandomHash()));
        Coin coin = RandomCoin();
        coin.value = value;
        writer.Put({RandomOutPoint().txid, vout}, coin);
    };
    CHECK_FALSE(Aborts([&] { write(0xfffffffe, kMaxMoney); }));
    CHECK(Aborts([&] { write(0xffffffff, 1); }));
    CHECK(Aborts([&] { write(0, kMaxMoney + 1); }));
    CHECK(Aborts([&] { write(0, -1); }));
}
