// CoinsWalk: the coins at any block of the active chain, while the chain advances; failures leave
// no files.
#include "booster/coins_walk.h"

#include "sim/chain.h"
#include "storage/undo.h"
#include "support/temp_dir.h"
#include "validation/fixture.h"

namespace ibd::test {

namespace {

constexpr int kTop = 150;
constexpr int kMiddle = 130;
constexpr size_t kLittle = 1 << 12; //!< bytes; several runs must be merged
const std::atomic<bool> kGoOn = false;

std::vector<Bytes> MakeBlocks(const ChainParams& params)
{
    sim::ChainOptions options;
    options.seed = 46;
    options.blocks = kTop;
    options.outputs_per_block = 60;
    sim::Chain chain(params, options);
    std::vector<Bytes> blocks;
    while (chain.Height() < kTop) blocks.push_back(chain.Next().bytes);
    return blocks;
}

CoinsDump Collect(CoinsWalk& walk)
{
    CoinsDump dump;
    OutPoint outpoint, last;
    Coin coin;
    while (Must(walk.Next(outpoint, coin))) {
        Bytes value;
        AppendCoin(value, coin);
        REQUIRE(dump.emplace(outpoint, value).second);
        if (dump.size() > 1) {
            REQUIRE(std::ranges::lexicographical_compare(CoinKey(last).Span(),
                                                         CoinKey(outpoint).Span()));
        }
        last = outpoint;
    }
    return dump;
}

} // namespace

TEST_CASE("a walk has the coins at any block, also if the chain advances meanwhile")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const std::vector<Bytes> blocks = MakeBlocks(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    std::map<int, CoinsDump> expected = {{1, {}}, {100, {}}, {kMiddle, {}}};
    for (int height = 104; height < kMiddle; height += 5) expected[height];
    for (int height = 1; height <= kMiddle; ++height) {
        engine.Process(blocks[size_t(height) - 1]);
        if (expected.contains(height)) expected[height] = engine.Dump();
    }
    std::vector<std::unique_ptr<CoinsWalk>> walks;
    for (const auto& [height, coins] : expected) {
        const HeaderNode* const target =
            height == kMiddle ? nullptr : engine.chain->Tip()->Ancestor(height);
        walks.push_back(Must(CoinsWalk::Start(*engine.chain, target)));
    }
    for (int height = kMiddle + 1; height <= kTop; ++height) {
        engine.Process(blocks[size_t(height) - 1]);
    }
    Must(engine.chain->Flush(FlushMode::kAlways));
    for (const auto& walk : walks) {
        const int height = walk->Block().height;
        INFO("height " << height);
        CHECK(walk->IsBelowTip() == (height != kMiddle));
        const Path folder = dir.Get() / std::to_string(height);
        REQUIRE(Must(walk->TakeBack(engine.GetEnv(), folder, kLittle, kGoOn, engine.GetLog())));
        CHECK((Collect(*walk) == expected[height]));
    }
    walks.clear();
    for (const auto& entry : std::filesystem::directory_iterator(dir.Get())) {
        CHECK(entry.path().filename() == "data");
    }
    REQUIRE(Must(engine.chain->ReadUndo(*engine.chain->Tip())).txs.size() > 0);
    const HeaderNode* const early = engine.chain->Tip()->Ancestor(3);
    const auto walk = Must(CoinsWalk::Start(*engine.chain, early));
    const std::atomic<bool> stop = true;
    CHECK_FALSE(
        Must(walk->TakeBack(engine.GetEnv(), dir / "stopped", kLittle, stop, engine.GetLog())));
    Must(engine.chain->InvalidateBlock(*engine.chain->Tip()));
    CHECK(engine.chain->Tip()->height == kTop - 1);
    HeaderNode* const stale = engine.Node(BlockHeader::FromBytes(blocks.back().data()).Hash());
    REQUIRE(stale);
    CHECK_THAT(CoinsWalk::Start(*engine.chain, stale).Message(),
               Catch::Contains("is not on the active chain"));
}

TEST_CASE("undo data without heights, as Core before 0.15 wrote it, is refused")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (const Bytes& block : MakeBlocks(params)) engine.Process(block);
    HeaderNode& tip = *engine.Node(engine.chain->Tip()->hash);
    const BlockUndo undo = Must(engine.chain->ReadUndo(tip));
    REQUIRE(undo.txs.size() > 0);
    Bytes old;
    Writer(old).CompactSize(undo.txs.size());
    for (const TxUndo& tx : undo.txs) {
        Writer(old).CompactSize(tx.spent.size());
        for (const Coin& coin : tx.spent) AppendSpentCoin(old, coin.value, coin.script, 0, false);
    }
    const FilePos place =
        Must(engine.Blocks().WriteUndo(tip.file, old, tip.prev->hash, uint32_t(tip.height)));
    tip.undo_pos = place.offset;
    const auto walk = Must(CoinsWalk::Start(*engine.chain, tip.prev));
    CHECK_THAT(
        walk->TakeBack(engine.GetEnv(), dir / "spent", kLittle, kGoOn, engine.GetLog()).Message(),
        Catch::Contains("before 0.15") && Catch::Contains("-reindex"));
}

} // namespace ibd::test
