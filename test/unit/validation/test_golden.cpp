// The serial engine on 14,132 real blocks, against the answers of Bitcoin Core.
#include "fixture.h"

#include "storage/snapshot.h"

#include <fstream>

namespace ibd::test {

namespace {

void WriteFile(const Path& path, const Bytes& data)
{
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()),
              static_cast<std::streamsize>(data.size()));
    REQUIRE(out.good());
}

/** The golden chain, imported as -loadblock does. */
void ImportGolden(Engine& engine, const Path& scratch, const std::string& packed)
{
    const Path blk = scratch / "bootstrap.dat";
    WriteFile(blk, ReadTestFile(packed));
    engine.Start();
    engine.Load(blk);
}

} // namespace

TEST_CASE("the golden chain gives Core's coins")
{
    const auto packed = TestData("chains/mainnet_0_14131.blk.xz");
    if (!packed) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    ImportGolden(engine, dir.Get(), *packed);
    REQUIRE(engine.chain->Tip()->height == 14131);

    const CoinsStats stats = engine.Stats(CoinsHashKind::kSerialized3);
    CHECK(stats.hash.ToHex() == "74c5a654587d4eaac9248b73889453e0b2fbc918bbc7bb8d8e6301d4d8c98db3");
    CHECK(stats.outputs == 13416);
    CHECK(engine.Stats(CoinsHashKind::kMuHash).hash.ToHex() ==
          "859e27f17a6cce9768b75dd0dbd969890157d29a152b0f4a0afa6c67cbcd5975");
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 500)));
}

TEST_CASE("the golden snapshot is written byte for byte")
{
    const auto packed = TestData("chains/mainnet_0_14131.blk.xz");
    const auto snapshot = TestData("golden_mainnet14131/utxo_14131.dat.xz");
    if (!packed || !snapshot) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    ImportGolden(engine, dir.Get(), *packed);
    auto writer = Must(SnapshotWriter::Create(engine.GetEnv(), dir.Get() / "utxo.dat", params.magic,
                                              engine.chain->Tip()->hash));
    engine.ForEachCoin(
        [&](const OutPoint& outpoint, const Coin& coin) { Must(writer->Add(outpoint, coin)); });
    Must(writer->Finish());
    CHECK(ReadTestFile((dir.Get() / "utxo.dat").string()) == ReadTestFile(*snapshot));
}

} // namespace ibd::test
