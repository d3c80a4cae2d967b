// A data directory that Bitcoin Core wrote: our directory from the same blocks is the same, and we
// open and continue Core's own.
#include "block_kit.h"
#include "fixture.h"

#include <cstdlib>
#include <fstream>

namespace ibd::test {

namespace {

constexpr int kTip = 14131;
constexpr const char* kSerialized =
    "74c5a654587d4eaac9248b73889453e0b2fbc918bbc7bb8d8e6301d4d8c98db3";

/** Unpacks Core's data directory; nothing without the test data. */
bool UnpackCoreDirectory(const Path& to)
{
    const auto packed = TestData("golden_mainnet14131/core_datadir_mainnet14131.tar.xz");
    if (!packed) return false;
    std::filesystem::create_directories(to);
    const std::string command =
        "tar -C '" + to.string() + "' -xf '" + *packed + "' blocks chainstate";
    REQUIRE(std::system(command.c_str()) == 0);
    return true;
}

std::map<BlockHash, BlockIndexRecord> Records(const BlockIndexDb& db)
{
    std::map<BlockHash, BlockIndexRecord> records;
    Must(db.LoadBlocks([&](const BlockHash& hash, const BlockIndexRecord& record) -> Result<> {
        records[hash] = record;
        return {};
    }));
    return records;
}

/** Contents of a block or undo file without its obfuscation. */
Bytes PlainFile(Engine& engine, const Path& path)
{
    Bytes bytes = ReadTestFile(path.string());
    engine.Blocks().Key().Apply(bytes, 0);
    return bytes;
}

} // namespace

TEST_CASE("undo files and index records are those that Core wrote from the same blocks")
{
    const TempDir dir;
    if (!UnpackCoreDirectory(dir.Get() / "core")) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    Engine core(params, dir.Get() / "core");

    // Core's own block file, indexed by us.
    const Path ours = dir.Get() / "ours";
    std::filesystem::create_directories(ours / "blocks");
    for (const char* name : {"blk00000.dat", "xor.dat"}) {
        std::filesystem::copy_file(dir.Get() / "core" / "blocks" / name, ours / "blocks" / name);
    }
    Engine engine(params, ours);
    Must(engine.Importer().Reindex());
    engine.Start();
    REQUIRE(engine.chain->Tip()->height == kTip);
    Must(engine.chain->Flush(FlushMode::kAlways));
    CHECK(PlainFile(engine, engine.Blocks().UndoPath(0)) ==
          PlainFile(core, core.Blocks().UndoPath(0)));

    const auto expected = Records(core.IndexDb()), records = Records(engine.IndexDb());
    REQUIRE(expected.size() == static_cast<size_t>(kTip) + 1);
    REQUIRE(records.size() == expected.size());
    int different = 0;
    for (const auto& [hash, record] : expected) {
        if (records.at(hash) == record) continue;
        if (++different > 3) continue;
        UNSCOPED_INFO("height " << record.height << ": status " << records.at(hash).status
                                << " instead of " << record.status << ", undo at "
                                << records.at(hash).undo_pos << " instead of " << record.undo_pos);
    }
    CHECK(different == 0);
    CHECK(Must(engine.IndexDb().LoadFiles()) == Must(core.IndexDb().LoadFiles()));
}

TEST_CASE("Core's own data directory opens, passes every check, and is gone on from")
{
    const TempDir dir;
    if (!UnpackCoreDirectory(dir.Get() / "core")) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    {
        Engine engine(params, dir.Get() / "core");
        engine.Start();
        REQUIRE(engine.chain->Tip()->height == kTip);
        REQUIRE(engine.Stats(CoinsHashKind::kSerialized3).hash.ToHex() == kSerialized);
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
        const HeaderNode* node = engine.chain->Read().Active()[13'000];
        Must(engine.chain->InvalidateBlock(*node));
        CHECK(engine.chain->Tip()->height == 12'999);
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "core");
    engine.Start();
    CHECK(engine.chain->Tip()->height == 12'999);
    const BlockHash hash =
        *BlockHash::FromHex("00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c");
    const HeaderNode* node = engine.chain->Read().Find(hash);
    Must(engine.chain->ReconsiderBlock(*node));
    CHECK(engine.chain->Tip()->height == kTip);
    CHECK(engine.Stats(CoinsHashKind::kSerialized3).hash.ToHex() == kSerialized);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 1200)));
}

} // namespace ibd::test
