// btcd's made-up chain on mainnet's genesis block, with a longer branch from its second block. It
// spends coinbase outputs at once, which no network allows. The chain is refused only for that: if
// coinbase outputs are treated as ordinary coins, it is valid with all its scripts, connected and
// disconnected.
#include "fixture.h"
#include "util/endian.h"
#include "validation/script_threads.h"

#include <iostream>

namespace ibd::test {

namespace {

/** Blocks 0 to 4, then 3A, 4A, 5A; empty where there is no test data. */
std::vector<Bytes> BtcdBlocks()
{
    std::vector<Bytes> blocks;
    for (const char* name : {"blk_0_to_4", "blk_3A", "blk_4A", "blk_5A"}) {
        const auto path = TestData(fmt::format("btcd/{}.dat.bz2", name));
        if (!path) return {};
        const Bytes file = ReadTestFile(*path);
        for (size_t at = 0; at < file.size();) { // magic, length, block
            const size_t length = ReadLE32(file.data() + at + 4);
            const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at + 8);
            blocks.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
            at += 8 + length;
        }
    }
    REQUIRE(blocks.size() == 8);
    return blocks;
}

/** Coins that the blocks are connected to and taken from, with scripts, one after the other. */
class Ledger {
public:
    Ledger(const ChainParams& params, HeaderTree& tree) : m_params(params), m_tree(tree)
    {
        CoinsDbOptions options;
        options.directory = m_dir.Get();
        m_db = Must(CoinsDb::Open(*m_env, *m_log, options));
        m_base = std::make_unique<CoinsDbReader>(*m_db);
        m_coins = std::make_unique<CoinsCache>(*m_base, OutPointHasher({1, 2}));
    }

    void Connect(const Bytes& raw)
    {
        BlockView view;
        Must(view.Parse(raw));
        BlockUndo undo;
        const RuleResult violation = Must(ConnectBlock(view, *m_tree.Find(view.Hash()), m_params,
                                                       *m_coins, &m_scripts, undo, &m_stats));
        INFO((violation ? violation->ToString() : ""));
        REQUIRE(!violation);
        m_undos.push_back(undo);
        inputs += m_stats.inputs;
        MarkReward(view, false);
    }

    void Disconnect(const Bytes& raw)
    {
        BlockView view;
        Must(view.Parse(raw));
        MarkReward(view, true);
        REQUIRE(Must(DisconnectBlock(view, *m_tree.Find(view.Hash()), m_params, m_undos.back(),
                                     *m_coins)) == DisconnectVerdict::kClean);
        m_undos.pop_back();
    }

    std::map<OutPoint, Bytes> Dump() const
    {
        std::map<OutPoint, Bytes> dump;
        m_coins->ForEachChange([&](const OutPoint& outpoint, const Coin* coin) {
            if (coin) AppendCoin(dump[outpoint], *coin);
        });
        return dump;
    }

    size_t inputs = 0;

private:
    void MarkReward(const BlockView& view, bool coinbase)
    {
        Coin coin;
        const OutPoint outpoint{view.Txs()[0].txid, 0};
        REQUIRE(Must(m_coins->Spend(outpoint, &coin)));
        coin.coinbase = coinbase;
        m_coins->Add(outpoint, coin, true);
    }

    const ChainParams& m_params;
    HeaderTree& m_tree;
    const TempDir m_dir;
    const std::unique_ptr<Env> m_env = MakePosixEnv();
    const std::unique_ptr<Logger> m_log = MakeNullLogger();
    std::unique_ptr<CoinsDb> m_db;
    std::unique_ptr<CoinsDbReader> m_base;
    std::unique_ptr<CoinsCache> m_coins;
    ScriptThreads m_scripts{0};
    std::vector<BlockUndo> m_undos;
    ConnectStats m_stats;
};

} // namespace

TEST_CASE("btcd's chain is refused for its young rewards, and nothing else of it is")
{
    const std::vector<Bytes> blocks = BtcdBlocks();
    if (blocks.empty()) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    std::vector<const HeaderNode*> nodes;
    for (const Bytes& raw : blocks) {
        const BlockOutcome outcome = Must(engine.chain->AcceptBlock(raw));
        REQUIRE(!outcome.violation);
        nodes.push_back(outcome.node);
        const bool branch_is_behind = nodes.size() == 6 || nodes.size() == 7;
        CHECK(engine.chain->Read().Tree().BestHeader() ==
              (branch_is_behind ? nodes[4] : nodes.back()));
    }
    Must(engine.chain->ActivateBestChain());
    CHECK(engine.chain->Tip() == nodes[1]);
    CHECK(engine.witness.verdicts[nodes[2]->hash]->reason ==
          "bad-txns-premature-spend-of-coinbase");
    for (size_t i = 0; i < nodes.size(); ++i) CHECK(nodes[i]->Failed() == (i >= 2));
    CHECK(engine.chain->Read().Tree().BestHeader() == nodes[1]);
}

TEST_CASE("btcd's chain connects with its scripts, and its branches are left and taken")
{
    const std::vector<Bytes> blocks = BtcdBlocks();
    if (blocks.empty()) return;
    const ChainParams params = MakeChainParams(Network::kMain);
    HeaderTree tree(params);
    for (const Bytes& raw : blocks) {
        REQUIRE(!tree.Accept(BlockHeader::FromBytes(raw.data()), 1'700'000'000));
    }
    Ledger ledger(params, tree), other(params, tree);
    for (size_t i = 1; i <= 4; ++i) ledger.Connect(blocks[i]);
    const auto end = ledger.Dump();
    ledger.Disconnect(blocks[4]);
    ledger.Disconnect(blocks[3]);
    for (size_t i = 1; i <= 2; ++i) other.Connect(blocks[i]);
    CHECK((ledger.Dump() == other.Dump()));
    for (size_t i = 5; i <= 7; ++i) {
        ledger.Connect(blocks[i]);
        other.Connect(blocks[i]);
    }
    CHECK((ledger.Dump() == other.Dump()));
    CHECK((ledger.Dump() != end));
    for (size_t i = 7; i >= 5; --i) ledger.Disconnect(blocks[i]);
    for (size_t i = 3; i <= 4; ++i) ledger.Connect(blocks[i]);
    CHECK((ledger.Dump() == end));
    CHECK(!end.empty());
    std::cerr << "btcd's chain: " << blocks.size() << " blocks, " << ledger.inputs
              << " inputs connected\n";
    CHECK(ledger.inputs == 10);
}

} // namespace ibd::test
