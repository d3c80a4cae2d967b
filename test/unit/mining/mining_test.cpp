// Templates of the next block, on a real chain of regtest.
#include "consensus/block_check.h"
#include "consensus/merkle.h"
#include "consensus/subsidy.h"
#include "mempool/upkeep.h"
#include "mining/block_assembler.h"
#include "util/endian.h"
#include "util/hex.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

namespace ibd::test {

namespace {

const ChainParams& Regtest()
{
    static const ChainParams params = MakeChainParams(Network::kRegtest);
    return params;
}

/** A chain of its own and an assembler whose clock stands still. */
class Miner {
public:
    explicit Miner(const ChainParams& params = Regtest(), AssemblerOptions options = {})
        : engine(params, dir.Get()), assembler(*m_env, engine.GetLog(), pool, options)
    {
        engine.Start();
    }

    BlockTemplate Assemble() { return Must(assembler.Assemble(*engine.chain, kAnyone)); }
    /** The next block, with its proof, as the tip. */
    BlockTemplate Mine()
    {
        BlockTemplate block = Assemble();
        REQUIRE_FALSE(block.violation);
        uint64_t tries = 1000;
        REQUIRE(FindProof(block.header, tries, Params(), engine.interrupt) == ProofSearch::kFound);
        REQUIRE_FALSE(engine.Process(block.Serialize()).violation);
        REQUIRE(engine.chain->Tip()->hash == block.header.Hash());
        return block;
    }
    RuleResult Test(const BlockTemplate& block)
    {
        const Bytes raw = block.Serialize();
        BlockView view;
        Must(view.Parse(raw));
        return Must(engine.chain->TestBlock(view, true));
    }
    const ConsensusParams& Params() const { return engine.chain->Params().consensus; }

