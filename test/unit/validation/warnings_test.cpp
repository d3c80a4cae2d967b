// Warnings about the chain as a whole: rules that we do not know, and an invalid chain that has
// much more work than ours.
#include "block_kit.h"
#include "fixture.h"

namespace ibd::test {

namespace {

ChainManagerOptions NoInitialDownload()
{
    ChainManagerOptions options;
    options.max_tip_age = int64_t{100} * 365 * 24 * 60 * 60; // the kit's blocks are old
    return options;
}

/** `count` blocks of this version, handed in one by one. */
KitBlock Grow(Engine& engine, const BlockKit& kit, KitBlock tip, int count, uint32_t bits)
{
    KitOptions options;
    options.version = static_cast<int32_t>(kVersionBitsTop | bits);
    for (int i = 0; i < count; ++i) {
        tip = kit.Make(tip, options);
        REQUIRE(!engine.Process(tip.raw).violation);
    }
    return tip;
}

} // namespace

TEST_CASE("unknown version bits warn once they are active, and not during initial download")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data", NoInitialDownload());
    engine.Start();
    auto& warnings = engine.witness.warnings;
    // Periods of 144 blocks: genesis is in the first.
    KitBlock tip = Grow(engine, kit, kit.Genesis(), 143, 0);
    // 75 %. Bits 5 to 28 are a miner's to use (BIP 323): no warning.
    tip = Grow(engine, kit, tip, 108, 1U << 4 | 1U << 9);
    tip = Grow(engine, kit, tip, 36 + 143, 0);  // locked in by the first 36
    CHECK(warnings.empty());
    tip = Grow(engine, kit, tip, 1, 0);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[NodeWarning::kUnknownRules] == "Unknown new rules activated (versionbit 4)");
    // It stays when the block is taken back.
    Must(engine.chain->InvalidateBlock(*engine.Node(tip.hash)));
    CHECK(warnings.size() == 1);

    Engine young(params, dir.Get() / "young"); // old blocks: initial download
    young.Start();
    KitBlock other = Grow(young, kit, kit.Genesis(), 143, 0);
    other = Grow(young, kit, other, 108, 1U << 4);
    Grow(young, kit, other, 36 + 144, 0);
    CHECK(young.chain->IsInitialBlockDownload());
    CHECK(young.witness.warnings.empty());
}

TEST_CASE("an invalid chain of more than six blocks' more work warns until ours has caught up")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    const auto common = kit.MakeChain(kit.Genesis(), 5);
    KitOptions spend;
    spend.reward = 51 * kCoin; // too much, found when it is connected
    const KitBlock bad = kit.Make(common.back(), spend);
    const auto above = kit.MakeChain(bad, 6, 7);
    Engine engine(params, dir.Get() / "data", NoInitialDownload());
    engine.Start();
    auto& warnings = engine.witness.warnings;
    for (const KitBlock& block : common) engine.Process(block.raw);
    // Seven blocks come before the first of them is tried.
    REQUIRE(!Must(engine.chain->AcceptBlock(bad.raw)).violation);
    for (size_t i = 0; i + 1 < above.size(); ++i) {
        REQUIRE(!Must(engine.chain->AcceptBlock(above[i].raw)).violation);
    }
    SECTION("exactly six")
    {
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->hash == common.back().hash);
        CHECK(warnings.empty());
    }
    SECTION("seven")
    {
        REQUIRE(!Must(engine.chain->AcceptBlock(above.back().raw)).violation);
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->hash == common.back().hash);
        REQUIRE(warnings.contains(NodeWarning::kInvalidChain));
        CHECK(warnings[NodeWarning::kInvalidChain].starts_with(
            "Warning: Found invalid chain more than 6 blocks longer than our best chain."));
        Must(engine.chain->Flush(FlushMode::kAlways));
        const KitBlock next = kit.Make(common.back());
        SECTION("cleared by a block of ours")
        {
            REQUIRE(!engine.Process(next.raw).violation);
            CHECK(warnings.empty());
        }
        SECTION("cleared when the chain is reconsidered, set again when it fails again")
        {
            warnings.clear();
            Must(engine.chain->ReconsiderBlock(*engine.Node(bad.hash)));
            CHECK(engine.Node(bad.hash)->Failed());
            CHECK(engine.chain->Tip()->hash == common.back().hash);
        }
    }
}

TEST_CASE("marking a block invalid by hand does not warn")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data", NoInitialDownload());
    engine.Start();
    const auto chain = kit.MakeChain(kit.Genesis(), 12);
    for (const KitBlock& block : chain) engine.Process(block.raw);
    Must(engine.chain->InvalidateBlock(*engine.Node(chain[1].hash)));
    CHECK(engine.chain->Tip()->height == 1);
    CHECK(engine.witness.warnings.empty());
}

} // namespace ibd::test
