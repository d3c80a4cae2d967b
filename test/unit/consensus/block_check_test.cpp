// Each rule of blocks at its limit, on a generated regtest block.
#include "block_fixture.h"
#include "consensus/tx_check.h"

#include <algorithm>

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

namespace {

/** The slow reference of TransactionsAreSound. */
bool EachIsSound(const BlockView& block)
{
    const auto txs = block.Txs();
    if (txs.empty()) return false;
    for (size_t i = 0; i < txs.size(); ++i) {
        if (txs[i].IsCoinbase() != (i == 0) || CheckTransaction(txs[i])) return false;
    }
    return true;
}

/** Cases in which the fast check may refuse a sound block; for sound blocks only. */
bool NeedsEachLook(const MutableBlock& block)
{
    int64_t sum = 0;
    bool special = false;
    std::vector<OutPoint> spent;
    for (const MutableTransaction& tx : block.txs) {
        for (const MutableOutput& out : tx.outputs) sum += out.value;
        for (const MutableInput& in : tx.inputs) {
            special |= in.prevout.vout == OutPoint::kNullIndex && &in != &block.txs[0].inputs[0];
            special |= std::find(spent.begin(), spent.end(), in.prevout) != spent.end();
            spent.push_back(in.prevout);
        }
    }
    return special || sum > kMaxMoney;
}

/** Changes one field, mostly to a value at the edge of a rule. */
void Disturb(MutableBlock& block)
{
    auto& rng = TestRng();
    auto& tx = block.txs[rng() % block.txs.size()];
    const auto any_input = [&]() -> MutableInput& {
        auto& from = block.txs[rng() % block.txs.size()].inputs;
        return from.empty() ? tx.inputs.emplace_back() : from[rng() % from.size()];
    };
    const Amount values[] = {-1, 0, kMaxMoney, kMaxMoney + 1, kMaxMoney / 2, INT64_MAX, INT64_MIN};
    switch (rng() % 10) {
    case 0: tx.outputs.push_back({values[rng() % std::size(values)], {}}); break;
    case 1: tx.inputs.push_back(MutableInput(any_input())); break;
    case 2: any_input().prevout.vout = OutPoint::kNullIndex; break;
    case 3: any_input().prevout = OutPoint{}; break;
    case 4: tx.inputs.clear(); break;
    case 5: tx.outputs.clear(); break;
    case 6: any_input().script_sig.assign(std::array{1, 2, 100, 101}[rng() % 4], OP_NOP); break;
    case 7: any_input().prevout.vout ^= 1; break;
    case 8: block.txs.push_back(block.txs[rng() % block.txs.size()]); break;
    default: std::swap(tx, block.txs[0]); break;
    }
}

} // namespace

TEST_CASE("the quick look at all transactions agrees with a look at each")
{
    int sound = 0, unsound = 0, undecided = 0;
    for (int i = 0; i < 20'000; ++i) {
        MutableBlock block = SmallBlock(1 + TestRng()() % 5);
        for (auto n = TestRng()() % 4; n > 0; --n) Disturb(block);
        BlockView view;
        const Bytes raw = block.Serialize();
        if (!view.Parse(raw)) continue; // without inputs or outputs it may be none
        const bool each = EachIsSound(view);
        const bool quick = TransactionsAreSound(view);
        if (quick) REQUIRE(each);
        if (each && !NeedsEachLook(block)) REQUIRE(quick);
        ++(quick ? sound : each ? undecided : unsound);
    }
    CHECK(sound > 1000);
    CHECK(unsound > 1000);
    CHECK(undecided > 100);
}

TEST_CASE("ids made to collide only send a block the slow way")
{
    auto block = SmallBlock();
    for (uint8_t i = 0; i < 200; ++i) { // equal in all bits that choose a place in the filter
        OutPoint out = OutPointOf(7, 0);
        out.txid.data()[6] = i;
        block.txs[1].inputs.push_back({out, {}, 0, {}});
    }
    const Bytes raw = block.Serialize();
    BlockView view;
    REQUIRE(view.Parse(raw));
    CHECK(!TransactionsAreSound(view));
    CHECK(EachIsSound(view));
    CHECK(Reason(block) == "");
    block.txs[1].inputs.push_back(block.txs[1].inputs[100]);
    CHECK(Reason(block) == "bad-txns-inputs-duplicate");

    auto two = SmallBlock();
    two.txs[1].inputs.push_back(two.txs[1].inputs[0]);
    two.txs[1].inputs[1].prevout.txid.data()[8] ^= 1; // the filter keeps the first eight bytes
    const Bytes alike = two.Serialize();
    REQUIRE(view.Parse(alike));
    CHECK(!TransactionsAreSound(view));
    CHECK(Reason(two) == "");
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
    block.txs[1].outputs.assign(20'000 / 33 + 1, {0, Bytes(33, OP_CHECKSIG)});
    CHECK(Reason(block) == "bad-blk-sigops");
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
    Bytes other = block.txs[0].outputs[size_t(block.CommitmentIndex())].script_pubkey;
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
    CHECK(!LooksMutated(view, true));
    block.txs.erase(block.txs.begin());
    raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    CHECK(LooksMutated(view, true));
    block.txs[0].outputs[0].script_pubkey.push_back(OP_NOP);
    raw = block.Serialize();
    REQUIRE(view.Parse(raw));
    CHECK(!LooksMutated(view, true));
}
