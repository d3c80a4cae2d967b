// Files that Bitcoin Core wrote: read in full, and written again byte for byte.
#include "crypto/sha256.h"
#include "storage/block_index_db.h"
#include "storage/block_store.h"
#include "storage/coins_db.h"
#include "storage/snapshot.h"
#include "storage/undo.h"
#include "support.h"
#include "util/endian.h"

#include <map>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int32_t kTip = 14131;
constexpr uint64_t kCoins = 13'416;
const std::string kTipHash = "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c";

std::unique_ptr<CoinsDb> OpenCoins(const TempDir& dir)
{
    return Must(CoinsDb::Open(TestEnv(), TestLog(), {.directory = dir / "chainstate"}));
}

std::unique_ptr<BlockIndexDb> OpenIndex(const TempDir& dir)
{
    return Must(BlockIndexDb::Open(TestEnv(), TestLog(), {.directory = dir / "blocks/index"}));
}

std::unique_ptr<BlockStore> OpenBlocks(const TempDir& dir, std::vector<BlockFileInfo> files)
{
    BlockStoreOptions o;
    o.blocks_dir = dir / "blocks";
    o.magic = kMainMagic;
    return Must(BlockStore::Open(TestEnv(), TestLog(), o, std::move(files)));
}

std::map<int32_t, std::pair<BlockHash, BlockIndexRecord>> ByHeight(const BlockIndexDb& db)
{
    std::map<int32_t, std::pair<BlockHash, BlockIndexRecord>> records;
    Must(db.LoadBlocks([&](const BlockHash& hash, const BlockIndexRecord& record) {
        CHECK(record.header.Hash() == hash);
        CHECK(records.emplace(record.height, std::pair(hash, record)).second);
        return Result<>();
    }));
    return records;
}

} // namespace

TEST_CASE("Core's chainstate: every coin decodes and encodes to the same bytes")
{
    const TempDir dir;
    if (!UnpackGolden(dir)) return;
    const auto db = OpenCoins(dir);
    CHECK_FALSE(db->Kv().Key().IsZero());
    CHECK(Must(db->BestBlock()).ToHex() == kTipHash);
    CHECK(Must(db->HeadBlocks()).empty());
    uint64_t count = 0;
    CoinsCursor cursor = db->Cursor();
    CHECK(cursor.BestBlock().ToHex() == kTipHash);
    for (; cursor.Valid(); cursor.Next(), ++count) {
        const Coin coin = Must(cursor.Value());
        Bytes value;
        AppendCoin(value, coin);
        const ByteSpan stored = cursor.RawValue();
        REQUIRE(value == Bytes(stored.begin(), stored.end()));
        if (count % 10 == 0) REQUIRE(Must(db->Get(cursor.Key())) == coin);
    }
    Must(cursor.Status());
    CHECK(count == kCoins);
}

TEST_CASE("Core's block index: every record encodes to the bytes that are stored")
{
    const TempDir dir;
    if (!UnpackGolden(dir)) return;
    const auto db = OpenIndex(dir);
    int blocks = 0, files = 0, others = 0;
    KvIterator it = db->Kv().NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
        const ByteSpan value = it.Value();
        const Bytes stored(value.begin(), value.end());
        if (it.Key()[0] == 'b') {
            REQUIRE(Must(BlockIndexRecord::Decode(stored)).Encode() == stored);
            ++blocks;
        } else if (it.Key()[0] == 'f') {
            REQUIRE(Must(BlockFileInfo::Decode(stored)).Encode() == stored);
            ++files;
        } else {
            ++others;
        }
    }
    CHECK(blocks == kTip + 1);
    CHECK(files == 1);
    CHECK(others >= 1);
    const auto infos = Must(db->LoadFiles());
    REQUIRE(infos.size() == 1);
    CHECK(infos[0].blocks == kTip + 1);
    CHECK(infos[0].height_last == kTip);
    CHECK(Must(db->LastFile()) == 0);
    CHECK_FALSE(Must(db->Reindexing()));
}

TEST_CASE("Core's blk file: every block lies where the index says")
{
    const TempDir dir;
    if (!UnpackGolden(dir)) return;
    const auto db = OpenIndex(dir);
    const auto store = OpenBlocks(dir, Must(db->LoadFiles()));
    CHECK_FALSE(store->Key().IsZero());
    const auto records = ByHeight(*db);
    REQUIRE(records.size() == kTip + 1);
    CHECK(records.at(kTip).first.ToHex() == kTipHash);
    std::map<BlockHash, FilePos> scanned;
    const ScanStats stats = Must(store->ScanFile(0, [&](FilePos pos, ByteSpan block) {
        scanned[BlockHash(Sha256d(block.first(80)))] = pos;
        return ScanStep::kNext;
    }));
    CHECK(stats.frames == records.size());
    CHECK(stats.end == store->Files()[0].size);
    CHECK(stats.file_size % kBlockFileChunk == 0);
    for (const auto& [height, entry] : records) {
        const auto& [hash, record] = entry;
        const FilePos pos{record.file, record.data_pos};
        REQUIRE(scanned.at(hash) == pos);
        const UnzeroedBytes block = Must(store->ReadBlock(pos, &hash));
        BlockView view;
        Must(view.Parse(block));
        REQUIRE(view.Txs().size() == record.tx_count);
    }
}

