// Blocks from files: any order, repeats, branches, garbage, torn tails; real chains.
#include "block_kit.h"
#include "fixture.h"
#include "sim/block_files.h"
#include "sim/chain.h"
#include "util/hex.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ibd::test {

namespace {

void WriteFile(const Path& path, ByteSpan data)
{
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()),
              static_cast<std::streamsize>(data.size()));
    REQUIRE(out.good());
}

void AppendFrame(Bytes& file, const ChainParams& params, ByteSpan raw)
{
    Append(file, params.magic);
    Writer(file).U32(static_cast<uint32_t>(raw.size()));
    Append(file, raw);
}

/** A chain with two stale branches; the blocks in the order they were made. */
struct Blocks {
    std::vector<Bytes> all;
    BlockHash tip;
};

Blocks MakeBlocks(const ChainParams& params, uint64_t seed)
{
    sim::ChainOptions options;
    options.seed = seed;
    options.blocks = 150;
    options.outputs_per_block = 20;
    sim::Chain chain(params, options);
    Blocks out;
    for (int i = 0; i < 150; ++i) {
        if (i == 40 || i == 120) {
            sim::Chain stale = chain;
            stale.Reseed(seed + 7);
            for (int k = 0; k < 4; ++k) out.all.push_back(stale.Next().bytes);
        }
        out.all.push_back(chain.Next().bytes);
    }
    out.tip = chain.TipHash();
    return out;
}

CoinsDump InOrder(const ChainParams& params, const Blocks& blocks)
{
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const Bytes& raw : blocks.all) REQUIRE(!engine.Process(raw).violation);
    REQUIRE(engine.chain->Tip()->hash == blocks.tip);
    return engine.Dump();
}

/** Makes a data directory that holds these block files and nothing else. */
void WriteBlockFiles(const Path& base, const ChainParams& params, const std::vector<Bytes>& files)
{
    const Path folder = base / params.sub_folder / "blocks";
    std::filesystem::create_directories(folder);
    for (size_t i = 0; i < files.size(); ++i) {
        WriteFile(folder / fmt::format("blk{:05}.dat", i), files[i]);
    }
}

Bytes Garbage() { return RandomBytes(TestRng()() % 300); }

/** All blocks shuffled, some twice, garbage and false starts between them. */
std::vector<Bytes> MessyFiles(const ChainParams& params, std::vector<Bytes> blocks)
{
    auto& rng = TestRng();
    for (int i = 0; i < 20; ++i) blocks.push_back(blocks[rng() % blocks.size()]);
    std::shuffle(blocks.begin(), blocks.end(), rng);
    std::vector<Bytes> files(3);
    for (const Bytes& raw : blocks) {
        Bytes& file = files[rng() % files.size()];
        if (rng() % 4 == 0) Append(file, Garbage());
        if (rng() % 9 == 0) Append(file, params.magic); // no frame behind it
        if (rng() % 9 == 0) {                           // a frame that is no block
            AppendFrame(file, params, Bytes(100, 0xee));
        }
        Bytes longer = raw;
        if (rng() % 9 == 0) Append(longer, Garbage()); // no part of the block
        AppendFrame(file, params, longer);
    }
    // The last file ends in the middle of a block that lies elsewhere, too.
    Bytes torn;
    AppendFrame(torn, params, blocks[0]);
    torn.resize(torn.size() / 2);
    Append(files.back(), torn);
    return files;
}

} // namespace

TEST_CASE("files in any disorder import to the same chain, in place or copied")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    for (int round = 0; round < 3; ++round) {
        const uint64_t seed = TestRng()();
        INFO("seed " << seed);
        const Blocks blocks = MakeBlocks(params, seed);
        const CoinsDump expected = InOrder(params, blocks);
        const std::vector<Bytes> files = MessyFiles(params, blocks.all);
        const TempDir dir;
        WriteBlockFiles(dir.Get() / "place", params, files);
        Engine place(params, dir.Get() / "place");
        BlockImporter importer = place.Importer();
        Must(importer.Reindex());
        CHECK(importer.Accepted() == blocks.all.size());
        place.Start();
        CHECK(place.chain->Tip()->hash == blocks.tip);
        CHECK((place.Dump() == expected));
        REQUIRE(Must(VerifyChain(*place.chain, 4, 0)));
        CHECK(place.chain->Read().Tree().Size() == blocks.all.size() + 1);

        Engine copied(params, dir.Get() / "copied");
        copied.Start();
        Bytes together;
        for (const Bytes& file : files) Append(together, file);
        WriteFile(dir.Get() / "all.dat", together);
        copied.Load(dir.Get() / "all.dat");
        CHECK(copied.chain->Tip()->hash == blocks.tip);
        CHECK((copied.Dump() == expected));
        // Once more changes nothing.
        copied.Load(dir.Get() / "all.dat");
        CHECK((copied.Dump() == expected));
        CHECK(copied.chain->Read().Tree().Size() == blocks.all.size() + 1);
    }
}

TEST_CASE("bytes after a block are dropped when it is handed in")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const KitBlock block = kit.Make(kit.Genesis());
    Bytes longer = block.raw;
    Append(longer, Bytes(50, 7));
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    const BlockOutcome outcome = engine.Process(longer);
    REQUIRE(!outcome.violation);
    CHECK(engine.chain->Tip()->hash == block.hash);
    CHECK(Must(engine.chain->ReadBlock(*outcome.node)) == block.raw);
}

