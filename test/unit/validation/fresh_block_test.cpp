// A block that was just stored is connected from memory, and only it.
#include "block_kit.h"
#include "fixture.h"
#include "validation/fresh_block.h"

#include <fstream>

namespace ibd::test {

namespace {

const ChainParams& Regtest()
{
    static const ChainParams params = MakeChainParams(Network::kRegtest);
    return params;
}

/** A node that is given blocks, and whose files change. */
class Given {
public:
    Given() { engine.Start(); }

    void Take(const KitBlock& block)
    {
        const BlockOutcome outcome = Must(engine.chain->TakeBlock(block.raw));
        REQUIRE_FALSE(outcome.violation);
        REQUIRE(outcome.is_new);
    }
    /** Spoils the coinbase of the stored block. */
    void Spoil(const KitBlock& block)
    {
        Must(engine.chain->Flush(FlushMode::kAlways));
        const HeaderNode& node = *engine.Node(block.hash);
        std::fstream file(engine.Blocks().BlockPath(node.file),
                          std::ios::in | std::ios::out | std::ios::binary);
        const auto at = static_cast<std::streamoff>(node.data_pos + BlockHeader::kSize + 10);
        file.seekg(at);
        const int byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ 1));
        REQUIRE(file.good());
    }
    Result<> Activate() { return engine.chain->ActivateBestChain(); }
    BlockHash Tip() const { return engine.chain->Tip()->hash; }

    const TempDir dir;
    const BlockKit kit{Regtest()};
    Engine engine{Regtest(), dir.Get()};
};

std::unique_ptr<LoadedBlock> Loaded() { return std::make_unique<LoadedBlock>(); }

} // namespace

TEST_CASE("a fresh block is given once, and to its header alone")
{
    FreshBlock fresh;
    const HeaderNode one, other;
    CHECK_FALSE(fresh.Take(one));
    auto block = Loaded();
    const LoadedBlock* const kept = block.get();
    fresh.Keep(one, std::move(block));
    CHECK(fresh.Take(one).get() == kept);
    CHECK_FALSE(fresh.Take(one));
    fresh.Keep(one, Loaded());
    CHECK_FALSE(fresh.Take(other));
    CHECK_FALSE(fresh.Take(one)); // its memory is free
    fresh.Keep(one, Loaded());
    fresh.Keep(other, Loaded());
    CHECK_FALSE(fresh.Take(one));
}

TEST_CASE("a block on the tip is connected although its file cannot be read")
{
    Given node;
    const KitBlock block = node.kit.Make(node.kit.Genesis());
    node.Take(block);
    node.Spoil(block);
    Must(node.Activate());
    CHECK(node.Tip() == block.hash);
    CHECK_FALSE(node.engine.Node(block.hash)->Failed());
    REQUIRE(node.engine.witness.verdicts.contains(block.hash));
    CHECK_FALSE(node.engine.witness.verdicts.at(block.hash));
}

TEST_CASE("blocks above the fresh one, and another one in its place, are read from the disk")
{
    Given node;
    const auto blocks = node.kit.MakeChain(node.kit.Genesis(), 3);
    for (const KitBlock& block : blocks) node.Take(block);
    SECTION("all is sound")
    {
        Must(node.Activate());
        CHECK(node.Tip() == blocks[2].hash);
        return;
    }
    SECTION("the second one is damaged")
    {
        node.Spoil(blocks[1]);
        CHECK_FALSE(node.Activate());
        CHECK(node.Tip() == blocks[0].hash);
        CHECK_FALSE(node.engine.Node(blocks[1].hash)->Failed());
    }
    SECTION("a later block on the tip took the place of the first one")
    {
        KitOptions options;
        options.salt = 7;
        node.Take(node.kit.Make(node.kit.Genesis(), options));
        node.Spoil(blocks[0]);
        CHECK_FALSE(node.Activate());
        CHECK(node.Tip() == node.kit.Genesis().hash);
        CHECK_FALSE(node.engine.Node(blocks[0].hash)->Failed());
    }
}

TEST_CASE("a fresh block that breaks a rule is refused for that rule")
{
    Given node;
    KitOptions greedy;
    greedy.reward = 5'000'000'001;
    const KitBlock bad = node.kit.Make(node.kit.Genesis(), greedy);
    const KitBlock good = node.kit.Make(node.kit.Genesis());
    node.Take(bad);
    Must(node.Activate());
    CHECK(node.Tip() == node.kit.Genesis().hash);
    CHECK(node.engine.Node(bad.hash)->Failed());
    REQUIRE(node.engine.witness.verdicts.at(bad.hash));
    CHECK(node.engine.witness.verdicts.at(bad.hash)->reason == "bad-cb-amount");
    node.Take(good);
    Must(node.Activate());
    CHECK(node.Tip() == good.hash);
}

TEST_CASE("an interruption drops the fresh block, which is read later")
{
    Given node;
    const KitBlock block = node.kit.Make(node.kit.Genesis());
    node.Take(block);
    Must(node.engine.chain->ActivateBestChain([pauses = 0]() mutable { return pauses++ > 0; }));
    CHECK(node.Tip() == node.kit.Genesis().hash);
    Must(node.Activate());
    CHECK(node.Tip() == block.hash);
}

} // namespace ibd::test