TEST_CASE("Core's rev file: every record decodes, and is written again byte for byte")
{
    const TempDir dir;
    const TempDir mine;
    if (!UnpackGolden(dir)) return;
    const auto db = OpenIndex(dir);
    const auto store = OpenBlocks(dir, Must(db->LoadFiles()));
    std::map<uint32_t, const BlockIndexRecord*> by_undo_pos;
    const auto records = ByHeight(*db);
    for (const auto& [height, entry] : records) {
        const BlockIndexRecord& record = entry.second;
        CHECK(((record.status & BlockIndexRecord::kHaveUndo) != 0) == (height > 0));
        if (height > 0) by_undo_pos[record.undo_pos] = &record;
    }
    // A directory with the same key, into which the records are written in the same order.
    std::filesystem::create_directory(mine / "blocks");
    std::filesystem::copy_file(dir / "blocks/xor.dat", mine / "blocks/xor.dat");
    const auto copy = OpenBlocks(mine, {});
    size_t spent = 0;
    for (const auto& [pos, record] : by_undo_pos) {
        const BlockHash& prev = record->header.prev_hash;
        const Bytes bytes = Must(store->ReadUndo({record->file, pos}, prev));
        const BlockUndo undo = Must(BlockUndo::Decode(bytes));
        REQUIRE(undo.Encode() == bytes);
        REQUIRE(undo.txs.size() + 1 == record->tx_count);
        for (const TxUndo& tx : undo.txs) spent += tx.spent.size();
        REQUIRE(Must(copy->WriteUndo(0, undo.Encode(), prev, uint32_t(record->height))) ==
                FilePos{0, pos});
    }
    CHECK(spent == 865);
    Must(copy->Flush());
    const uint32_t used = store->Files()[0].undo_size;
    CHECK(copy->Files()[0].undo_size == used);
    Bytes theirs = Must(ReadWholeFile(TestEnv(), store->UndoPath(0)));
    Bytes ours = Must(ReadWholeFile(TestEnv(), copy->UndoPath(0)));
    CHECK(theirs.size() == ours.size()); // preallocated alike
    theirs.resize(used);
    ours.resize(used);
    CHECK((theirs == ours));
}

TEST_CASE("blocks written by us in the same order give Core's blk file")
{
    const TempDir dir;
    const TempDir mine;
    if (!UnpackGolden(dir)) return;
    const auto db = OpenIndex(dir);
    const auto store = OpenBlocks(dir, Must(db->LoadFiles()));
    std::map<uint32_t, BlockIndexRecord> by_pos;
    for (const auto& [height, entry] : ByHeight(*db)) by_pos[entry.second.data_pos] = entry.second;
    std::filesystem::create_directory(mine / "blocks");
    std::filesystem::copy_file(dir / "blocks/xor.dat", mine / "blocks/xor.dat");
    const auto copy = OpenBlocks(mine, {});
    for (const auto& [pos, record] : by_pos) {
        const UnzeroedBytes block = Must(store->ReadBlock({record.file, pos}));
        REQUIRE(Must(copy->WriteBlock(block, uint32_t(record.height), record.header.time)) ==
                FilePos{0, pos});
    }
    Must(copy->Flush());
    BlockFileInfo info = store->Files()[0];
    info.undo_size = 0;
    CHECK(copy->Files()[0] == info);
    CHECK((Must(ReadWholeFile(TestEnv(), store->BlockPath(0))) ==
           Must(ReadWholeFile(TestEnv(), copy->BlockPath(0)))));
}

TEST_CASE("Core's snapshot is written again byte for byte from Core's chainstate")
{
    const TempDir dir;
    if (!UnpackGolden(dir)) return;
    const auto packed = TestData("golden_mainnet14131/utxo_14131.dat.xz");
    if (!packed) return;
    const auto db = OpenCoins(dir);
    CoinsCursor cursor = db->Cursor();
    auto writer =
        Must(SnapshotWriter::Create(TestEnv(), dir / "utxo.dat", kMainMagic, cursor.BestBlock()));
    for (; cursor.Valid(); cursor.Next()) {
        Must(writer->Add(cursor.Key(), Must(cursor.Value())));
    }
    CHECK(Must(writer->Finish()).coins == kCoins);
    CHECK((Must(ReadWholeFile(TestEnv(), dir / "utxo.dat")) == ReadTestFile(*packed)));

    const auto reader = Must(SnapshotReader::Open(TestEnv(), dir / "utxo.dat"));
    CoinsCursor again = db->Cursor();
    OutPoint outpoint;
    Coin coin;
    while (Must(reader->Next(outpoint, coin))) {
        REQUIRE(again.Valid());
        REQUIRE(outpoint == again.Key());
        REQUIRE(coin == Must(again.Value()));
        again.Next();
    }
    CHECK_FALSE(again.Valid());
}