TEST_CASE("of equal branches the one that lies first in the files wins a reindex")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    for (uint32_t first = 1; first <= 6; ++first) {
        Bytes file;
        BlockHash expected;
        for (uint32_t salt = first; salt < first + 3; ++salt) {
            const KitBlock one = kit.Make(kit.Genesis(), {{}, -1, salt, 0x20000000, {}, {}, {}});
            if (salt == first) expected = one.hash;
            AppendFrame(file, params, one.raw);
        }
        const TempDir dir;
        WriteBlockFiles(dir.Get() / "data", params, {file});
        Engine engine(params, dir.Get() / "data");
        Must(engine.Importer().Reindex());
        engine.Start();
        CHECK(engine.chain->Tip()->hash == expected);
    }
}

TEST_CASE("an invalid block in the files is marked and the rest goes on without it")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto good = kit.MakeChain(kit.Genesis(), 5);
    KitOptions options;
    options.txs = {SpendTx({good[0].Reward()}, {-1})};
    const KitBlock bad = kit.Make(good[3], options);
    const auto above = kit.MakeChain(bad, 4);
    Bytes file;
    AppendFrame(file, params, bad.raw);
    for (const KitBlock& block : above) AppendFrame(file, params, block.raw);
    for (const KitBlock& block : good) AppendFrame(file, params, block.raw);
    const TempDir dir;
    WriteFile(dir.Get() / "all.dat", file);
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    engine.Load(dir.Get() / "all.dat");
    CHECK(engine.chain->Tip()->hash == good.back().hash);
    CHECK(engine.Node(bad.hash)->Failed());
    CHECK(!engine.Node(above[0].hash));
}

TEST_CASE("generated block files with key, padding and torn tail are indexed where they lie")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Blocks blocks = MakeBlocks(params, TestRng()());
    const TempDir dir;
    const auto env = MakePosixEnv();
    const Path base = dir.Get() / "data";
    const Path folder = base / params.sub_folder / "blocks";
    sim::BlockFileOptions options;
    options.shuffle_window = 30;
    options.obfuscate = true;
    options.torn_tail = true;
    options.max_file_size = 20'000;
    Must(env->CreateDirectories(folder));
    auto writer = Must(sim::BlockFiles::Create(*env, folder, params.magic, options));
    for (const Bytes& raw : blocks.all) Must(writer.AddShuffled(raw));
    Must(writer.Finish());
    REQUIRE(writer.Files() > 2);
    Engine engine(params, base);
    Must(engine.Importer().Reindex());
    engine.Start();
    // The torn record may be any block: the blocks below it must exist.
    CHECK(engine.chain->Tip()->height > 0);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE("a file with a repeated block and a ragged tail: NBitcoin's incompleteblk")
{
    const auto path = TestData("chains/nbitcoin_incompleteblk.dat");
    const auto main = TestData("chains/mainnet_0_14131.blk.xz");
    if (!path || !main) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    BlockImporter importer = engine.Importer();
    Must(importer.LoadFile(*path)); // blocks 300 to 599: their parents are missing
    CHECK(engine.chain->Tip()->height == 0);
    CHECK(importer.Accepted() == 0);
    Bytes first = ReadTestFile(*main);
    first.resize(300 * 230); // more than 300 blocks
    WriteFile(dir.Get() / "first.dat", first);
    engine.Load(dir.Get() / "first.dat");
    REQUIRE(engine.chain->Tip()->height >= 299);
    REQUIRE(engine.chain->Tip()->height < 599);
    engine.Load(*path);
    CHECK(engine.chain->Tip()->height == 599);
}

TEST_CASE("testnet3's first blocks, cut off in the middle")
{
    const auto path = TestData("chains/testnet3_first402_truncated.blk");
    if (!path) return;
    const ChainParams params = MakeChainParams(Network::kTestnet3);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    engine.Load(*path);
    CHECK(engine.chain->Tip()->height == 400);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE("the kernel's regtest chain connects and disconnects")
{
    const auto path = TestData("chains/kernel_regtest_206.txt");
    if (!path) return;
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    const Bytes text = ReadTestFile(*path);
    std::istringstream lines(std::string(text.begin(), text.end()));
    std::vector<CoinsDump> dumps{engine.Dump()};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) continue;
        const auto raw = FromHex(line);
        REQUIRE(raw);
        REQUIRE(!engine.Process(*raw).violation);
        dumps.push_back(engine.Dump());
    }
    REQUIRE(engine.chain->Tip()->height == 206);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
    for (int height = 206; height > 0; --height) {
        Must(engine.chain->InvalidateBlock(*engine.chain->Tip()));
        REQUIRE((engine.Dump() == dumps[static_cast<size_t>(height) - 1]));
    }
}

TEST_CASE("the first 175 blocks of mainnet one by one")
{
    const auto path = TestData("floresta/mainnet_blocks.txt");
    if (!path) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    const Bytes text = ReadTestFile(*path);
    std::istringstream lines(std::string(text.begin(), text.end()));
    for (std::string line; lines >> line;) {
        const auto raw = FromHex(line);
        REQUIRE(raw);
        REQUIRE(!engine.Process(*raw).violation);
    }
    CHECK(engine.chain->Tip()->height == 175);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

} // namespace ibd::test