    std::atomic<int64_t> now{1'300'000'000};
    TempDir dir;
    Engine engine;
    TxPool pool{PoolLimits()};

private:
    std::unique_ptr<Env> m_env = MakePosixEnv(&now);

public:
    BlockAssembler assembler;
};

TransactionRef Spend(const BlockTemplate& from, Amount value)
{
    return SpendTx({{from.coinbase.Id(), 0}}, {value}).Freeze();
}

} // namespace

TEST_CASE("a chain grows by assembled blocks", "[mining]")
{
    Miner miner;
    CHECK_FALSE(miner.assembler.LastMade());
    for (int height = 1; height <= 20; ++height) {
        const BlockTemplate block = miner.Mine();
        CHECK(block.height == height);
        const MutableTransaction& coinbase = block.coinbase;
        CHECK(coinbase.lock_time == static_cast<uint32_t>(height - 1));
        CHECK(coinbase.inputs[0].sequence == 0xfffffffe);
        Bytes script = Bip34Prefix(height);
        if (height <= 16) script.push_back(OP_0);
        CHECK(coinbase.inputs[0].script_sig == script);
        CHECK(coinbase.inputs[0].witness == std::vector<Bytes>{Bytes(32, 0)});
        REQUIRE(coinbase.outputs.size() == 2);
        CHECK(coinbase.outputs[0].value == BlockSubsidy(height, miner.Params()));
        CHECK(coinbase.outputs[0].script_pubkey == kAnyone);
        CHECK(coinbase.outputs[1].script_pubkey == block.CommitmentScript());
    }
    REQUIRE(miner.assembler.LastMade());
    CHECK(miner.assembler.LastMade()->weight == 8000);
    CHECK(miner.assembler.LastMade()->txs == 0);
}

TEST_CASE("without segwit the block still commits, and its coinbase has no witness", "[mining]")
{
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kSegwit] = 3;
    const ChainParams params = MakeChainParams(Network::kRegtest, options);
    Miner miner(params);
    for (int height = 1; height <= 4; ++height) {
        const BlockTemplate block = miner.Mine();
        CHECK(block.CommitmentScript().size() == 38);
        CHECK(block.coinbase.HasWitness() == (height >= 3));
    }
}

TEST_CASE("the time is the clock's, and above the median", "[mining]")
{
    Miner miner;
    const int64_t genesis = miner.engine.chain->Tip()->time;
    miner.now = genesis + 5000;
    CHECK(miner.Mine().header.time == genesis + 5000);
    miner.now = genesis - 5000;
    const HeaderNode* tip = miner.engine.chain->Tip();
    CHECK(miner.Assemble().header.time == tip->MedianTimePast() + 1);
    CHECK(MinimumBlockTime(*tip, miner.Params()) == tip->MedianTimePast() + 1);
    // The time of a template advances while a miner works on it, and never goes back.
    BlockHeader header = miner.Assemble().header;
    UpdateTime(header, *tip, miner.Params(), genesis + 9000);
    CHECK(header.time == genesis + 9000);
    UpdateTime(header, *tip, miner.Params(), genesis + 8000);
    CHECK(header.time == genesis + 9000);
}

TEST_CASE("at a retarget the time is not far below the last block's", "[mining]")
{
    const ChainParams main = MakeChainParams(Network::kMain);
    HeaderNode prev;
    prev.height = 2014;
    prev.time = 1'400'000'000;
    CHECK(MinimumBlockTime(prev, main.consensus) == 1'400'000'001); // alone it is the median
    HeaderNode late = prev;
    late.height = 2015;
    HeaderNode below[10];
    HeaderNode* node = &late;
    for (HeaderNode& one : below) {
        one.time = 1'300'000'000;
        node->prev = &one;
        node = &one;
    }
    CHECK(MinimumBlockTime(late, main.consensus) == 1'400'000'000 - 600);
    late.height = 2016;
    CHECK(MinimumBlockTime(late, main.consensus) == 1'300'000'001);
}

TEST_CASE("-blockversion counts where blocks are made on demand", "[mining]")
{
    AssemblerOptions options;
    options.version = 0x12345678;
    Miner miner(Regtest(), options);
    CHECK(miner.Assemble().header.version == 0x12345678);
    Miner plain;
    CHECK(plain.Assemble().header.version == 0x20000000);
}

TEST_CASE("transactions are committed to and tested with the block", "[mining]")
{
    Miner miner;
    const BlockTemplate first = miner.Mine();
    for (int i = 0; i < 99; ++i) miner.Mine();
    BlockTemplate block = miner.Assemble();
    const auto set = [&](std::vector<TransactionRef> txs) {
        block.txs = std::move(txs);
        block.Commit();
        block.Seal();
        return miner.Test(block);
    };
    const Amount value = first.coinbase.outputs[0].value;
    CHECK_FALSE(set({Spend(first, value)}));
    CHECK(block.coinbase.outputs.size() == 2);
    CHECK(set({Spend(first, value + 1)})->reason == "bad-txns-in-belowout");
    CHECK(set({Spend(first, value), Spend(first, value - 1)})->reason ==
          "bad-txns-inputs-missingorspent");
    // Nothing of that stays: neither a coin, nor a block or header.
    CHECK_FALSE(set({Spend(first, value)}));
    CHECK(miner.engine.chain->Tip()->height == 100);
    CHECK(miner.engine.chain->Read().Tree().Size() == 101);
    block.header.merkle_root = {};
    CHECK(miner.Test(block)->reason == "bad-txnmrklroot");
    block.header.prev_hash = Regtest().consensus.genesis_hash;
    CHECK(miner.Test(block)->reason == "inconclusive-not-best-prevblk");
}

TEST_CASE("the search for a nonce ends", "[mining]")
{
    const std::atomic<bool> running{false}, stopped{true};
    ConsensusParams params = MakeChainParams(Network::kMain).consensus;
    BlockHeader header; // at this target a few nonces find nothing
    header.bits = 0x1d00ffff;
    uint64_t tries = 10;
    CHECK(FindProof(header, tries, params, running) == ProofSearch::kGaveUp);
    CHECK(header.nonce == 10);
    CHECK(tries == 0);
    tries = 10;
    CHECK(FindProof(header, tries, params, stopped) == ProofSearch::kGaveUp);
    header.nonce = 0xfffffffd;
    CHECK(FindProof(header, tries, params, running) == ProofSearch::kNoneLeft);
    CHECK(tries == 8);
}

TEST_CASE("transactions go in by fee rate, whole chunks, as far as there is room", "[mining]")
{
    AssemblerOptions options;
    options.min_fee_rate = 1'000;
    Miner roomy(Regtest(), options);
    std::vector<BlockTemplate> blocks;
    for (int i = 0; i < 103; ++i) blocks.push_back(roomy.Mine());
    const TransactionRef low = Spend(blocks[0], 1000);
    const TransactionRef child = SpendTx({{low->Id(), 0}}, {900}).Freeze();
    const TransactionRef high = Spend(blocks[1], 1000);
    const TransactionRef poor = Spend(blocks[2], 1000);
    const auto fill = [&](TxPool& pool) {
        const Lock lock(pool.mutex);
        AddTx(pool, {.tx = low, .fee = 100, .vsize = 100, .weight = 400});
        AddTx(pool, {.tx = child, .fee = 1000, .vsize = 100, .weight = 400, .sigop_cost = 4});
        AddTx(pool, {.tx = high, .fee = 5000, .vsize = 100, .weight = 400});
        AddTx(pool, {.tx = poor, .fee = 99, .vsize = 100, .weight = 400});
    };
    fill(roomy.pool);
    // These fees are not what the transactions pay: the chain's verdict is no matter here.
    const BlockTemplate all = roomy.Assemble();
    CHECK(all.txs == std::vector<TransactionRef>{high, low, child});
    CHECK(all.fees == 6100);
    REQUIRE(all.costs.size() == 3);
    CHECK(all.costs[2].fee == 1000);
    CHECK(all.costs[2].sigops == 4);
    CHECK(roomy.assembler.LastMade()->txs == 3);
    const uint64_t weight = static_cast<uint64_t>(high->View().Weight());
    CHECK(roomy.assembler.LastMade()->weight == 8000 + 3 * weight);
    CHECK(Must(roomy.assembler.Assemble(*roomy.engine.chain, kAnyone, BlockAssembler::Fill::kNot))
              .txs.empty());

    // Room for one and a bit: the pair is omitted as a whole, and later transactions still fit.
    options.max_weight = 8000 + weight + 400 + 1;
    options.min_fee_rate = 0;
    BlockAssembler narrow(roomy.engine.GetEnv(), roomy.engine.GetLog(), roomy.pool, options);
    CHECK(Must(narrow.Assemble(*roomy.engine.chain, kAnyone)).txs ==
          std::vector<TransactionRef>{high, poor});
}

namespace {

/** A coin that no chain has: only the template's content matters here. */
OutPoint Coin(uint32_t number)
{
    Hash32 id{};
    WriteLE32(id.data(), number + 1);
    return {Txid(id), 0};
}

/** A transaction of `outputs` outputs with this rate, in satoshi for 1,000 virtual bytes. */
TransactionRef AddSpend(TxPool& pool, const OutPoint& coin, size_t outputs, Amount rate)
{
    const Lock lock(pool.mutex);
    const TransactionRef tx = SpendTx({coin}, std::vector<Amount>(outputs, 1000)).Freeze();
    const int64_t vsize = tx->View().Weight() / 4;
    AddTx(pool, {.tx = tx, .fee = rate * vsize / 1000, .vsize = vsize, .weight = 4 * vsize});
    return tx;
}

} // namespace

TEST_CASE("the rest of a cluster is skipped with a chunk that does not fit", "[mining]")
{
    Miner miner;
    const TransactionRef parent = AddSpend(miner.pool, Coin(0), 3, 50'000);
    AddSpend(miner.pool, {parent->Id(), 0}, 200, 40'000); // too large
    AddSpend(miner.pool, {parent->Id(), 1}, 1, 30'000);
    const TransactionRef other = AddSpend(miner.pool, Coin(1), 1, 20'000);
    AssemblerOptions options;
    options.max_weight = 8000 + 3000;
    BlockAssembler narrow(miner.engine.GetEnv(), miner.engine.GetLog(), miner.pool, options);
    CHECK(Must(narrow.Assemble(*miner.engine.chain, kAnyone)).txs ==
          std::vector<TransactionRef>{parent, other});
}

TEST_CASE("until a chunk is included, its signature operations count as weight", "[mining]")
{
    Miner miner;
    const TransactionRef tx = SpendTx({Coin(0)}, {1000}).Freeze();
    const auto real = static_cast<uint64_t>(tx->View().Weight());
    constexpr uint64_t kAdjusted = 6'000;
    {
        const Lock lock(miner.pool.mutex);
        AddTx(miner.pool, {.tx = tx, .fee = 9'000, .vsize = kAdjusted / 4, .weight = kAdjusted});
    }
    const TransactionRef next = AddSpend(miner.pool, Coin(1), 1, 5'000);
    AssemblerOptions options;
    options.max_weight = 8'000 + kAdjusted;
    BlockAssembler narrow(miner.engine.GetEnv(), miner.engine.GetLog(), miner.pool, options);
    CHECK(Must(narrow.Assemble(*miner.engine.chain, kAnyone)).txs == std::vector{next});
    ++options.max_weight;
    BlockAssembler enough(miner.engine.GetEnv(), miner.engine.GetLog(), miner.pool, options);
    CHECK(Must(enough.Assemble(*miner.engine.chain, kAnyone)).txs == std::vector{tx, next});
    REQUIRE(enough.LastMade());
    CHECK(enough.LastMade()->weight == 8'000 + 2 * real);
}

TEST_CASE("-blockmintxfee is compared by virtual bytes, rounded up", "[mining]")
{
    AssemblerOptions options;
    options.min_fee_rate = 3'000;
    for (const auto& [fee, is_taken] :
         {std::pair(364, false), std::pair(365, false), std::pair(366, true)}) {
        Miner miner(Regtest(), options);
        const TransactionRef tx = SpendTx({Coin(0)}, {1000}).Freeze();
        {
            const Lock lock(miner.pool.mutex);
            AddTx(miner.pool, {.tx = tx, .fee = fee, .vsize = 122, .weight = 485});
        }
        CHECK(miner.Assemble().txs.size() == (is_taken ? 1 : 0));
    }
}

TEST_CASE("a template that is nearly full gives up after a thousand misfits", "[mining]")
{
    for (const auto& [misfits, most_weight, is_taken] :
         {std::tuple(1'000U, 8'000U + 4'000U - 1, true),
          std::tuple(1'001U, 8'000U + 4'000U - 1, false),
          std::tuple(1'001U, 8'000U + 4'000U, true)}) {
        Miner miner;
        for (uint32_t i = 0; i < misfits; ++i) AddSpend(miner.pool, Coin(i), 200, 50'000);
        const TransactionRef small = AddSpend(miner.pool, Coin(misfits), 1, 1'000);
        AssemblerOptions options;
        options.max_weight = most_weight;
        BlockAssembler narrow(miner.engine.GetEnv(), miner.engine.GetLog(), miner.pool, options);
        CHECK(Must(narrow.Assemble(*miner.engine.chain, kAnyone)).txs ==
              (is_taken ? std::vector{small} : std::vector<TransactionRef>{}));
    }
}

} // namespace ibd::test
