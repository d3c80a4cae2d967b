// Facts of the networks against the JSON that Core's own functional tests use, and option parsing.
#include "consensus/params.h"
#include "primitives/block.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <algorithm>

#include "support/catch.h"

using namespace ibd;

namespace {

void CompareWithJson(const ChainParams& p, const UniValue& json)
{
    CAPTURE(p.name);
    CHECK(json["chain"].get_str() == p.name);
    CHECK(json["test_chain"].get_bool() == p.is_test_chain);
    CHECK(json["genesis"].get_str() == ToHex(p.genesis.hash.Span()));
    CHECK(json["subsidy_halving_interval"].get_int() == p.consensus.subsidy_halving_interval);
    CHECK(json["net"]["default_port"].get_int() == p.p2p_port);
    CHECK(json["net"]["magic"].get_str() == ToHex(p.magic));
    CHECK(json["addresses"]["bech32_hrp"].get_str() == p.bech32_hrp);
    CHECK(json["pow"]["limit"].get_str() == p.consensus.pow_limit.ToHex());
    CHECK(json["net"]["dns_seeds"].size() == p.dns_seeds.size());
    for (const UniValue& seed : json["net"]["dns_seeds"].getValues()) {
        CAPTURE(seed.get_str());
        CHECK(std::count(p.dns_seeds.begin(), p.dns_seeds.end(), seed.get_str()) == 1);
    }
    if (!json["pow"].exists("target_spacing")) return;
    CHECK(json["pow"]["target_spacing"].get_int() == p.consensus.pow_target_spacing);
    CHECK(json["pow"]["difficulty_retarget_interval"].get_int() ==
          p.consensus.DifficultyAdjustmentInterval());
    const std::string min_difficulty = p.consensus.enforce_bip94                     ? "bip94"
                                       : p.consensus.pow_allow_min_difficulty_blocks ? "yes"
                                                                                     : "no";
    CHECK(json["pow"]["mindiff_blocks"].get_str() == min_difficulty);
}

} // namespace

TEST_CASE("networks equal Core's chain parameter files")
{
    const std::pair<const char*, Network> files[] = {{"mainnet", Network::kMain},
                                                     {"testnet", Network::kTestnet3},
                                                     {"testnet4", Network::kTestnet4},
                                                     {"signet", Network::kSignet},
                                                     {"regtest", Network::kRegtest}};
    for (const auto& [file, network] : files) {
        const auto path =
            test::TestData("core/chainparams/getchainparams-" + std::string(file) + ".json");
        if (!path) return;
        CompareWithJson(MakeChainParams(network), test::ReadTestJson(*path));
    }
}

TEST_CASE("a custom signet has its own challenge and magic and nothing of the public one")
{
    const auto path = test::TestData("core/chainparams/getchainparams-signet-custom.json");
    if (!path) return;
    const UniValue json = test::ReadTestJson(*path);
    NetworkOptions options;
    options.signet_challenge = FromHex(json["signet"]["challenge"].get_str());
    const ChainParams p = MakeChainParams(Network::kSignet, options);
    CompareWithJson(p, json);
    CHECK(p.dns_seeds.empty());
    CHECK(p.consensus.assume_valid.IsNull());
    CHECK(p.consensus.minimum_chain_work == Arith256(0));
    CHECK(!NetworkFromMagic(p.magic));
}

TEST_CASE("every network is consistent in itself")
{
    for (const Network network : {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                  Network::kSignet, Network::kRegtest}) {
        const ChainParams p = MakeChainParams(network);
        CAPTURE(p.name);
        CHECK(NetworkFromName(p.name) == network);
        CHECK(NetworkFromMagic(p.magic) == network);
        BlockView view;
        REQUIRE(view.Parse(p.genesis.raw));
        CHECK(view.Hash() == p.genesis.hash);
        CHECK(view.Txs()[0].txid == p.genesis.header.merkle_root);
        CHECK(p.consensus.pow_target_timespan % p.consensus.pow_target_spacing == 0);
        // The limit survives compact encoding no greater, and a retarget cannot overflow.
        const Arith256 limit = Arith256::FromCompact(p.consensus.pow_limit.ToCompact());
        CHECK(limit <= p.consensus.pow_limit);
        if (!p.consensus.pow_no_retargeting) {
            const auto most = Arith256(uint64_t(p.consensus.pow_target_timespan) * 4);
            CHECK(~Arith256(0) / most >= p.consensus.pow_limit);
        }
        int last = -1;
        for (const AssumeutxoData& data : p.assumeutxo) {
            CHECK(data.height > last);
            last = data.height;
            CHECK(p.AssumeutxoAt(data.height) == &data);
            CHECK(p.AssumeutxoFor(data.block_hash) == &data);
        }
        CHECK(p.AssumeutxoAt(1) == nullptr);
    }
    CHECK(!NetworkFromName("mainnet"));
}

