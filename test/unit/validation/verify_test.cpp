// VerifyChain finds what was damaged, at the level that looks for it.
#include "fixture.h"
#include "sim/chain.h"

#include <fstream>

namespace ibd::test {

namespace {

constexpr int kBlocks = 130;

/** Changes one byte of a file. */
void Flip(const Path& path, uint64_t offset)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ (1 << (TestRng()() % 8))));
    REQUIRE(file.good());
}

class Verified {
public:
    Verified() : params(MakeChainParams(Network::kRegtest)), engine(params, dir.Get() / "data")
    {
        sim::ChainOptions options;
        options.seed = TestRng()();
        options.blocks = kBlocks;
        options.outputs_per_block = 40;
        sim::Chain chain(params, options);
        engine.Start();
        for (int i = 0; i < kBlocks; ++i) engine.Process(chain.Next().bytes);
        Must(engine.chain->Flush(FlushMode::kAlways));
        REQUIRE(engine.chain->Tip()->height == kBlocks);
    }
    bool Verify(int level, int blocks = 0)
    {
        return bool{Must(VerifyChain(*engine.chain, level, blocks))};
    }
    /** Nothing is wrong, but not all that was asked for could be looked at. */
    bool IsPartly(int level)
    {
        const Verification found = Must(VerifyChain(*engine.chain, level, 0));
        return found.sound && !found.complete;
    }
    const HeaderNode& AnyNode() const
    {
        return *engine.chain->Read().Active()[1 + static_cast<int>(TestRng()() % kBlocks)];
    }

    const TempDir dir;
    const ChainParams params;
    Engine engine;
};

} // namespace

