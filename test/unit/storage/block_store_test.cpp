// Block and undo files: written and read back, scanned in every state of disorder, damaged.
#include "crypto/sha256.h"
#include "storage/block_files.h"
#include "storage/block_store.h"
#include "storage/undo.h"
#include "support.h"
#include "util/endian.h"
#include "util/hex.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;

namespace {

BlockStoreOptions Options(const TempDir& dir, bool obfuscate = true)
{
    BlockStoreOptions o;
    o.blocks_dir = dir.Get();
    o.magic = kMainMagic;
    o.obfuscate_new = obfuscate;
    o.max_file_size = 64 << 10;
    o.block_chunk = 16 << 10;
    o.undo_chunk = 4 << 10;
    return o;
}

std::unique_ptr<BlockStore> OpenStore(const BlockStoreOptions& o, std::vector<BlockFileInfo> f = {})
{
    return Must(BlockStore::Open(TestEnv(), TestLog(), o, std::move(f)));
}

void WriteFile(const Path& path, ByteSpan bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

BlockHash HashOf(const Bytes& block) { return BlockHash(Sha256d(ByteSpan(block).first(80))); }

Bytes Frame(ByteSpan block, uint32_t claimed)
{
    Bytes out(8 + block.size());
    std::memcpy(out.data(), kMainMagic.data(), 4);
    WriteLE32(&out[4], claimed);
    std::memcpy(out.data() + 8, block.data(), block.size());
    return out;
}
Bytes Frame(ByteSpan block) { return Frame(block, static_cast<uint32_t>(block.size())); }

struct Found {
    uint32_t offset;
    Bytes block;
};

std::vector<Found> Scan(const BlockStore& store, int32_t n = 0, ScanStats* stats = nullptr)
{
    std::vector<Found> found;
    const auto result = store.ScanFile(n, [&](FilePos pos, ByteSpan block) {
        found.push_back({pos.offset, Bytes(block.begin(), block.end())});
        return ScanStep::kNext;
    });
    const ScanStats s = Must(result);
    if (stats) *stats = s;
    CHECK(s.frames == found.size());
    return found;
}

} // namespace

TEST_CASE("the XOR key applies by file offset, in any pieces")
{
    const XorKey key({1, 2, 3, 4, 5, 6, 7, 8});
    const Bytes plain = RandomBytes(1000);
    Bytes whole = plain;
    key.Apply(whole, 3);
    for (size_t i = 0; i < plain.size(); ++i) REQUIRE(whole[i] == (plain[i] ^ (1 + (i + 3) % 8)));
    Bytes pieces = plain;
    for (size_t at = 0; at < pieces.size();) {
        const size_t n = std::min<size_t>(RandomBelow(300), pieces.size() - at);
        key.Apply(MutableByteSpan(pieces).subspan(at, n), at + 3);
        at += n;
    }
    CHECK(pieces == whole);
    key.Apply(whole, 3);
    CHECK(whole == plain);
}

TEST_CASE("the key of a directory: made once, kept, never silently dropped")
{
    const TempDir dir;
    const XorKey key = OpenStore(Options(dir))->Key();
    CHECK_FALSE(key.IsZero());
    CHECK(OpenStore(Options(dir))->Key() == key);
    const auto refused = BlockStore::Open(TestEnv(), TestLog(), Options(dir, false));
    REQUIRE_FALSE(refused.Ok());
    CHECK(refused.Message().find("xor.dat") != std::string::npos);

    const TempDir plain;
    CHECK(OpenStore(Options(plain, false))->Key().IsZero());
    CHECK(Must(ReadWholeFile(TestEnv(), plain / "xor.dat")) == Bytes(8, 0));
    CHECK(OpenStore(Options(plain, true))->Key().IsZero());

    const TempDir old; // block files from before obfuscation
    WriteFile(old / "blk00000.dat", Frame(RandomBlock(10)));
    CHECK(OpenStore(Options(old))->Key().IsZero());

    const TempDir cut; // a start that was interrupted while it wrote the key
    WriteFile(cut / "xor.dat.new", Bytes(3, 1));
    CHECK_FALSE(OpenStore(Options(cut))->Key().IsZero());

    const TempDir bad;
    WriteFile(bad / "xor.dat", Bytes(7, 1));
    CHECK_FALSE(BlockStore::Open(TestEnv(), TestLog(), Options(bad)).Ok());
}

TEST_CASE("files with nothing but the first block are those of an interrupted first start")
{
    for (const bool obfuscate : {false, true}) {
        const TempDir dir;
        const Bytes first = RandomBlock(0), second = RandomBlock(1);
        const auto store = OpenStore(Options(dir, obfuscate));
        CHECK(Must(store->HoldsAtMost(first)));
        for (const size_t zeros : {0, 1000}) {
            WriteFile(dir / "blk00000.dat", Bytes(zeros));
            CHECK(Must(store->HoldsAtMost(first)));
        }
        WriteFile(dir / "blk00000.dat", Bytes(1000, 1)); // under another key perhaps
        CHECK_FALSE(Must(store->HoldsAtMost(first)));
        std::filesystem::remove(dir / "blk00000.dat");
        Must(store->WriteBlock(first, 0, 0));
        CHECK(Must(store->HoldsAtMost(first)));
        CHECK_FALSE(Must(store->HoldsAtMost(second)));
        WriteFile(dir / "blk00001.dat", Bytes());
        CHECK_FALSE(Must(store->HoldsAtMost(first)));
        std::filesystem::remove(dir / "blk00001.dat");
        Must(store->WriteBlock(second, 1, 0));
        CHECK_FALSE(Must(store->HoldsAtMost(first)));
    }
}

TEST_CASE("blocks and undo data are read back, across files and reopening")
{
    for (bool obfuscate : {false, true}) {
        const TempDir dir;
        auto store = OpenStore(Options(dir, obfuscate));
        std::vector<std::pair<FilePos, Bytes>> blocks, undos;
        for (uint32_t height = 0; height < 60; ++height) {
            if (height == 30) { // a restart in between, with the records of the index
                Must(store->Flush());
                const auto files = store->Files();
                store = OpenStore(Options(dir, obfuscate), files);
            }
            const Bytes block = RandomBlock(RandomBelow(8000));
            const FilePos pos = Must(store->WriteBlock(block, height, 1000 + height));
            blocks.emplace_back(pos, block);
            const Bytes undo = RandomBytes(RandomBelow(500));
            undos.emplace_back(Must(store->WriteUndo(pos.file, undo, HashOf(block), height)), undo);
        }
        Must(store->Flush());
        CHECK(store->LastFile() >= 2);
        CHECK(Must(store->ListBlockFiles()).size() == static_cast<size_t>(store->LastFile()) + 1);
        size_t in_files = 0;
        for (int32_t n = 0; n <= store->LastFile(); ++n) {
            const BlockFileInfo info = store->Files()[static_cast<size_t>(n)];
            in_files += info.blocks;
            CHECK(info.size < Options(dir).max_file_size);
            CHECK(info.time_last == 1000 + info.height_last);
            const auto on_disk = std::filesystem::file_size(store->BlockPath(n));
            if (n < store->LastFile()) CHECK(on_disk == info.size);
            if (n == store->LastFile()) CHECK(on_disk % (16 << 10) == 0);
            for (const Found& f : Scan(*store, n)) {
                REQUIRE(std::count(blocks.begin(), blocks.end(),
                                   std::pair(FilePos{n, f.offset}, f.block)) == 1);
            }
        }
        CHECK(in_files == blocks.size());
        CHECK_FALSE(store->TakeDirty().empty());
        CHECK(store->TakeDirty().empty());
        for (size_t i = 0; i < blocks.size(); ++i) {
            const auto& [pos, block] = blocks[i];
            const BlockHash hash = HashOf(block);
            CHECK(Must(store->ReadBlock(pos, &hash)) == block);
            CHECK(Must(store->ReadBlockAsVector(pos, &hash)) == block);
            CHECK(Must(store->ReadUndo(undos[i].first, hash)) == undos[i].second);
            const Bytes part = Must(store->ReadBlockPart(pos, 60, 20));
            CHECK(part == Bytes(block.begin() + 60, block.begin() + 80));
        }
    }
}

TEST_CASE("reads of missing bytes are errors that name file and offset")
{
    const TempDir dir;
    auto store = OpenStore(Options(dir));
    const Bytes block = RandomBlock(500);
    const FilePos pos = Must(store->WriteBlock(block, 0, 0));
    const FilePos undo = Must(store->WriteUndo(0, RandomBytes(100), HashOf(block), 0));
    const BlockHash other = HashOf(RandomBlock(0));

    CHECK_FALSE(store->ReadBlock({1, 8}).Ok());
    CHECK_FALSE(store->ReadBlock({0, 3}).Ok());
    CHECK_FALSE(store->ReadBlock({0, 9}).Ok());
    CHECK_FALSE(store->ReadBlock({0, 0xfffffff0}).Ok());
    CHECK_FALSE(store->ReadBlockPart(pos, 0, 581).Ok());
    CHECK_FALSE(store->ReadBlockPart(pos, 0xffffffff, 2).Ok());
    CHECK(Must(store->ReadBlockPart(pos, 580, 0)).empty());
    const auto wrong_hash = store->ReadBlock(pos, &other);
    REQUIRE_FALSE(wrong_hash.Ok());
    CHECK(wrong_hash.Message().find("blk00000.dat") != std::string::npos);
    CHECK(wrong_hash.Message().find(other.ToHex()) != std::string::npos);
    CHECK_FALSE(store->ReadUndo(undo, other).Ok()); // the checksum covers the previous hash
    CHECK_FALSE(store->ReadUndo({0, undo.offset + 1}, HashOf(block)).Ok());

    Must(store->Flush());
    Bytes rev = Must(ReadWholeFile(TestEnv(), store->UndoPath(0)));
    rev[undo.offset + 50] ^= 1;
    WriteFile(store->UndoPath(0), rev);
    CHECK_FALSE(store->ReadUndo(undo, HashOf(block)).Ok());
    CHECK_FALSE(store->ReadBlockUndo(undo, HashOf(block)).Ok());
    std::filesystem::resize_file(store->BlockPath(0), 300);
    CHECK_FALSE(store->ReadBlock(pos).Ok());
}

namespace {

/** All of it, cut into up to a hundred pieces, of which some may be empty. */
std::vector<ByteSpan> RandomPieces(ByteSpan whole)
{
    std::vector<ByteSpan> pieces;
    for (uint64_t left = RandomBelow(100); left > 0; --left) {
        const size_t size = RandomBelow(2 * whole.size() / left + 1);
        pieces.push_back(whole.first(std::min(size, whole.size())));
        whole = whole.subspan(pieces.back().size());
    }
    pieces.push_back(whole);
    return pieces;
}

} // namespace

TEST_CASE("undo data that is decoded while it is read is the same as of a record read at once")
{
    const TempDir dir;
    auto store = OpenStore(Options(dir));
    const BlockHash prev = HashOf(RandomBlock(0));
    for (const size_t coins : {0, 1, 100, 1000, 3000}) { // the last is written in pieces
        BlockUndo undo;
        undo.txs.resize(1 + RandomBelow(20));
        for (size_t i = 0; i < coins; ++i) {
            Coin coin = RandomCoin();
            // Small ones with the largest between them, so that windows end everywhere.
            if (RandomBelow(3) == 0) coin.script = RandomBytes(kMaxScriptSize - RandomBelow(2));
            undo.txs[RandomBelow(undo.txs.size())].spent.push_back(coin);
        }
        const Bytes bytes = undo.Encode();
        const std::vector<ByteSpan> pieces = RandomPieces(bytes);
        const UndoRecord record{pieces, UndoChecksum(prev, pieces)};
        const FilePos pos = Must(RandomBelow(2) == 0 ? store->WriteUndo(0, bytes, prev, 0)
                                                     : store->WriteUndo(0, record, 0));
        Must(store->Flush());
        CHECK(Must(store->ReadUndo(pos, prev)) == bytes);
        CHECK(Must(BlockUndo::Decode(bytes)) == undo);
        CHECK(Must(store->ReadBlockUndo(pos, prev)) == undo);
        CHECK_FALSE(store->ReadBlockUndo(pos, HashOf(RandomBlock(0))).Ok());

        // Whatever byte is another one, of the data or of the checksum, it is noticed.
        const Bytes good = Must(ReadWholeFile(TestEnv(), store->UndoPath(0)));
        for (int i = 0; i < 20; ++i) {
            Bytes bad = good;
            bad[pos.offset + RandomBelow(bytes.size() + kUndoChecksumSize)] ^=
                static_cast<uint8_t>(1 + RandomBelow(255));
            WriteFile(store->UndoPath(0), bad);
            const auto read = store->ReadBlockUndo(pos, prev);
            REQUIRE_FALSE(read.Ok());
            CHECK_THAT(read.Message(), Catch::Contains("rev00000.dat"));
        }
        WriteFile(store->UndoPath(0), good);
    }
}

TEST_CASE("a scan finds every whole block whatever lies between")
{
    for (int round = 0; round < 40; ++round) {
        const TempDir dir;
        const auto store = OpenStore(Options(dir, round % 2));
        Bytes file;
        std::vector<Found> want;
        for (int i = 0; i < 20; ++i) {
            switch (RandomBelow(7)) {
            case 0: file.resize(file.size() + RandomBelow(3000)); break; // zero padding
            case 1: Append(file, RandomBytes(RandomBelow(100))); break;
            case 2: Append(file, kMainMagic); break;             // a lone magic
            case 3: Append(file, Frame(RandomBytes(79))); break; // too short for a header
            case 4: Append(file, Frame(RandomBytes(50), 4'000'001)); break;
            case 5: file.insert(file.end(), {0xf9, 0xf9, 0xbe, 0xf9, 0xbe, 0xb4}); break;
            default: break;
            }
            const Bytes block =
                RandomBelow(4) || want.empty() ? RandomBlock(RandomBelow(2000)) : want[0].block;
            want.push_back({static_cast<uint32_t>(file.size() + 8), block});
            Append(file, Frame(block));
        }
        const size_t end = file.size();
        if (round % 3 == 0) Append(file, Frame(RandomBytes(200), 900)); // torn tail
        if (round % 3 == 1) file.resize(file.size() + RandomBelow(20'000));
        store->Key().Apply(file);
        WriteFile(store->BlockPath(0), file);

        ScanStats stats;
        const auto found = Scan(*store, 0, &stats);
        REQUIRE(found.size() == want.size());
        size_t payload = 0;
        for (size_t i = 0; i < want.size(); ++i) {
            CHECK(found[i].offset == want[i].offset);
            REQUIRE(found[i].block == want[i].block);
            payload += 8 + want[i].block.size();
        }
        CHECK(stats.end == end);
        CHECK(stats.file_size == file.size());
        CHECK(stats.skipped_bytes + payload == file.size());
    }
}

TEST_CASE("a torn frame does not hide the whole ones written over its middle")
{
    const TempDir dir;
    const auto store = OpenStore(Options(dir, false));
    const Bytes first = RandomBlock(100), second = RandomBlock(200);
    Bytes file = Frame(RandomBytes(20), 3'000'000); // claims more than the file has
    Append(file, Frame(first));
    Append(file, Frame(second));
    WriteFile(store->BlockPath(0), file);
    const auto found = Scan(*store);
    REQUIRE(found.size() == 2);
    CHECK(found[0].block == first);
    CHECK(found[1].block == second);
}

TEST_CASE("a refused frame is searched for blocks inside; a stop stops")
{
    const TempDir dir;
    const auto store = OpenStore(Options(dir));
    const Bytes inner = RandomBlock(50);
    Bytes outer = RandomBytes(100);
    Append(outer, Frame(inner));
    Append(outer, RandomBytes(30));
    Bytes file = Frame(outer);
    Append(file, Frame(inner));
    store->Key().Apply(file);
    WriteFile(store->BlockPath(0), file);
    std::vector<uint32_t> offsets;
    const auto stats = Must(store->ScanFile(0, [&](FilePos pos, ByteSpan block) {
        offsets.push_back(pos.offset);
        return block.size() == outer.size() ? ScanStep::kNotABlock : ScanStep::kNext;
    }));
    CHECK(offsets == std::vector<uint32_t>{8, 116, 284});
    CHECK(stats.frames == 2);
    CHECK(stats.end == file.size());
    int calls = 0;
    Must(store->ScanFile(0, [&](FilePos, ByteSpan) {
        ++calls;
        return ScanStep::kStop;
    }));
    CHECK(calls == 1);
}

TEST_CASE("frames larger than the rest of the window are joined")
{
    const TempDir dir;
    const auto store = OpenStore(Options(dir));
    Bytes file;
    std::vector<Bytes> blocks;
    while (file.size() < 2 * BlockStore::kScanWindow + 1000) {
        blocks.push_back(RandomBlock(RandomBelow(kMaxStoredBlockSize - 80)));
        Append(file, Frame(blocks.back()));
        file.resize(file.size() + RandomBelow(100'000));
    }
    blocks.push_back(RandomBlock(kMaxStoredBlockSize - 80));
    Append(file, Frame(blocks.back()));
    store->Key().Apply(file);
    WriteFile(store->BlockPath(0), file);
    const auto found = Scan(*store);
    REQUIRE(found.size() == blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) REQUIRE(found[i].block == blocks[i]);
}

TEST_CASE("blocks found by a scan are recorded and written on behind")
{
    const TempDir dir;
    Bytes file;
    std::vector<Bytes> blocks;
    for (int i = 0; i < 5; ++i) {
        blocks.push_back(RandomBlock(100));
        Append(file, Frame(blocks.back()));
    }
    const size_t end = file.size();
    file.resize(end + 5000);
    WriteFile(dir / "blk00000.dat", file);
    const auto store = OpenStore(Options(dir));
    uint32_t height = 10;
    Must(store->ScanFile(0, [&](FilePos pos, ByteSpan block) {
        --height;
        store->AddExisting(pos, static_cast<uint32_t>(block.size()), height, 50 + height);
        return ScanStep::kNext;
    }));
    const BlockFileInfo info = store->Files()[0];
    CHECK(info.blocks == 5);
    CHECK(info.size == end);
    CHECK(info.height_first == 5);
    CHECK(info.height_last == 9);
    CHECK(info.time_first == 55);
    blocks.push_back(RandomBlock(300));
    CHECK(Must(store->WriteBlock(blocks.back(), 11, 0)) == FilePos{0, uint32_t(end + 8)});
    CHECK(Scan(*store).size() == 6);
}

TEST_CASE("a file that is forgotten and deleted leaves the others as they are")
{
    const TempDir dir;
    BlockStoreOptions options = Options(dir);
    options.max_file_size = 1000;
    options.block_chunk = 100;
    const auto store = OpenStore(options);
    const Bytes undo(100, 7);
    for (uint32_t height = 0; height < 4; ++height) {
        const FilePos pos = Must(store->WriteBlock(RandomBlock(600), height, 0));
        REQUIRE(pos.file == static_cast<int32_t>(height));
        Must(store->WriteUndo(pos.file, undo, BlockHash{}, height));
    }
    CHECK(store->TakeGrown());
    CHECK_FALSE(store->TakeGrown());
    const uint64_t before = store->DiskUsage();
    const BlockFileInfo gone = store->Files()[1];
    (void)store->TakeDirty();

    store->ForgetFile(1);
    CHECK(store->Files()[1] == BlockFileInfo{});
    CHECK(store->DiskUsage() == before - gone.size - gone.undo_size);
    CHECK(store->TakeDirty() == std::vector{std::pair{int32_t{1}, BlockFileInfo{}}});
    CHECK(std::filesystem::exists(store->BlockPath(1)));
    Must(store->DeleteFile(1));
    CHECK_FALSE(std::filesystem::exists(store->BlockPath(1)));
    CHECK_FALSE(std::filesystem::exists(store->UndoPath(1)));
    CHECK(Must(store->ListBlockFiles()) == std::vector<int32_t>{0, 2, 3});
    CHECK(std::filesystem::exists(store->UndoPath(2)));
    Must(store->DeleteFile(1)); // nothing is left to do
    CHECK(Must(store->WriteBlock(RandomBlock(600), 9, 0)).file == 4);
}

TEST_CASE("only regular files with the names that are written count as block files")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    for (const char* name : {"blk00000.dat", "blk00012.dat", "blk123456.dat", "rev00012.dat",
                             "blk000001.dat", "blk1.dat", "blk-0001.dat", "blk99999999999.dat",
                             "blk.dat", "blk00001.dat.new", "notes.dat", "xor.dat"}) {
        WriteFile(dir / name, Bytes(10, 1));
    }
    std::filesystem::create_directory(dir / "blk00099.dat");
    std::filesystem::create_symlink(dir / "none", dir / "rev00098.dat");
    std::filesystem::create_symlink(dir / "blk00000.dat", dir / "blk00003.dat");
    const BlockFilesFound found = Must(FindBlockFiles(*env, dir.Get()));
    CHECK(found.blocks == std::vector<int32_t>{0, 3, 12, 123456});
    CHECK(found.undo == std::vector<int32_t>{12});
    CHECK(found.others.size() == 7);
    const std::string text = DescribeOthers(found, dir.Get());
    CHECK_THAT(text, Catch::Contains("blk00099.dat (a folder)"));
    CHECK_THAT(text, Catch::Contains("rev00098.dat (a link to nothing)"));
    CHECK_THAT(text, Catch::Contains("blk000001.dat (no name that the node gives)"));

    const std::vector<bool> used{true, false, false, true};
    CHECK(CheckFilesHold(*env, dir.Get(), "blk", std::vector<uint64_t>{10, 0, 0, 10}, used).Ok());
    const auto shorter =
        CheckFilesHold(*env, dir.Get(), "blk", std::vector<uint64_t>{11, 0, 0, 10}, used);
    REQUIRE_FALSE(shorter.Ok());
    CHECK_THAT(shorter.Message(), Catch::Contains("blk00000.dat has 10 bytes"));
    const std::vector<bool> missing{false, true};
    const auto absent =
        CheckFilesHold(*env, dir.Get(), "blk", std::vector<uint64_t>{0, 10}, missing);
    REQUIRE_FALSE(absent.Ok());
    CHECK_THAT(absent.Message(), Catch::Contains("Unable to open file"));
}

TEST_CASE("of a pruned directory the files behind the first gap are of no use")
{
    const TempDir dir;
    for (const char* name : {"blk00000.dat", "blk00001.dat", "blk00003.dat", "blk00004.dat",
                             "rev00000.dat", "rev00003.dat", "xor.dat", "blkabcde.dat"}) {
        WriteFile(dir / name, Bytes(10, 1));
    }
    Must(RemoveUnusableBlockFiles(*MakePosixEnv(), dir.Get()));
    std::set<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(dir.Get())) {
        left.insert(entry.path().filename().string());
    }
    CHECK(left == std::set<std::string>{"blk00000.dat", "blk00001.dat", "xor.dat", "blkabcde.dat"});
}

TEST_CASE("real block files with a repeated block and a torn tail")
{
    const auto incomplete = TestData("chains/nbitcoin_incompleteblk.dat");
    const auto testnet = TestData("chains/testnet3_first402_truncated.blk");
    if (!incomplete || !testnet) return;
    const TempDir dir;
    WriteFile(dir / "blk00000.dat", ReadTestFile(*incomplete));
    WriteFile(dir / "blk00001.dat", ReadTestFile(*testnet));
    const auto found = Scan(*OpenStore(Options(dir)), 0);
    REQUIRE(found.size() == 301);
    CHECK(found[300].block == found[298].block);
    BlockStoreOptions o = Options(dir);
    o.magic = {0x0b, 0x11, 0x09, 0x07};
    CHECK(Scan(*OpenStore(o), 1).size() == 401);
}

TEST_CASE("file records are seven VARINTs")
{
    BlockFileInfo info{2, 65'000, 300, 1, 128, 1231006505, 1296688602};
    CHECK(Must(BlockFileInfo::Decode(info.Encode())) == info);
    Bytes bytes = info.Encode();
    CHECK_FALSE(BlockFileInfo::Decode(ByteSpan(bytes).first(bytes.size() - 1)).Ok());
    bytes.push_back(0);
    CHECK_FALSE(BlockFileInfo::Decode(bytes).Ok());
    CHECK(Must(BlockFileInfo::Decode(*FromHex("8efefefe7f000000000000"))).blocks == 0xffffffff);
    CHECK_FALSE(BlockFileInfo::Decode(*FromHex("8efefeff00000000000000")).Ok());
}
