// Whole real chains, block by block: all rules of headers, blocks and positions pass, without
// coins.
#include "chain_data.h"
#include "consensus/block_check.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** Connects each block to the tree by every rule that needs no coins. */
class RuleChain {
public:
    explicit RuleChain(Network network) : m_tree(ParamsOf(network)) {}

    HeaderNode* Add(ByteSpan raw)
    {
        const ConsensusParams& consensus = m_tree.Params().consensus;
        const Result<> parsed = m_view.Parse(raw);
        INFO((parsed ? "" : parsed.Message()));
        REQUIRE(parsed);
        HeaderNode* node = MustAccept(m_tree, m_view.Header());
        const NodeAncestry prev(node->prev);
        RuleResult bad = CheckBlock(m_view, consensus);
        if (!bad && node->height > 0) bad = ContextualCheckBlock(m_view, prev, consensus);
        CAPTURE(node->height);
        INFO((bad ? bad->ToString() : ""));
        REQUIRE(!bad);
        node->tx_count = static_cast<uint32_t>(m_view.Txs().size());
        node->RaiseValidity(kValidTransactions);
        return node;
    }
    HeaderTree& Tree() { return m_tree; }

private:
    HeaderTree m_tree;
    BlockView m_view;
};

std::vector<Bytes> HexBlocks(const UniValue& list)
{
    std::vector<Bytes> blocks;
    for (const UniValue& hex : list.getValues()) blocks.push_back(*FromHex(hex.get_str()));
    return blocks;
}

std::vector<Bytes> HexLines(const std::string& path)
{
    std::vector<Bytes> blocks;
    for (const std::string& line : LinesOf(ReadTestFile(path))) blocks.push_back(*FromHex(line));
    return blocks;
}

} // namespace

TEST_CASE("the first 14,132 blocks of mainnet")
{
    const auto path = TestData("chains/mainnet_0_14131.blk.xz");
    if (!path) return;
    RuleChain chain(Network::kMain);
    uint64_t txs = 0;
    HeaderNode* tip = nullptr;
    for (const Bytes& raw : BlocksFrom(ReadTestFile(*path))) {
        tip = chain.Add(raw);
        txs += tip->tx_count;
    }
    REQUIRE(tip);
    CHECK(tip->height == 14131);
    CHECK(tip->hash.ToHex() == "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c");
    CHECK(txs == 14247);
}

TEST_CASE("the first blocks of testnet3")
{
    const auto path = TestData("chains/testnet3_first402_truncated.blk");
    if (!path) return;
    RuleChain chain(Network::kTestnet3);
    HeaderNode* tip = nullptr;
    for (const Bytes& raw : BlocksFrom(ReadTestFile(*path))) tip = chain.Add(raw);
    REQUIRE(tip);
    CHECK(tip->height == 400);
}

TEST_CASE("regtest chains of other projects")
{
    const auto kernel = TestData("chains/kernel_regtest_206.txt");
    const auto floresta = TestData("floresta/regtest_blocks.txt");
    const auto stats = TestData("core/rpc_getblockstats.json");
    if (!kernel || !floresta || !stats) return;
    for (const auto& blocks :
         {HexLines(*kernel), HexLines(*floresta), HexBlocks(ReadTestJson(*stats)["blocks"])}) {
        RuleChain chain(Network::kRegtest);
        for (const Bytes& raw : blocks) chain.Add(raw);
        const size_t genesis = blocks.front() == ParamsOf(Network::kRegtest).genesis.raw ? 1 : 0;
        CHECK(chain.Tree().Size() == blocks.size() + 1 - genesis);
        CHECK(chain.Tree().Tips().size() == 1);
    }
}

TEST_CASE("two regtest branches: the longer one wins")
{
    const auto path = TestData("floresta/test_reorg.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    RuleChain chain(Network::kRegtest);
    std::vector<HeaderNode*> tips;
    for (const UniValue& branch : json.getValues()) {
        HeaderNode* tip = nullptr;
        for (const Bytes& raw : HexBlocks(branch)) tip = chain.Add(raw);
        tips.push_back(tip);
        CHECK(chain.Tree().BestHeader() == tip);
    }
    REQUIRE(tips.size() == 2);
    CHECK(tips[0]->height == 10);
    CHECK(tips[1]->height == 16);
    CHECK(LastCommonAncestor(tips[0], tips[1])->height == 5);
}