TEST_CASE("a sound chain passes every level and depth")
{
    Verified v;
    const CoinsDump before = v.engine.Dump();
    for (int level = 0; level <= 4; ++level) {
        for (const int depth : {1, 6, kBlocks, 0, 10'000}) CHECK(v.Verify(level, depth));
    }
    CHECK(v.Verify(99, -1));
    CHECK((v.engine.Dump() == before));
}

TEST_CASE("a flipped bit in a block is found")
{
    for (int round = 0; round < 20; ++round) {
        Verified v;
        const HeaderNode& node = v.AnyNode();
        const Bytes raw = Must(v.engine.chain->ReadBlock(node));
        const uint64_t offset = TestRng()() % raw.size();
        INFO("height " << node.height << " byte " << offset << " of " << raw.size());
        Flip(v.engine.Blocks().BlockPath(node.file), node.data_pos + offset);
        CHECK(!v.Verify(1));
        CHECK(!v.Verify(4));
        if (node.height < kBlocks) CHECK(v.Verify(4, kBlocks - node.height));
        // Level 0 reads and parses only: it sees a wrong header.
        if (offset < BlockHeader::kSize) CHECK(!v.Verify(0));
    }
}

TEST_CASE("a flipped bit in undo data is found from level 2 on")
{
    for (int round = 0; round < 10; ++round) {
        Verified v;
        const HeaderNode& node = v.AnyNode();
        const Bytes undo =
            Must(v.engine.Blocks().ReadUndo({node.file, node.undo_pos}, node.PrevHash()));
        const uint64_t offset = TestRng()() % (undo.size() + kUndoChecksumSize);
        INFO("height " << node.height << " byte " << offset << " of " << undo.size());
        Flip(v.engine.Blocks().UndoPath(node.file), node.undo_pos + offset);
        CHECK(v.Verify(1));
        CHECK(!v.Verify(2));
        CHECK(!v.Verify(3));
        CHECK(!v.Verify(4));
    }
}

TEST_CASE("what cannot be checked is no damage, and not called right either")
{
    Verified v;
    HeaderNode& node = *v.engine.Node(v.AnyNode().hash);
    const uint32_t status = node.status;
    SECTION("undo data that is not there")
    {
        node.status &= ~static_cast<uint32_t>(kHaveUndo);
        CHECK(v.Verify(2));
        CHECK(v.IsPartly(3));
        CHECK(v.IsPartly(4));
    }
    SECTION("a block that was pruned")
    {
        node.status &= ~static_cast<uint32_t>(kHaveData | kHaveUndo);
        for (int level = 0; level <= 4; ++level) CHECK(v.IsPartly(level));
    }
    node.status = status;
    CHECK(v.Verify(4));
}

TEST_CASE("a coin that was changed, lost or added in the database is found from level 3 on")
{
    for (int kind = 0; kind < 3; ++kind) {
        Verified v;
        CoinsDump coins = v.engine.Dump();
        auto it = coins.begin();
        std::advance(it, TestRng()() % coins.size());
        Coin coin = Must(DecodeCoin(it->second));
        CoinsDb& db = v.engine.chain->CoinsDatabase();
        CoinsWriter writer = Must(db.StartWrite(v.engine.chain->Tip()->hash));
        if (kind == 0) {
            coin.value ^= 1;
            writer.Put(it->first, coin);
        } else if (kind == 1) {
            writer.Erase(it->first);
        } else { // one that was spent is back
            const HeaderNode& tip = *v.engine.chain->Tip();
            const BlockUndo undo = Must(v.engine.chain->ReadUndo(tip));
            const Bytes raw = Must(v.engine.chain->ReadBlock(tip));
            BlockView view;
            Must(view.Parse(raw));
            REQUIRE(!undo.txs.empty());
            writer.Put(view.Txs()[1].inputs[0].Prevout(), undo.txs[0].spent[0]);
        }
        Must(writer.Commit());
        // The cache still has the sound ones.
        Must(v.engine.chain->Coins().Flush(db, v.engine.chain->Tip()->hash));
        INFO("kind " << kind);
        CHECK(v.Verify(2));
        CHECK(!v.Verify(3));
        CHECK(!v.Verify(4));
    }
}

TEST_CASE("damaged undo data is written again when the chainstate is built anew")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    sim::ChainOptions options;
    options.seed = TestRng()();
    options.blocks = kBlocks;
    options.outputs_per_block = 40;
    sim::Chain chain(params, options);
    const TempDir dir;
    std::vector<std::pair<Path, uint64_t>> records;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        for (int i = 0; i < kBlocks; ++i) engine.Process(chain.Next().bytes);
        Must(engine.chain->Flush(FlushMode::kAlways));
        for (int height = 1; height <= kBlocks; ++height) {
            const HeaderNode& node = *engine.chain->Read().Active()[height];
            records.emplace_back(engine.Blocks().UndoPath(node.file), node.undo_pos);
        }
    }
    for (int i = 0; i < 12; ++i) {
        const auto& [path, offset] = records[TestRng()() % records.size()];
        Flip(path, offset + TestRng()() % 33); // any record is a count and a checksum at least
    }
    std::vector<uint32_t> kept;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start(true);
        REQUIRE(engine.chain->Tip()->height == kBlocks);
        size_t moved = 0;
        for (int height = 1; height <= kBlocks; ++height) {
            const uint32_t at = engine.chain->Read().Active()[height]->undo_pos;
            if (at != records[static_cast<size_t>(height) - 1].second) ++moved;
            kept.push_back(at);
        }
        CHECK(moved > 0);
        CHECK(moved <= 12);
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
        const HeaderNode* first = engine.chain->Read().Active()[1];
        Must(engine.chain->InvalidateBlock(*first));
        CHECK(engine.chain->Tip()->height == 0);
        CHECK(engine.Dump().empty());
        Must(engine.chain->ReconsiderBlock(*engine.Node(chain.TipHash())));
        CHECK(engine.chain->Tip()->height == kBlocks);
        // Intact blocks keep their positions.
        for (int height = 1; height <= kBlocks; ++height) {
            REQUIRE(engine.chain->Read().Active()[height]->undo_pos ==
                    kept[static_cast<size_t>(height) - 1]);
        }
    }
}

} // namespace ibd::test
