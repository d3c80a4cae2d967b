// Undo data that is very large, and undo data that is not there.
#include "block_kit.h"
#include "fixture.h"

namespace ibd::test {

namespace {

void Feed(Engine& engine, const std::vector<KitBlock>& blocks)
{
    for (const KitBlock& block : blocks) REQUIRE(!engine.Process(block.raw).violation);
}

/** As a chainstate that the booster made up to `height` leaves the index. */
void ForgetUndoUpTo(Engine& engine, int height)
{
    for (int h = 1; h <= height; ++h) {
        HeaderNode* node = engine.chain->Read().Active()[h];
        node->status &= ~uint32_t{kHaveUndo};
        node->undo_pos = 0;
        engine.chain->Index().MarkDirty(node);
    }
}

} // namespace

TEST_CASE("a block that spends 34 MB of scripts is checked at start and taken back")
{
    constexpr int kFundings = 35, kOutputs = 98;
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    std::vector<KitBlock> chain = kit.MakeChain(kit.Genesis(), 100 + kFundings);
    std::vector<OutPoint> coins;
    for (size_t i = 0; i < kFundings; ++i) {
        KitOptions options;
        options.txs = {SpendTx({chain[i].Reward()}, std::vector<Amount>(kOutputs, kCoin / 10))};
        for (auto& output : options.txs[0].outputs) output.script_pubkey = Bytes(10'000, 0x61);
        chain.push_back(kit.Make(chain.back(), options));
        for (uint32_t n = 0; n < kOutputs; ++n) coins.push_back({options.txs[0].Id(), n});
    }
    REQUIRE(coins.size() > 3'400);
    KitOptions spend;
    spend.txs = {SpendTx(coins, {kCoin})};
    const KitBlock big = kit.Make(chain.back(), spend);
    const std::vector<KitBlock> better = kit.MakeChain(chain.back(), 2, 1);

    const TempDir dir;
    CoinsDump before;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, chain);
        before = engine.Dump();
        Feed(engine, {big});
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    CHECK(engine.chain->Tip()->hash == big.hash);
    CHECK(Must(engine.chain->ReadUndo(*engine.chain->Tip())).txs[0].spent.size() == coins.size());
    CHECK(Must(VerifyChain(*engine.chain, 4, 1)));
    Feed(engine, better);
    CHECK(engine.chain->Tip()->hash == better.back().hash);
    Must(engine.chain->InvalidateBlock(*engine.Node(better[0].hash)));
    Must(engine.chain->InvalidateBlock(*engine.Node(big.hash)));
    CHECK((engine.Dump() == before));
}

TEST_CASE("a better branch from below blocks without undo data is left aside, at every start")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 5);
    const auto own = kit.MakeChain(common.back(), 7, 1);
    const auto better = kit.MakeChain(common.back(), 9, 2);
    const auto near = kit.MakeChain(own[3], 4, 3); // above what has none: one more than `own`
    const TempDir dir;
    CoinsDump before;
    const auto still_there = [&](Engine& engine) {
        CHECK(engine.chain->Tip()->hash == own.back().hash);
        REQUIRE(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
        const std::string& text = engine.witness.warnings[NodeWarning::kMissingUndo];
        CHECK(text.find("-reindex-chainstate") != std::string::npos);
        CHECK(text.find(own[2].hash.ToHex()) != std::string::npos);
        for (const KitBlock& block : better) CHECK(!engine.Node(block.hash)->Failed());
    };
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, common);
        Feed(engine, own);
        ForgetUndoUpTo(engine, 8); // own[2]
        before = engine.Dump();
        engine.witness.events.clear();
        Feed(engine, better);
        still_there(engine);
        CHECK(engine.witness.events.empty());
        // What asks for the same by name is refused before anything moves.
        const auto refused = engine.chain->InvalidateBlock(*engine.Node(own[0].hash));
        REQUIRE(!refused);
        CHECK(refused.Message().find("-reindex-chainstate") != std::string::npos);
        CHECK(!engine.Node(own[0].hash)->Failed());
        CHECK(engine.witness.events.empty());
        CHECK((engine.Dump() == before));
    }
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        still_there(engine);
        CHECK((engine.Dump() == before));
        // Branches above are followed as ever; the warning stays while the other has more work.
        Feed(engine, near);
        CHECK(engine.chain->Tip()->hash == near.back().hash);
        CHECK(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
        Feed(engine, kit.MakeChain(near.back(), 2, 4));
        CHECK(engine.chain->Tip()->height == 15);
        CHECK(!engine.witness.warnings.contains(NodeWarning::kMissingUndo));
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    // The remedy: from the blocks, with undo data for all.
    Engine engine(params, dir.Get() / "data");
    engine.Start(true);
    CHECK(engine.chain->Tip()->height == 15);
    Must(engine.chain->InvalidateBlock(*engine.Node(own[0].hash)));
    CHECK(engine.chain->Tip()->hash == better.back().hash);
}

TEST_CASE("a rev file that is gone counts as missing undo data")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto own = kit.MakeChain(kit.Genesis(), 4, 1);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    Feed(engine, own);
    std::filesystem::remove(engine.Blocks().UndoPath(0));
    Feed(engine, kit.MakeChain(kit.Genesis(), 5, 2));
    CHECK(engine.chain->Tip()->hash == own.back().hash);
    CHECK(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
}

TEST_CASE("undo data that is damaged stops the node, which names the remedy and marks nothing")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto own = kit.MakeChain(kit.Genesis(), 4, 1);
    const auto better = kit.MakeChain(kit.Genesis(), 5, 2);
    const TempDir dir;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, own);
        const Path path = engine.Blocks().UndoPath(0);
        Bytes file = Must(ReadWholeFile(engine.GetEnv(), path));
        file[engine.Node(own[1].hash)->undo_pos] ^= 1;
        Must(WriteFileAtomically(engine.GetEnv(), path, file));
        for (const KitBlock& block : better) Must(engine.chain->AcceptBlock(block.raw));
        const auto activated = engine.chain->ActivateBestChain();
        REQUIRE(!activated);
        CHECK(activated.Message().find("rev00000.dat") != std::string::npos);
        CHECK(activated.Message().find("-reindex-chainstate") != std::string::npos);
        for (const KitBlock& block : own) CHECK(!engine.Node(block.hash)->Failed());
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data"); // as the remedy does: from the blocks
    engine.Start(true);
    CHECK(engine.chain->Tip()->hash == better.back().hash);
}

} // namespace ibd::test
