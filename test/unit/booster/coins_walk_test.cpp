// CoinsWalk: the coins at any block of the active chain, while the chain advances; failures leave
// no files.
#include "booster/coins_walk.h"

#include "sim/chain.h"
#include "storage/undo.h"
#include "support/temp_dir.h"
#include "validation/fixture.h"

namespace ibd::test {

namespace {

constexpr int kTop = 40;
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
    std::map<int, CoinsDump> expected;
    const int middle = kTop / 2;
    for (int height = 1; height <= middle; ++height) {
        engine.Process(blocks[size_t(height) - 1]);
        expected[height] = engine.Dump();
    }
    std::vector<std::unique_ptr<CoinsWalk>> walks;
    for (int height = 1; height <= middle; ++height) {
        const HeaderNode* const target =
            height == middle ? nullptr : engine.chain->Tip()->Ancestor(height);
        walks.push_back(Must(CoinsWalk::Start(*engine.chain, target)));
    }
    for (int height = middle + 1; height <= kTop; ++height) {
        engine.Process(blocks[size_t(height) - 1]);
    }
    Must(engine.chain->Flush(FlushMode::kAlways));
    for (const auto& walk : walks) {
        const int height = walk->Block().height;
        INFO("height " << height);
        CHECK(walk->IsBelowTip() == (height != middle));
        const Path folder = dir.Get() / std::to_string(height);
        REQUIRE(Must(walk->TakeBack(engine.GetEnv(), folder, kLittle, kGoOn)));
        CHECK((Collect(*walk) == expected[height]));
    }
    walks.clear();
    for (const auto& entry : std::filesystem::directory_iterator(dir.Get())) {
        CHECK(entry.path().filename() == "data");
    }
    const HeaderNode* const early = engine.chain->Tip()->Ancestor(3);
    const auto walk = Must(CoinsWalk::Start(*engine.chain, early));
    const std::atomic<bool> stop = true;
    CHECK_FALSE(Must(walk->TakeBack(engine.GetEnv(), dir / "stopped", kLittle, stop)));
    Must(engine.chain->InvalidateBlock(*engine.chain->Tip()));
    CHECK(engine.chain->Tip()->height == kTop - 1);
    HeaderNode* const stale = engine.Node(BlockHeader::FromBytes(blocks.back().data()).Hash());
    REQUIRE(stale);
    CHECK_THAT(CoinsWalk::Start(*engine.chain, stale).Message(),
               Catch::Contains("is not on the active chain"));
}

} // namespace ibd::test