TEST_CASE("regtest options change what they name")
{
    NetworkOptions options;
    REQUIRE(ParseTestActivationHeight("segwit@432", options));
    REQUIRE(ParseTestActivationHeight("bip34@2", options));
    REQUIRE(ParseTestActivationHeight("dersig@102", options));
    REQUIRE(ParseTestActivationHeight("cltv@111", options));
    REQUIRE(ParseTestActivationHeight("csv@0", options));
    REQUIRE(ParseVersionBitsParameters("testdummy:5:99:144", options));
    REQUIRE(ParseVersionBitsParameters("taproot:-2:7", options));
    options.fast_prune = true;
    const ChainParams p = MakeChainParams(Network::kRegtest, options);
    CHECK(p.consensus.segwit_height == 432);
    CHECK(p.consensus.bip34_height == 2);
    CHECK(p.consensus.bip66_height == 102);
    CHECK(p.consensus.bip65_height == 111);
    CHECK(p.consensus.csv_height == 0);
    CHECK(p.prune_after_height == 100);
    const Bip9Deployment& dummy = p.consensus.Deployment(DeploymentId::kTestDummy);
    CHECK(dummy.start_time == 5);
    CHECK(dummy.timeout == 99);
    CHECK(dummy.min_activation_height == 144);
    CHECK(p.consensus.Deployment(DeploymentId::kTaproot).start_time ==
          Bip9Deployment::kNeverActive);
}

TEST_CASE("every network takes other activation heights and version bits")
{
    NetworkOptions options;
    REQUIRE(ParseTestActivationHeight("bip34@0", options));
    REQUIRE(ParseVersionBitsParameters("testdummy:5:99", options));
    for (const Network network : {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                  Network::kSignet, Network::kRegtest}) {
        const ConsensusParams c = MakeChainParams(network, options).consensus;
        CHECK(c.bip34_height == 0);
        CHECK(c.Deployment(DeploymentId::kTestDummy).start_time == 5);
    }
}

TEST_CASE("malformed deployment options are refused by name")
{
    NetworkOptions options;
    const auto height = [&](const std::string& value) {
        const auto result = ParseTestActivationHeight(value, options);
        REQUIRE(!result);
        return result.Message();
    };
    CHECK(height("segwit") == "Invalid format (segwit) for -testactivationheight=name@height.");
    CHECK(height("segwit@") ==
          "Invalid height value (segwit@) for -testactivationheight=name@height.");
    CHECK(height("segwit@-1") ==
          "Invalid height value (segwit@-1) for -testactivationheight=name@height.");
    CHECK(height("segwit@2147483647") ==
          "Invalid height value (segwit@2147483647) for -testactivationheight=name@height.");
    CHECK(height("what@1") == "Invalid name (what@1) for -testactivationheight=name@height.");
    const auto bits = [&](const std::string& value) {
        const auto result = ParseVersionBitsParameters(value, options);
        REQUIRE(!result);
        return result.Message();
    };
    const std::string malformed =
        "Version bits parameters malformed, expecting deployment:start:end[:min_activation_height]";
    CHECK(bits("testdummy:1") == malformed);
    CHECK(bits("testdummy:1:2:3:4") == malformed);
    CHECK(bits("testdummy:x:2") == "Invalid nStartTime (x)");
    CHECK(bits("testdummy:1:2x") == "Invalid nTimeout (2x)");
    CHECK(bits("testdummy:1:2:") == "Invalid min_activation_height ()");
    CHECK(bits("nope:1:2") == "Invalid deployment (nope)");
    CHECK(options.activation_heights.empty());
    CHECK(options.version_bits.empty());
}
