// The adapters between peers and the chain: a view of it, the missing blocks above the tip, and a
// sink for blocks.
#include "booster/tip_download.h"
#include "node/chain_for_peers.h"

#include "validation/block_kit.h"
#include "validation/fixture.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

std::vector<BlockHeader> HeadersOf(const std::vector<KitBlock>& blocks)
{
    std::vector<BlockHeader> out;
    for (const KitBlock& block : blocks) out.push_back(BlockHeader::FromBytes(block.raw.data()));
    return out;
}

/** A chain of genesis, and the peers' view of it. */
struct Fixture {
    explicit Fixture(const TempDir& dir) : engine(params, dir.Get() / "data")
    {
        engine.Start();
        view.Attach(*engine.chain);
    }

    const HeaderNode* Accept(const std::vector<KitBlock>& blocks)
    {
        const HeaderNode* last = nullptr;
        REQUIRE(!view.AcceptHeaders(HeadersOf(blocks), &last));
        return last;
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    Engine engine;
    ChainForPeers view;
};

} // namespace

TEST_CASE("peers see headers and blocks as the chain has them", "[peer_adapters]")
{
    const TempDir dir;
    Fixture node(dir);
    CHECK(node.view.Tip().height == 0);
    const auto blocks = node.kit.MakeChain(node.kit.Genesis(), 5);
    const HeaderNode* const last = node.Accept(blocks);
    CHECK(last->hash == blocks[4].hash);
    CHECK(&node.view.BestHeader() == last);
    CHECK(node.view.Find(blocks[2].hash)->height == 3);
    CHECK(node.view.Find(BlockHash{}) == nullptr);
    CHECK_FALSE(node.view.Facts(*last).have_data);
    CHECK_FALSE(node.view.ReadBlock(*last));
    for (const KitBlock& block : blocks) node.engine.Process(block.raw);
    CHECK(&node.view.Tip() == last);
    CHECK(node.view.Facts(*last).have_data);
    CHECK(node.view.Facts(*last).fully_validated);
    CHECK(Must(node.view.ReadBlock(*last)) == blocks[4].raw);
    CHECK(node.view.IsInitialBlockDownload()); // the kit's blocks are old
    CHECK_FALSE(node.view.IsImporting());

    // Up to the one that breaks a rule.
    auto more = HeadersOf(node.kit.MakeChain(blocks[4], 3));
    more[1].time = 0;
    more[2].prev_hash = more[1].Hash();
    const HeaderNode* stored = nullptr;
    const RuleResult violation = node.view.AcceptHeaders(more, &stored);
    REQUIRE(violation);
    REQUIRE(stored);
    CHECK(stored->height == 6);
}

TEST_CASE("before there are coins, genesis is the tip that peers see", "[peer_adapters]")
{
    const TempDir dir;
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Engine engine(params, dir.Get() / "data");
    ChainForPeers view;
    view.Attach(*engine.chain);
    CHECK(view.Tip().height == 0);
    CHECK(view.Tip().hash == params.consensus.genesis_hash);
}

TEST_CASE("missing is what lies above the tip and was not put into the sink", "[peer_adapters]")
{
    const TempDir dir;
    Fixture node(dir);
    const auto fail = [](const Error& error) { FAIL(error.message); };
    ChainThread thread(*node.engine.chain, fail);
    BlockIntake intake(*node.engine.chain, thread, fail, [] {});
    TipDownload download(*node.engine.chain, intake);
    CHECK(download.NextMissing(-1) == nullptr);
    const int length = kDownloadWindow + 10;
    const auto blocks = node.kit.MakeChain(node.kit.Genesis(), length);
    const HeaderNode* const last = node.Accept(blocks);
    const auto at = [&](int32_t height) { return last->Ancestor(height); };
    CHECK(download.WindowEnd() == kDownloadWindow);
    CHECK(download.NextMissing(-1) == at(1));
    CHECK(download.NextMissing(1) == at(2));
    CHECK(download.NextMissing(kDownloadWindow) == at(kDownloadWindow + 1)); // the window's end
    CHECK(download.NextMissing(kDownloadWindow + 1) == nullptr);

    CHECK_FALSE(download.Have(*at(2)));
    REQUIRE(download.Put({at(2), 3, blocks[1].raw}));
    CHECK(download.Have(*at(2)));
    CHECK(download.NextMissing(1) == at(3));
    REQUIRE(download.Put({at(1), 3, blocks[0].raw}));
    while (download.IsBusyWith(3)) std::this_thread::yield();
    CHECK(node.view.Tip().height == 2);
    CHECK(download.NextMissing(-1) == at(3));
    CHECK(download.WindowEnd() == kDownloadWindow + 2);

    // Bytes that are not the block: it is missing again.
    Bytes mutated = blocks[2].raw;
    mutated[140] ^= 1;
    REQUIRE(download.Put({at(3), 5, mutated}));
    while (download.IsBusyWith(5)) std::this_thread::yield();
    const auto refused = download.TakeRefused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].peer == 5);
    CHECK(refused[0].node == at(3));
    CHECK(refused[0].why.kind == RuleViolation::Kind::kMutated);
    CHECK(download.NextMissing(-1) == at(3));
}

} // namespace ibd::test
