// Real blocks of every era pass; with one thing changed they fail for the right reason.
#include "block_fixture.h"
#include "consensus/sigops.h"
#include "consensus/tx_check.h"
#include "consensus/witness_commitment.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

struct RealBlock {
    const char* file;
    Network network;
    int height;
};

const RealBlock kBlocks[] = {
    {"bitcoinj/block169482.dat", Network::kMain, 169482},
    {"bitcoinj/block227835.dat", Network::kMain, 227835},
    {"bitcoinj/block227836.dat", Network::kMain, 227836},
    {"btcd/277647.dat.bz2", Network::kMain, 277647},
    {"bcoin/block300025.raw.xz", Network::kMain, 300025},
    {"floresta/block_367891/raw.zst", Network::kMain, 367891},
    {"blocks/block413567.raw.xz", Network::kMain, 413567},
    {"bcoin/block426884.raw.xz", Network::kMain, 426884},
    {"bitcoinj/block481829.dat.xz", Network::kMain, 481829},
    {"bcoin/block482683.raw", Network::kMain, 482683},
    {"btcd/block-00000000000000000021868c2cefc52a480d173c849412fe81c4e5ab806f94ab.blk.xz",
     Network::kMain, 540107},
    {"btcd/block-0000000000000000001602407ac49862a7bca9d00f7f402db20b7be2f5de59d2.blk.xz",
     Network::kMain, 574200},
    {"rust-bitcoin/"
     "mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw.xz",
     Network::kMain, 702861},
    {"floresta/block_866342/raw.zst", Network::kMain, 866342},
    {"bitcoinj/block_testnet21066.dat", Network::kTestnet3, 21066},
    {"bitcoinj/block_testnet32768.dat", Network::kTestnet3, 32768},
    {"bitcoinj/block_testnet700000.dat", Network::kTestnet3, 700000},
    {"bcoin/block898352.raw", Network::kTestnet3, 898352},
    {"rust-bitcoin/"
     "testnet_block_000000000000045e0b1660b6445b5e5c5ab63c9a4f956be7e1e69be04fa4497b.raw",
     Network::kTestnet3, 0},
    {"bcoin/block1087400.raw", Network::kTestnet3, 1087400},
    {"bcoin/block928816.raw.xz", Network::kTestnet3, 928816},
    {"bcoin/block928828.raw.xz", Network::kTestnet3, 928828},
    {"bcoin/block928831.raw.xz", Network::kTestnet3, 928831},
    {"bcoin/block928848.raw.xz", Network::kTestnet3, 928848},
    {"bcoin/block928849.raw.xz", Network::kTestnet3, 928849},
    {"bcoin/block928927.raw.xz", Network::kTestnet3, 928927},
};

/** Height that the coinbase states; for blocks since BIP34. */
int StatedHeight(const BlockView& view)
{
    ScriptIterator it(view.Txs()[0].inputs[0].script_sig);
    REQUIRE(it.Next());
    return static_cast<int>(DecodeScriptNum(it.Data(), true).value_or(-1));
}

Bytes ReadBlock(const RealBlock& block)
{
    const auto path = TestData(block.file);
    if (!path) return {};
    Bytes raw = ReadTestFile(*path);
    const bool framed = std::string(block.file).rfind("btcd/277647", 0) == 0;
    if (framed) raw.erase(raw.begin(), raw.begin() + 8); // magic and length
    return raw;
}

