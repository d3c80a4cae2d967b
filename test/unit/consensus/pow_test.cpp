// Retargeting and work: known points of mainnet, and the rules of the test networks on made-up
// chains.
#include "consensus/block_check.h"
#include "consensus/pow.h"
#include "consensus/script_flags.h"
#include "consensus/subsidy.h"
#include "vector_ancestry.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** `n` blocks at the limit, slow enough to stay there. */
VectorAncestry EvenChain(const ChainParams& params, int n)
{
    VectorAncestry chain;
    const BlockHeader& genesis = params.genesis.header;
    for (int i = 0; i < n; ++i) {
        chain.blocks.push_back({4, genesis.time + uint32_t(i) * 601, genesis.bits});
    }
    return chain;
}

} // namespace

TEST_CASE("retargets of mainnet")
{
    const ConsensusParams c = MakeChainParams(Network::kMain).consensus;
    struct Point {
        uint32_t first_time, last_time, bits, next;
    };
    // Heights 32255, 2015 (limit), 68543 (a quarter at most), 46367 (four times at most).
    for (const Point& p : {Point{1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a},
                           Point{1231006505, 1233061996, 0x1d00ffff, 0x1d00ffff},
                           Point{1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd},
                           Point{1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd}}) {
        VectorAncestry chain;
        chain.blocks.assign(2016, {4, p.first_time, p.bits});
        chain.blocks.back().time = p.last_time;
        CHECK(CalculateNextWorkRequired(chain, p.first_time, c) == p.next);
        CHECK(GetNextWorkRequired(chain, p.last_time + 600, c) == p.next);
        CHECK(PermittedDifficultyTransition(c, 2016 * 7, p.bits, p.next));
        CHECK(GetNextWorkRequired(PrefixAncestry(chain, 2015), 0, c) == p.bits);
    }
    CHECK(!PermittedDifficultyTransition(c, 2016, 0x1c05a3f4, 0x1c0168fc));
    CHECK(!PermittedDifficultyTransition(c, 2016, 0x1c387f6f, 0x1d00e1fe));
    CHECK(PermittedDifficultyTransition(c, 2017, 0x1c387f6f, 0x1c387f6f));
    CHECK(!PermittedDifficultyTransition(c, 2017, 0x1c387f6f, 0x1c387f6e));
}

TEST_CASE("targets out of range are no proof of work")
{
    const ConsensusParams c = MakeChainParams(Network::kMain).consensus;
    const BlockHash zero;
    CHECK(CheckProofOfWork(zero, 0x1d00ffff, c));
    CHECK(!CheckProofOfWork(zero, 0x1d010000, c)); // above the limit
    CHECK(!CheckProofOfWork(zero, 0x01fedcba, c)); // negative
    CHECK(!CheckProofOfWork(zero, 0xff123456, c)); // overflow
    CHECK(!CheckProofOfWork(zero, 0, c));
    const Arith256 target = *DeriveTarget(0x1d00ffff, c.pow_limit);
    CHECK(CheckProofOfWork(target.ToUint256(), 0x1d00ffff, c));
    CHECK(!CheckProofOfWork((target + Arith256(1)).ToUint256(), 0x1d00ffff, c));
}

TEST_CASE("work and difficulty of a header")
{
    CHECK(BlockWork(0x1d00ffff) == Arith256(0x100010001));
    CHECK(BlockWork(0x207fffff) == Arith256(2));
    CHECK(BlockWork(0) == Arith256(0));
    CHECK(BlockWork(0x01fedcba) == Arith256(0));
    CHECK(Difficulty(0x1d00ffff) == Approx(1.0));
    CHECK(Difficulty(0x1b0404cb) == Approx(16307.420938523983));
    CHECK(Difficulty(0x207fffff) == Approx(4.6565423739069247e-10));
    CHECK(Difficulty(0x1f111111) == Approx(8.9406e-7).epsilon(1e-4));
}

TEST_CASE("testnet: minimum difficulty after twenty minutes, and the way back")
{
    const ConsensusParams c = MakeChainParams(Network::kTestnet3).consensus;
    const uint32_t limit = c.pow_limit.ToCompact();
    VectorAncestry chain;
    for (uint32_t i = 0; i < 2030; ++i) chain.blocks.push_back({4, i * 600, 0x1c00ffff});
    const uint32_t last = chain.Tip().time;
    CHECK(GetNextWorkRequired(chain, last + 1200, c) == 0x1c00ffff);
    CHECK(GetNextWorkRequired(chain, last + 1201, c) == limit);
    chain.blocks.push_back({4, last + 1201, limit});
    chain.blocks.push_back({4, last + 2500, limit});
    CHECK(GetNextWorkRequired(chain, last + 2501, c) == 0x1c00ffff);
    // The search ends at the first block of the period, whatever bits that has.
    for (size_t i = 2016; i < chain.blocks.size(); ++i) chain.blocks[i].bits = limit;
    CHECK(GetNextWorkRequired(chain, last + 2501, c) == limit);
    CHECK(PermittedDifficultyTransition(c, 5, 0x1c00ffff, 0x1d00ffff));
}

