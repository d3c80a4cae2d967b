// The chain generator: its chains obey every rule, its Truth is right, the same seed gives the same
// chain, and coins live about as long as on mainnet.
#include "sim/chain.h"
#include "sim/full_check.h"

#include "script/standard.h"
#include "script/verify.h"

#include <set>

#include "support/catch.h"

namespace ibd::sim {

namespace {

/** Every block of the chain through FullCheck, then its coins against the truth. */
FullCheck RunFullCheck(const ChainParams& params, Chain& chain, int blocks)
{
    FullCheck check(params);
    for (int i = 0; i < blocks; ++i) {
        const SimBlock block = chain.Next();
        INFO("height " << block.height);
        REQUIRE(check.Connect(block.bytes) == "");
    }
    return check;
}

/** Numbers of the outputs that the truth says are unspent. */
std::set<uint64_t> UnspentNumbers(const Truth& truth)
{
    std::set<uint64_t> out;
    uint64_t number = 0;
    for (int height = 0; height <= truth.Height(); ++height) {
        for (const uint8_t unspent : truth.UnspentOfBlock(height, false)) {
            if (unspent) out.insert(number);
            ++number;
        }
    }
    return out;
}

void CheckTruth(const FullCheck& check, const Chain& chain)
{
    std::set<uint64_t> numbers;
    for (const auto& [outpoint, coin] : check.Coins()) numbers.insert(coin.number);
    CHECK(numbers == UnspentNumbers(chain.GetTruth()));
    CHECK(numbers.size() == chain.GetTruth().Unspent());
    CHECK(check.Outputs() == chain.GetTruth().Outputs());
    CHECK(check.Inputs() == chain.Stats().inputs);
}

ChainOptions Options(uint64_t seed, int blocks, int outputs_per_block)
{
    ChainOptions out;
    out.seed = seed;
    out.blocks = blocks;
    out.outputs_per_block = outputs_per_block;
    return out;
}

BlockHash TipAfter(const ChainOptions& options, int blocks)
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Chain chain(params, options);
    for (int i = 0; i < blocks; ++i) chain.Next();
    return chain.TipHash();
}

ChainParams Bip34From(int height)
{
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kHeightInCoinbase] = height;
    return MakeChainParams(Network::kRegtest, options);
}

} // namespace

TEST_CASE("unsigned chains are valid in every rule and the truth about them is right")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    for (const uint64_t seed : {1, 2, 3}) {
        Chain chain(params, Options(seed, 330, 60));
        const FullCheck check = RunFullCheck(params, chain, 330);
        CheckTruth(check, chain);
        CHECK(chain.Stats().spent_same_block > 100);
        CHECK(chain.Height() == 330);
    }
}

TEST_CASE("signed chains are valid in every rule")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    ChainOptions options = Options(7, 180, 50);
    options.signed_spends = true;
    Chain chain(params, options);
    CheckTruth(RunFullCheck(params, chain, 180), chain);
}

TEST_CASE("chains like mainnet are valid, and what stays in them lies together")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    ChainOptions options = Options(9, 400, 150);
    options.like_mainnet = true;
    Chain chain(params, options);
    CheckTruth(RunFullCheck(params, chain, 410), chain);
    const Truth& truth = chain.GetTruth();
    CHECK(truth.Unspent() > truth.Spendable() * 4 / 100);
    CHECK(truth.Unspent() < truth.Spendable() * 11 / 100);
    // If they were scattered, hardly one in ten would follow another.
    uint64_t neighbours = 0;
    for (int height = 1; height <= truth.Height(); ++height) {
        const std::vector<uint8_t> unspent = truth.UnspentOfBlock(height, true);
        for (size_t i = 1; i < unspent.size(); ++i) neighbours += unspent[i - 1] && unspent[i];
    }
    CHECK(neighbours > truth.Unspent() * 3 / 10);
}

TEST_CASE("a chain may go on above the planned height")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Chain chain(params, Options(5, 120, 20));
    CheckTruth(RunFullCheck(params, chain, 160), chain);
}

TEST_CASE("the largest blocks stay within the limits")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Chain chain(params, Options(9, 125, kMostOutputsPerBlock));
    CheckTruth(RunFullCheck(params, chain, 125), chain);
}

TEST_CASE("the full check is not blind: a changed amount, script or order is refused")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    ChainOptions options = Options(11, 130, 30);
    options.signed_spends = true;
    Chain chain(params, options);
    FullCheck check = RunFullCheck(params, chain, 119);
    const SimBlock skipped = chain.Next();
    const SimBlock late = chain.Next();
    FullCheck other = check;
    CHECK(other.Connect(late.bytes) == "prev-blk-not-found");
    Bytes damaged = skipped.bytes;
    damaged.back() ^= 1; // lock time of the last transaction
    CHECK(other.Connect(damaged).starts_with("bad-txnmrklroot"));
    CHECK(check.Connect(skipped.bytes) == "");
    CHECK(check.Connect(late.bytes) == "");
}