/** Changes of the transactions' bytes that a header does not forgive. */
void CheckMutations(const Bytes& raw, const BlockView& view, const ConsensusParams& params)
{
    Bytes bad = raw;
    bad[76 + TestRng()() % 4] ^= static_cast<uint8_t>(1 + TestRng()() % 255);
    REQUIRE(CheckReason(bad, params, true) == "high-hash");
    for (int i = 0; i < 10; ++i) {
        // Any flip outside witnesses changes a txid; inside them the ids stay.
        bad = raw;
        const size_t at = 81 + TestRng()() % (raw.size() - 81);
        bad[at] ^= static_cast<uint8_t>(1U << (TestRng()() % 8));
        const std::string reason = CheckReason(bad, params, true);
        BlockView changed;
        if (!changed.Parse(bad)) {
            REQUIRE(reason == "parse");
            continue;
        }
        const bool same_ids =
            changed.Txs().size() == view.Txs().size() &&
            std::equal(changed.Txs().begin(), changed.Txs().end(), view.Txs().begin(),
                       [](const TxView& a, const TxView& b) { return a.txid == b.txid; });
        REQUIRE(reason == (same_ids ? "" : "bad-txnmrklroot"));
        if (same_ids) REQUIRE(LooksMutated(changed, true));
    }
    MutableBlock doubled(view);
    const size_t count = doubled.txs.size();
    const size_t tail = count & (~count + 1);
    if (tail != count) {
        for (size_t i = count - tail; i < count; ++i) doubled.txs.push_back(doubled.txs[i]);
        REQUIRE(CheckReason(doubled.Serialize(false), params, true) == "bad-txns-duplicate");
    }
}

/** Changes of blocks that carry a witness commitment. */
void CheckWitnessMutations(const BlockView& view, const ConsensusParams& params, int height)
{
    const uint32_t time = view.Header().time;
    const auto reason = [&](MutableBlock& block) {
        return ContextReason(block.Serialize(), params, height, time);
    };
    MutableBlock block(view);
    const int index = block.CommitmentIndex();
    REQUIRE(index >= 0);
    block.txs[0].inputs[0].witness = {Bytes(31, 0)};
    CHECK(reason(block) == "bad-witness-nonce-size");
    block.txs[0].inputs[0].witness = {Bytes(32, 0), {}};
    CHECK(reason(block) == "bad-witness-nonce-size");
    block.txs[0].inputs[0].witness = {Bytes(32, 1)};
    CHECK(reason(block) == "bad-witness-merkle-match");
    block.txs[0].outputs[size_t(index)].script_pubkey = {OP_RETURN};
    CHECK(reason(block) == "unexpected-witness");
    block.txs[0].inputs[0].witness.clear();
    const bool others = std::any_of(view.Txs().begin() + 1, view.Txs().end(),
                                    [](const TxView& tx) { return tx.has_witness; });
    CHECK(reason(block) == (others ? "unexpected-witness" : ""));
}

} // namespace

TEST_CASE("real blocks pass and their mutations do not")
{
    size_t checked = 0;
    size_t with_witness = 0;
    for (const RealBlock& real : kBlocks) {
        CAPTURE(real.file);
        const Bytes raw = ReadBlock(real);
        if (raw.empty()) continue;
        const ConsensusParams params = MakeChainParams(real.network).consensus;
        BlockView view;
        REQUIRE(view.Parse(raw));
        REQUIRE(CheckReason(raw, params, true) == "");
        REQUIRE(TransactionsAreSound(view));
        int height = real.height;
        if (height == 0) height = StatedHeight(view);
        if (height >= params.bip34_height) REQUIRE(StatedHeight(view) == height);
        const uint32_t time = view.Header().time;
        REQUIRE(ContextReason(raw, params, height, time) == "");
        REQUIRE(!LooksMutated(view, height >= params.segwit_height));
        if (height >= params.bip34_height) {
            REQUIRE(ContextReason(raw, params, height + 1, time) == "bad-cb-height");
        }
        CheckMutations(raw, view, params);
        if (height >= params.segwit_height && WitnessCommitmentIndex(view.Txs()[0]) >= 0) {
            CheckWitnessMutations(view, params, height);
            ++with_witness;
        }
        ++checked;
    }
    // Less than all of them: TestData() counted this test as skipped.
    if (checked == std::size(kBlocks)) CHECK(with_witness >= 8);
}

TEST_CASE("the bound on signature operations of real blocks is far below the limit")
{
    // Above it a block would be read once more for nothing: see join/block_outline.h.
    for (const RealBlock& real : kBlocks) {
        const Bytes raw = ReadBlock(real);
        if (raw.empty()) continue;
        CAPTURE(real.file);
        BlockView view;
        REQUIRE(view.Parse(raw));
        int64_t bound = 0;
        for (const TxView& tx : view.Txs()) bound += MostSigOpCost(tx);
        CHECK(bound <= kMaxBlockSigOpsCost * 6 / 10);
    }
}