TEST_CASE("BIP94 retargets from the first block of the period")
{
    const ConsensusParams test3 = MakeChainParams(Network::kTestnet3).consensus;
    const ConsensusParams test4 = MakeChainParams(Network::kTestnet4).consensus;
    VectorAncestry chain;
    for (uint32_t i = 0; i < 2016; ++i) chain.blocks.push_back({4, i * 600, 0x1c00ffff});
    chain.blocks.back() = {4, 2015 * 600 + 1300, 0x1d00ffff}; // used the exception
    const uint32_t after = chain.Tip().time + 1;
    CHECK(GetNextWorkRequired(chain, after, test3) == 0x1d00ffff);
    const uint32_t next = GetNextWorkRequired(chain, after, test4);
    CHECK(Arith256::FromCompact(next) < Arith256::FromCompact(0x1c010100));
}

TEST_CASE("regtest never retargets")
{
    const ChainParams p = MakeChainParams(Network::kRegtest);
    VectorAncestry chain = EvenChain(p, 144);
    chain.blocks.back().time += 1'000'000;
    CHECK(GetNextWorkRequired(chain, 0, p.consensus) == 0x207fffff);
}

TEST_CASE("header rules in context")
{
    const ChainParams p = MakeChainParams(Network::kTestnet4);
    const VectorAncestry chain = EvenChain(p, 2016);
    const uint32_t last = chain.Tip().time;
    BlockHeader header;
    header.version = 4;
    header.bits = 0x1d00ffff;
    header.time = last + 1;
    const auto reason = [&](const BlockHeader& h, const Ancestry& prev, int64_t now) {
        const auto bad = ContextualCheckBlockHeader(h, prev, p.consensus, now);
        return bad ? bad->reason : "";
    };
    CHECK(reason(header, chain, last) == "");
    BlockHeader bad = header;
    bad.bits = 0x1c00ffff;
    CHECK(reason(bad, chain, last) == "bad-diffbits");
    bad = header;
    bad.time = static_cast<uint32_t>(chain.MedianTimePast());
    CHECK(reason(bad, chain, last) == "time-too-old");
    bad.time = static_cast<uint32_t>(chain.MedianTimePast()) + 1;
    CHECK(reason(bad, chain, last) == "time-timewarp-attack"); // height 2016 starts a period
    CHECK(reason(bad, PrefixAncestry(chain, 2015), last) == "");
    bad.time = last - 600;
    CHECK(reason(bad, chain, last) == "");
    bad.time = last - 601;
    CHECK(reason(bad, chain, last) == "time-timewarp-attack");
    bad = header;
    CHECK(reason(bad, chain, last + 1 - 7200) == "");
    CHECK(reason(bad, chain, last - 7200) == "time-too-new");
    bad.version = 3;
    const auto version = ContextualCheckBlockHeader(bad, chain, p.consensus, last);
    REQUIRE(version);
    CHECK(version->ToString() == "bad-version(0x00000003), rejected nVersion=0x00000003 block");
    bad.version = -1;
    CHECK(reason(bad, chain, last) == "bad-version(0xffffffff)");
}

TEST_CASE("versions are required from the buried heights on")
{
    ConsensusParams c = MakeChainParams(Network::kRegtest).consensus;
    c.bip34_height = 10;
    c.bip66_height = 20;
    c.bip65_height = 30;
    const VectorAncestry chain = EvenChain(MakeChainParams(Network::kRegtest), 40);
    for (int height = 1; height < 40; ++height) {
        for (int32_t version = 0; version < 6; ++version) {
            const PrefixAncestry prev(chain, height);
            BlockHeader header;
            header.version = version;
            header.bits = 0x207fffff;
            header.time = prev.Tip().time + 600;
            const int least = height >= 30 ? 4 : height >= 20 ? 3 : height >= 10 ? 2 : 0;
            const auto bad = ContextualCheckBlockHeader(header, prev, c, header.time);
            REQUIRE(bad.has_value() == (version < least));
        }
    }
}