TEST_CASE("all standard types of output appear, spent and unspent")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    for (const bool signed_spends : {false, true}) {
        ChainOptions options = Options(4, 200, 60);
        options.signed_spends = signed_spends;
        Chain chain(params, options);
        std::set<ScriptKind> kinds;
        BlockView view;
        for (int i = 0; i < 200; ++i) {
            const SimBlock block = chain.Next();
            REQUIRE(view.Parse(block.bytes).Ok());
            for (const OutputView& output : view.Outputs()) {
                kinds.insert(ClassifyScript(output.script_pubkey).kind);
            }
        }
        for (const ScriptKind kind :
             {ScriptKind::kPubkey, ScriptKind::kPubkeyHash, ScriptKind::kScriptHash,
              ScriptKind::kMultisig, ScriptKind::kNullData, ScriptKind::kWitnessV0KeyHash,
              ScriptKind::kWitnessV0ScriptHash, ScriptKind::kTaproot}) {
            INFO(ScriptKindName(kind));
            CHECK(kinds.contains(kind));
        }
    }
}

TEST_CASE("one seed, one chain; another seed, another chain")
{
    const ChainOptions options = Options(42, 150, 40);
    const BlockHash tip = TipAfter(options, 150);
    CHECK(TipAfter(options, 150) == tip);
    CHECK(TipAfter(Options(43, 150, 40), 150) != tip);
    ChainOptions other = options;
    other.signed_spends = true;
    CHECK(TipAfter(other, 150) != tip);
    // Known answer: a change of the generator's output must be intended, because caches rely on the
    // seed.
    CHECK(tip.ToHex() == "1bf0a9718221e820e4aa08a4af2202d07deef46f4875fe946885ade4b8e764f0");
}

TEST_CASE("a copy makes the same blocks, after Reseed another valid branch")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Chain chain(params, Options(6, 200, 30));
    FullCheck check = RunFullCheck(params, chain, 130);
    Chain same = chain, branch = chain;
    branch.Reseed(99);
    FullCheck branch_check = check;
    for (int i = 0; i < 10; ++i) {
        const SimBlock ours = chain.Next();
        CHECK(same.Next().bytes == ours.bytes);
        CHECK(check.Connect(ours.bytes) == "");
        const SimBlock theirs = i == 3 ? branch.NextEmpty() : branch.Next();
        CHECK(theirs.hash != ours.hash);
        CHECK(branch_check.Connect(theirs.bytes) == "");
    }
    CheckTruth(check, chain);
    CheckTruth(branch_check, branch);
}

TEST_CASE("coins live about as long as on mainnet")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    Chain chain(params, Options(8, 2500, 60));
    for (int i = 0; i < 2500; ++i) chain.Next();
    const double coins = static_cast<double>(chain.GetTruth().Spendable());
    const auto share = [&](uint64_t n) { return static_cast<double>(n) / coins; };
    CHECK(share(chain.Stats().spent_within_10) > 0.38);
    CHECK(share(chain.Stats().spent_within_10) < 0.44);
    CHECK(share(chain.Stats().spent_within_100) > 0.70);
    CHECK(share(chain.Stats().spent_within_100) < 0.82);
    CHECK(share(chain.GetTruth().Unspent()) > 0.06);
    CHECK(share(chain.GetTruth().Unspent()) < 0.10);
}

TEST_CASE("a coinbase repeated after its first was spent is valid under BIP30")
{
    const ChainParams params = Bip34From(145);
    ChainOptions options = Options(3, 250, 25);
    options.repeated_coinbase = RepeatedCoinbase{20, 135, false};
    Chain chain(params, options);
    CheckTruth(RunFullCheck(params, chain, 250), chain);
    CHECK(chain.Stats().overwritten == 0);
}

TEST_CASE("a coinbase that overwrites is refused by BIP30, and valid as an exception")
{
    ChainParams params = Bip34From(145);
    ChainOptions options = Options(3, 250, 25);
    options.repeated_coinbase = RepeatedCoinbase{20, 60, true};
    Chain chain(params, options);
    FullCheck strict(params);
    std::vector<SimBlock> blocks;
    for (int height = 1; height <= 60; ++height) {
        blocks.push_back(chain.Next());
        const std::string verdict = strict.Connect(blocks.back().bytes);
        CHECK(verdict == (height == 60 ? "bad-txns-BIP30" : ""));
    }
    params.consensus.bip30_exceptions = {{20, blocks[19].hash, 60, blocks[59].hash}};
    FullCheck lenient(params);
    for (const SimBlock& block : blocks) REQUIRE(lenient.Connect(block.bytes) == "");
    while (chain.Height() < 250) REQUIRE(lenient.Connect(chain.Next().bytes) == "");
    CheckTruth(lenient, chain);
    CHECK(chain.Stats().overwritten == 1);
    CHECK(chain.GetTruth().UnspentOfBlock(20, true).empty());
}

TEST_CASE("truth as text and as bitmap")
{
    Truth truth;
    truth.BeginBlock();
    truth.AddOutput(false);
    truth.BeginBlock();
    for (int i = 0; i < 9; ++i) truth.AddOutput(i != 2);
    truth.BeginBlock();
    truth.AddOutput(true);
    for (const uint64_t number : {1, 2, 6, 8, 10}) truth.Spend(number);
    CHECK(truth.Outputs() == 11);
    CHECK(truth.Spendable() == 9);
    CHECK(truth.Unspent() == 4);
    CHECK(truth.ToText() == "2 3 5 7\n\n"); // of outputs 0,1,3,4,5,6,7,8: the spent are 0,1,4,6
    CHECK(truth.ToBitmap() == Bytes{1, 0, 0, 9, 0, 0x58, 0x01, 1, 0, 0, 0, 0});
}

} // namespace ibd::sim
