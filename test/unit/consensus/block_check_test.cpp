// Each rule of blocks at its edge, on a made-up regtest block.
#include "block_fixture.h"

using namespace ibd;
using namespace ibd::test;

namespace {

const ConsensusParams& Regtest()
{
    static const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    return params;
}

/** Height 7: a coinbase and `extra` small transactions. */
MutableBlock SmallBlock(uint8_t extra = 1)
{
    BlockView genesis;
    const ChainParams params = MakeChainParams(Network::kRegtest);
    REQUIRE(genesis.Parse(params.genesis.raw));
    MutableBlock block(genesis);
    block.header.time += 600;
    block.txs[0].inputs[0].script_sig = Bip34Prefix(7);
    block.txs[0].inputs[0].script_sig.push_back(OP_0);
    for (uint8_t i = 1; i <= extra; ++i) {
        auto tx = SimpleTx();
        tx.inputs[0].prevout = OutPointOf(i, 0);
        block.txs.push_back(tx);
    }
    return block;
}

std::string Reason(MutableBlock block) { return CheckReason(block.Serialize(), Regtest()); }

std::string InPlace(MutableBlock block, int height = 7, uint32_t median_time = 1'400'000'000)
{
    return ContextReason(block.Serialize(), Regtest(), height, median_time);
}

} // namespace

TEST_CASE("a small block passes, and each broken rule has its reason")
{
    CHECK(Reason(SmallBlock()) == "");
    auto block = SmallBlock();
    CHECK(CheckReason(block.Serialize(), Regtest(), true) == "high-hash");

    block = SmallBlock();
    block.txs.clear();
    CHECK(Reason(block) == "bad-blk-length");
    block = SmallBlock();
    block.txs.erase(block.txs.begin());
    CHECK(Reason(block) == "bad-cb-missing");
    block = SmallBlock();
    block.txs.push_back(block.txs[0]);
    CHECK(Reason(block) == "bad-cb-multiple");
    block = SmallBlock();
    block.txs[1].inputs.push_back(block.txs[1].inputs[0]);
    CHECK(Reason(block) == "bad-txns-inputs-duplicate");
    BlockView view;
    const Bytes raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    BlockCheckOptions options;
    options.check_pow = false;
    const auto bad = CheckBlock(view, Regtest(), options);
    CHECK(bad->detail == "Transaction check failed (tx hash " + block.txs[1].Id().ToHex() + ") ");
    CHECK(bad->kind == RuleViolation::Kind::kConsensus);

    block = SmallBlock();
    const Bytes wrong = [&] {
        block.Serialize();
        block.header.merkle_root = Uint256{};
        return block.Serialize(false);
    }();
    CHECK(CheckReason(wrong, Regtest()) == "bad-txnmrklroot");
    REQUIRE(view.Parse(wrong));
    options.check_merkle_root = false;
    CHECK(!CheckBlock(view, Regtest(), options));
}

TEST_CASE("20,000 legacy signature operations are the most")
{
    auto block = SmallBlock();
    const auto with = [&](size_t n) {
        block.txs[1].outputs[0].script_pubkey.assign(n, OP_CHECKSIG);
        return Reason(block);
    };
    // The genesis output that the coinbase keeps has one.
    CHECK(with(19'999) == "");
    CHECK(with(20'000) == "bad-blk-sigops");
}

TEST_CASE("a million bytes without witness are the most")
{
    auto block = SmallBlock(2);
    const size_t rest = block.Serialize().size();
    block.txs[1].outputs[0].script_pubkey.assign(500'000, OP_NOP);
    block.txs[2].outputs[0].script_pubkey.assign(500'000 - rest + 2 - 8, OP_NOP);
    const size_t size = block.Serialize().size();
    REQUIRE(size <= 1'000'000);
    block.txs[2].outputs[0].script_pubkey.insert(block.txs[2].outputs[0].script_pubkey.end(),
                                                 1'000'000 - size, OP_NOP);
    REQUIRE(block.Serialize().size() == 1'000'000);
    CHECK(Reason(block) == "");
    block.txs[2].outputs[0].script_pubkey.push_back(OP_NOP);
    CHECK(Reason(block) == "bad-blk-length");
}

TEST_CASE("a weight of four million is the most")
{
    auto block = SmallBlock(2);
    block.Commit();
    CHECK(InPlace(block) == "");
    const auto weigh = [&](size_t bytes) {
        block.txs[1].inputs[0].witness = {Bytes(bytes, 1)};
        block.Commit();
        const Bytes raw = block.Serialize();
        BlockView view;
        REQUIRE(view.Parse(raw));
        return view.Weight();
    };
    const int64_t first = weigh(3'900'000);
    REQUIRE(weigh(3'900'000 + size_t(4'000'000 - first)) == 4'000'000);
    CHECK(InPlace(block) == "");
    REQUIRE(weigh(3'900'000 + size_t(4'000'001 - first)) == 4'000'001);
    CHECK(InPlace(block) == "bad-blk-weight");
}

TEST_CASE("a block in its place")
{
    CHECK(InPlace(SmallBlock()) == "");
    CHECK(InPlace(SmallBlock(), 8) == "bad-cb-height");
    auto block = SmallBlock();
    block.txs[0].inputs[0].script_sig = {OP_NOP, OP_7};
    CHECK(InPlace(block) == "bad-cb-height");
    block.txs[0].inputs[0].script_sig.clear();
    CHECK(InPlace(block) == "bad-cb-height");

    block = SmallBlock();
    block.txs[1].inputs[0].sequence = 0;
    block.txs[1].lock_time = 7;
    CHECK(InPlace(block) == "bad-txns-nonfinal");
    block.txs[1].lock_time = 6;
    CHECK(InPlace(block) == "");
    block.txs[1].lock_time = 1'400'000'000;
    CHECK(InPlace(block) == "bad-txns-nonfinal");
    CHECK(InPlace(block, 7, 1'400'000'001) == "");
    // Before CSV the block's own time counts.
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kCsv] = 8;
    const ConsensusParams before = MakeChainParams(Network::kRegtest, options).consensus;
    block.txs[1].lock_time = block.header.time;
    CHECK(ContextReason(block.Serialize(), before, 7, 2'000'000'000) == "bad-txns-nonfinal");
    block.txs[1].lock_time = block.header.time - 1;
    CHECK(ContextReason(block.Serialize(), before, 7, 0) == "");
}

TEST_CASE("witness without commitment, before and after segwit")
{
    auto block = SmallBlock();
    block.txs[1].inputs[0].witness = {{1, 2, 3}};
    CHECK(InPlace(block) == "unexpected-witness");
    block.Commit();
    CHECK(InPlace(block) == "");
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kSegwit] = 8;
    const ConsensusParams before = MakeChainParams(Network::kRegtest, options).consensus;
    CHECK(ContextReason(block.Serialize(), before, 7, 0) == "unexpected-witness");
    // The last matching output counts.
    Bytes other = block.txs[0].outputs[size_t(block.Find())].script_pubkey;
    other[10] ^= 1;
    block.txs[0].outputs.push_back({0, other});
    CHECK(InPlace(block) == "bad-witness-merkle-match");
    block.txs[0].outputs.back().script_pubkey.pop_back(); // too short to be one
    block.Commit();
    CHECK(InPlace(block) == "");
}

TEST_CASE("a 64-byte transaction makes a block without coinbase suspicious")
{
    auto block = SmallBlock();
    block.txs[1].outputs[0].script_pubkey.assign(4, OP_NOP);
    REQUIRE(block.txs[1].Serialize().size() == 64);
    BlockView view;
    Bytes raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    CHECK(!IsBlockMutated(view, true));
    block.txs.erase(block.txs.begin());
    raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    CHECK(IsBlockMutated(view, true));
    block.txs[0].outputs[0].script_pubkey.push_back(OP_NOP);
    raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    CHECK(!IsBlockMutated(view, true));
}