TEST_CASE("subsidies sum up to the known total")
{
    const ConsensusParams c = MakeChainParams(Network::kMain).consensus;
    Amount sum = 0;
    Amount least = 50 * kCoin;
    for (int height = 0; height < 6'930'000 + 1000; height += 1000) {
        const Amount subsidy = BlockSubsidy(height, c);
        CHECK(subsidy <= least);
        least = subsidy;
        sum += subsidy * 1000;
        REQUIRE(MoneyRange(sum));
    }
    CHECK(sum == 2'099'999'997'690'000);
    CHECK(least == 0);
    CHECK(BlockSubsidy(209'999, c) == 50 * kCoin);
    CHECK(BlockSubsidy(210'000, c) == 25 * kCoin);
    CHECK(BlockSubsidy(840'000, c) == 312'500'000);
    CHECK(BlockSubsidy(2'000'000'000, c) == 0);
    CHECK(MaxSupply(0, c) == 0);
    CHECK(MaxSupply(1, c) == 50 * kCoin);
    CHECK(MaxSupply(-1, c) == 0);
    CHECK(MaxSupply(210'001, c) == 209'999 * 50 * kCoin + 2 * 25 * kCoin);
    CHECK(MaxSupply(100'000'000, c) == 2'099'999'997'690'000 - 50 * kCoin);
    const ConsensusParams regtest = MakeChainParams(Network::kRegtest).consensus;
    Amount total = 0;
    for (int height = 1; height < 1000; ++height) {
        total += BlockSubsidy(height, regtest);
        REQUIRE(MaxSupply(height, regtest) == total);
    }
}

TEST_CASE("script flags by height, with the exceptions")
{
    const ConsensusParams c = MakeChainParams(Network::kMain).consensus;
    const ScriptFlags base = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    const BlockHash any;
    CHECK(BlockScriptFlags(0, any, c) == base);
    CHECK(BlockScriptFlags(363'724, any, c) == base);
    CHECK(BlockScriptFlags(363'725, any, c) == (base | kVerifyDerSig));
    CHECK(BlockScriptFlags(388'381, any, c) == (base | kVerifyDerSig | kVerifyCltv));
    CHECK(BlockScriptFlags(419'328, any, c) == (base | kVerifyDerSig | kVerifyCltv | kVerifyCsv));
    const ScriptFlags all = base | kVerifyDerSig | kVerifyCltv | kVerifyCsv | kVerifyNullDummy;
    CHECK(BlockScriptFlags(481'823, any, c) != all);
    CHECK(BlockScriptFlags(481'824, any, c) == all);
    const auto bip16 =
        *Uint256::FromHex("00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22");
    const auto taproot =
        *Uint256::FromHex("0000000000000000000f14c35b2d841e986ab5441de8c585d5ffe55ea1e395ad");
    CHECK(BlockScriptFlags(170'060, bip16, c) == kVerifyNone);
    CHECK(BlockScriptFlags(692'261, taproot, c) == (all & ~kVerifyTaproot));
    CHECK(BlockScriptFlags(1, any, MakeChainParams(Network::kRegtest).consensus) == all);
}

TEST_CASE("coinbase ids are checked until BIP34, and again much later")
{
    const ConsensusParams c = MakeChainParams(Network::kMain).consensus;
    const BlockHash any;
    const auto repeat =
        *Uint256::FromHex("00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caec");
    CHECK(Bip30Enforced(91'842, any, any, c));
    CHECK(!Bip30Enforced(91'842, repeat, any, c));
    CHECK(Bip30Enforced(91'880, repeat, any, c));
    CHECK(!Bip30Enforced(91'880, c.bip30_exceptions[0].repeat_hash, any, c));
    CHECK(Bip30Enforced(227'931, any, any, c));
    CHECK(!Bip30Enforced(227'932, any, c.bip34_hash, c));
    CHECK(Bip30Enforced(227'932, any, repeat, c)); // another branch
    CHECK(!Bip30Enforced(1'983'701, any, c.bip34_hash, c));
    CHECK(Bip30Enforced(1'983'702, any, c.bip34_hash, c));
    CHECK(IsBip30Unspendable(91'722, c.bip30_exceptions[0].overwritten_hash, c));
    CHECK(IsBip30Unspendable(91'812, c.bip30_exceptions[1].overwritten_hash, c));
    CHECK(!IsBip30Unspendable(91'812, c.bip30_exceptions[0].overwritten_hash, c));
    CHECK(!IsBip30Unspendable(91'842, repeat, c));
    const ConsensusParams test4 = MakeChainParams(Network::kTestnet4).consensus;
    CHECK(Bip30Enforced(5, any, any, test4)); // no known BIP34 block: always
}

TEST_CASE("the way back to the last real difficulty does not look blocks up one by one")
{
    /** Counts what may be slow. */
    class Counting final : public Ancestry {
    public:
        VectorAncestry chain;
        mutable int lookups = 0;
        int Height() const override { return chain.Height(); }
        HeaderFacts At(int height) const override { return ++lookups, chain.At(height); }
        BlockHash HashAt(int height) const override { return chain.HashAt(height); }
        void WalkDown(int from,
                      const std::function<bool(int, const HeaderFacts&)>& more) const override
        {
            chain.WalkDown(from, more);
        }
    };
    const ConsensusParams c = MakeChainParams(Network::kTestnet3).consensus;
    Counting counting;
    for (uint32_t i = 0; i < 2016 + 2000; ++i) {
        const uint32_t bits = i == 2016 ? 0x1c00ffff : c.pow_limit.ToCompact();
        counting.chain.blocks.push_back({4, i * 600, bits});
    }
    CHECK(GetNextWorkRequired(counting, counting.chain.Tip().time + 1, c) == 0x1c00ffff);
    CHECK(counting.lookups < 5);
}
