// Undo data that is very large, and undo data that is missing.
#include "block_kit.h"
#include "fixture.h"
#include "storage/undo.h"

namespace ibd::test {

namespace {

void Feed(Engine& engine, const std::vector<KitBlock>& blocks)
{
    for (const KitBlock& block : blocks) REQUIRE(!engine.Process(block.raw).violation);
}

/** Changes the index to its state after the booster made a chainstate up to `height`. */
void ForgetUndoUpTo(Engine& engine, int height)
{
    for (int h = 1; h <= height; ++h) {
        HeaderNode* node = engine.chain->Read().Active()[h];
        node->status &= ~uint32_t{kHaveUndo};
        node->undo_pos = 0;
        engine.chain->Index().MarkDirty(node);
    }
}

/** Makes undo data on request, like the node's undo thread: from the blocks, which a second engine
 *  connects once more. */
class Maker {
public:
    Maker(Engine& engine, const ChainParams& params, const Path& scratch)
        : m_engine(engine), m_other(params, scratch)
    {
        m_other.Start();
        engine.chain->SetUndoMaker([this] { return ++m_asked, m_willing; });
    }

    int Asked() const { return m_asked; }
    void Refuse() { m_willing = false; }
    void Make(const std::vector<KitBlock>& chain)
    {
        Write(chain);
        Must(m_engine.chain->ActivateBestChain());
    }
    void Write(const std::vector<KitBlock>& chain)
    {
        Feed(m_other, chain);
        for (const KitBlock& block : chain) {
            const HeaderNode& node = *m_engine.Node(block.hash);
            const HeaderNode& other = *m_other.Node(block.hash);
            const Bytes undo =
                Must(m_other.Blocks().ReadUndo({other.file, other.undo_pos}, other.PrevHash()));
            const ByteSpan pieces[] = {undo};
            Must(m_engine.chain->PutUndo(node, {pieces, UndoChecksum(other.PrevHash(), pieces)}));
        }
        m_engine.chain->TryLeftAside();
    }

private:
    Engine& m_engine;
    Engine m_other;
    int m_asked = 0;
    bool m_willing = true;
};

/** Nothing has changed: the tip, the coins, and the blocks an observer saw. */
void CheckUntouched(Engine& engine, const std::vector<KitBlock>& own, const CoinsDump& before)
{
    CHECK(engine.chain->Tip()->hash == own.back().hash);
    CHECK(engine.witness.events.empty());
    for (const KitBlock& block : own) CHECK_FALSE(engine.Node(block.hash)->Failed());
    CHECK((engine.Dump() == before));
}

/** The ways in which undo data of a block can be missing. */
struct Loss {
    const char* name;
    void (*inflict)(Engine& engine, const HeaderNode& node);
};

void ChangeFile(Engine& engine, const std::function<void(Bytes& file)>& change)
{
    const Path path = engine.Blocks().UndoPath(0);
    Bytes file = Must(ReadWholeFile(engine.GetEnv(), path));
    change(file);
    Must(WriteFileAtomically(engine.GetEnv(), path, file));
}

constexpr Loss kLosses[] = {
    {"the index knows of none",
     [](Engine& engine, const HeaderNode& node) { ForgetUndoUpTo(engine, node.height); }},
    {"the file is gone",
     [](Engine& engine, const HeaderNode&) {
         std::filesystem::remove(engine.Blocks().UndoPath(0));
     }},
    {"the record is damaged",
     [](Engine& engine, const HeaderNode& node) {
         ChangeFile(engine, [&](Bytes& file) { file[node.undo_pos] ^= 1; });
     }},
    {"its checksum is damaged",
     [](Engine& engine, const HeaderNode& node) {
         ChangeFile(engine, [&](Bytes& file) { file[node.undo_pos + 1] ^= 1; });
     }},
    {"its frame is damaged",
     [](Engine& engine, const HeaderNode& node) {
         ChangeFile(engine, [&](Bytes& file) { file[node.undo_pos - 5] ^= 1; });
     }},
    {"the file is cut off in it",
     [](Engine& engine, const HeaderNode& node) {
         ChangeFile(engine, [&](Bytes& file) { file.resize(node.undo_pos); });
     }},
};

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

TEST_CASE("a better branch waits for undo data that is made, and is followed then")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto own = kit.MakeChain(kit.Genesis(), 4, 1);
    const auto better = kit.MakeChain(kit.Genesis(), 5, 2);
    for (const Loss& loss : kLosses) {
        CAPTURE(loss.name);
        const TempDir dir;
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Maker maker(engine, params, dir.Get() / "other");
        Feed(engine, own);
        const CoinsDump before = engine.Dump();
        loss.inflict(engine, *engine.Node(own[1].hash));
        engine.witness.events.clear();
        Feed(engine, better);
        CHECK(maker.Asked() == 1);
        CheckUntouched(engine, own, before);
        REQUIRE(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
        const std::string& text = engine.witness.warnings[NodeWarning::kMissingUndo];
        CHECK(text.find("is making the undo data") != std::string::npos);
        CHECK(text.find("restart") == std::string::npos);

        maker.Make(own);
        CHECK(engine.chain->Tip()->hash == better.back().hash);
        CHECK_FALSE(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
    }
}

TEST_CASE(
    "a reorganisation without undo data that is never made is Core's fatal error, and changes "
    "nothing")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto own = kit.MakeChain(kit.Genesis(), 4, 1);
    const auto better = kit.MakeChain(kit.Genesis(), 5, 2);
    for (const Loss& loss : kLosses) {
        CAPTURE(loss.name);
        const TempDir dir;
        {
            Engine engine(params, dir.Get() / "data");
            engine.Start();
            Feed(engine, own);
            const CoinsDump before = engine.Dump();
            loss.inflict(engine, *engine.Node(own[1].hash));
            engine.witness.events.clear();
            for (const KitBlock& block : better) Must(engine.chain->AcceptBlock(block.raw));
            const auto activated = engine.chain->ActivateBestChain();
            REQUIRE(!activated);
            CHECK(activated.Message() == "Failed to disconnect block.");
            CheckUntouched(engine, own, before);
            Must(engine.chain->Flush(FlushMode::kAlways));
        }
        {
            Engine engine(params, dir.Get() / "data");
            engine.Attach();
            CHECK_FALSE(engine.chain->ActivateBestChain());
            CHECK(engine.chain->Tip()->hash == own.back().hash);
        }
        Engine engine(params, dir.Get() / "data"); // the remedy: from the blocks
        engine.Start(true);
        CHECK(engine.chain->Tip()->hash == better.back().hash);
    }
}

namespace {

/** A node with a chain whose undo data is gone. */
struct WithoutUndo {
    WithoutUndo()
    {
        engine.Start();
        Feed(engine, own);
        std::filesystem::remove(engine.Blocks().UndoPath(0));
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    const std::vector<KitBlock> own = kit.MakeChain(kit.Genesis(), 4, 1);
    const TempDir dir;
    Engine engine{params, dir.Get() / "data"};
    Maker maker{engine, params, dir.Get() / "other"};
};

} // namespace

TEST_CASE("undo data that could not be made after all ends the wait for it")
{
    WithoutUndo setup;
    Engine& engine = setup.engine;
    Feed(engine, setup.kit.MakeChain(setup.kit.Genesis(), 5, 2));
    CHECK(engine.chain->Tip()->hash == setup.own.back().hash);
    Must(engine.chain->ActivateBestChain()); // branches set aside are not examined meanwhile
    CHECK(setup.maker.Asked() == 1);

    setup.maker.Refuse();
    engine.chain->TryLeftAside();
    const auto activated = engine.chain->ActivateBestChain();
    REQUIRE(!activated);
    CHECK(activated.Message() == "Failed to disconnect block.");
    CHECK(engine.chain->Tip()->hash == setup.own.back().hash);
}

TEST_CASE("a branch is followed whose undo data is made before the branch is set aside")
{
    WithoutUndo setup;
    Engine& engine = setup.engine;
    int asked = 0;
    engine.chain->SetUndoMaker([&] {
        if (++asked == 1) setup.maker.Write(setup.own);
        return true;
    });
    const auto better = setup.kit.MakeChain(setup.kit.Genesis(), 5, 2);
    Feed(engine, better);
    CHECK(engine.chain->Tip()->hash == better.back().hash);
    CHECK_FALSE(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
    CHECK(asked == 1);
}

TEST_CASE("undo data is not made for ever on a disk that does not keep it")
{
    WithoutUndo setup;
    Engine& engine = setup.engine;
    CHECK(Must(engine.chain->InvalidateBlock(*engine.Node(setup.own[0].hash))).kind ==
          Obstacle::Kind::kUndoIsMade);
    setup.maker.Make(setup.own);
    std::filesystem::remove(engine.Blocks().UndoPath(0));
    const auto again = Must(engine.chain->InvalidateBlock(*engine.Node(setup.own[0].hash)));
    CHECK(again.block != nullptr);
    CHECK(again.kind == Obstacle::Kind::kNoUndo);
    CHECK(setup.maker.Asked() == 1);
}

TEST_CASE("a block that cannot be taken back is not marked invalid, and is once it can")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto own = kit.MakeChain(kit.Genesis(), 4, 1);
    for (const Loss& loss : kLosses) {
        CAPTURE(loss.name);
        const TempDir dir;
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Maker maker(engine, params, dir.Get() / "other");
        Feed(engine, own);
        const CoinsDump before = engine.Dump();
        loss.inflict(engine, *engine.Node(own[1].hash));
        engine.witness.events.clear();
        const auto missing = Must(engine.chain->InvalidateBlock(*engine.Node(own[0].hash)));
        REQUIRE(missing.block != nullptr);
        CHECK(missing.block->height >= 2);
        CHECK(missing.kind == Obstacle::Kind::kUndoIsMade);
        CheckUntouched(engine, own, before);
        CHECK(maker.Asked() == 1);

        maker.Make(own);
        CHECK(Must(engine.chain->InvalidateBlock(*engine.Node(own[0].hash))).block == nullptr);
        CHECK(engine.chain->Tip()->height == 0);
    }
}

TEST_CASE(
    "branches above blocks without undo data are followed while another waits, at every start")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const auto common = kit.MakeChain(kit.Genesis(), 5);
    const auto own = kit.MakeChain(common.back(), 7, 1);
    const auto better = kit.MakeChain(common.back(), 9, 2);
    const auto near = kit.MakeChain(own[3], 4, 3); // above what has none: one more than `own`
    const TempDir dir;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        engine.chain->SetUndoMaker([] { return true; });
        Feed(engine, common);
        Feed(engine, own);
        ForgetUndoUpTo(engine, 8); // own[2]
        Feed(engine, better);
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data");
    engine.chain->SetUndoMaker([] { return true; });
    engine.Start();
    CHECK(engine.chain->Tip()->hash == own.back().hash);
    REQUIRE(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
    const std::string& text = engine.witness.warnings[NodeWarning::kMissingUndo];
    CHECK(text.find(own[2].hash.ToHex()) != std::string::npos);
    // The warning stays while the other has more work.
    Feed(engine, near);
    CHECK(engine.chain->Tip()->hash == near.back().hash);
    CHECK(engine.witness.warnings.contains(NodeWarning::kMissingUndo));
    Feed(engine, kit.MakeChain(near.back(), 2, 4));
    CHECK(engine.chain->Tip()->height == 15);
    CHECK(!engine.witness.warnings.contains(NodeWarning::kMissingUndo));
}

TEST_CASE("the warning of a chain that cannot be followed names the present obstacle")
{
    const HeaderNode target, next, stuck;
    ChainWarnings warnings;
    warnings.NoteOutOfReach(target, stuck, /*damaged=*/false);
    REQUIRE(warnings.TakeNews().size() == 1);
    warnings.NoteOutOfReach(next, stuck, /*damaged=*/false); // another target: no new warning
    CHECK(warnings.TakeNews().empty());
    warnings.NoteOutOfReach(next, stuck, /*damaged=*/true);
    const auto news = warnings.TakeNews();
    REQUIRE(news.size() == 2);
    CHECK(news[0].text.empty());
    CHECK(news[1].text.find("Peers are asked for it") != std::string::npos);
}

} // namespace ibd::test
