// Networks that anyone may run: signet with a custom challenge, and regtest.
#include "consensus/params_build.h"
#include "crypto/sha256.h"
#include "primitives/serialize.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {
namespace {

/** The values of the default signet, which no other signet has. */
void SetPublicSignet(ChainParams& p)
{
    ConsensusParams& c = p.consensus;
    c.signet_challenge =
        *FromHex("512103ad5e0edad18cb1f0fc0d28a3d4f1f3e445640337489abb10404f2d1e086be4302103"
                 "59ef5021964fe22d6f8e05b2463c9540ce96883fe3b278760f048f5189f2e6c452ae");
    c.minimum_chain_work =
        NumberFromHex("00000000000000000000000000000000000000000000000000000b463ea0a4b8");
    // Height 293,175.
    c.assume_valid =
        HashFromHex("00000008414aab61092ef93f1aacc54cf9e9f16af29ddad493b908a01ff5c329");
    p.dns_seeds = {"seed.signet.bitcoin.sprovoost.nl.", "seed.signet.achownodes.xyz."};
    p.chain_tx_data = {1772055248, 28676833, 0.06736623436338929};
    p.assumed_blockchain_size_gb = 24;
    p.assumed_chainstate_size_gb = 4;
}

/** First four bytes of the double SHA-256 of the serialized challenge (BIP325). */
std::array<uint8_t, 4> SignetMagic(const Bytes& challenge)
{
    Bytes serialized;
    Writer(serialized).VarBytes(challenge);
    const Hash32 hash = Sha256d(serialized);
    std::array<uint8_t, 4> magic;
    std::copy_n(hash.begin(), magic.size(), magic.begin());
    return magic;
}

void SetSignetConsensus(ConsensusParams& c)
{
    c.signet_blocks = true;
    c.bip34_height = 1;
    c.bip65_height = 1;
    c.bip66_height = 1;
    c.csv_height = 1;
    c.segwit_height = 1;
    c.pow_limit = NumberFromHex("00000377ae000000000000000000000000000000000000000000000000000000");
    c.deployments = {FixedDeployment(28, Bip9Deployment::kNeverActive, 1815, 2016),
                     FixedDeployment(2, Bip9Deployment::kAlwaysActive, 1815, 2016)};
}

ConsensusParams RegtestConsensus(const NetworkOptions& options)
{
    ConsensusParams c;
    c.subsidy_halving_interval = 150;
    c.bip34_height = 1;
    c.bip65_height = 1;
    c.bip66_height = 1;
    c.csv_height = 1;
    c.segwit_height = 0;
    c.pow_limit = NumberFromHex("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    c.pow_target_timespan = 24 * 60 * 60;
    c.pow_allow_min_difficulty_blocks = true;
    c.pow_no_retargeting = true;
    c.enforce_bip94 = options.enforce_bip94;
    c.deployments = {FixedDeployment(28, 0, 108, 144),
                     FixedDeployment(2, Bip9Deployment::kAlwaysActive, 108, 144)};
    return c;
}

/** Snapshots of the deterministic chains that functional tests build. */
std::vector<AssumeutxoData> RegtestSnapshots()
{
    return {
        {110, HashFromHex("86e9a1205b418b16dde3a18a78c730e30137e28466bda5dbf6b33ab8fc05447c"), 111,
         HashFromHex("135eec25a6fb277884e5824e7aa7d052c4868161c99a5122170b5266f86c273d")},
        {200, HashFromHex("17dcc016d188d16068907cdeb38b75691a118d43053b8cd6a25969419381d13a"), 201,
         HashFromHex("385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9")},
        {299, HashFromHex("106b2c56233e378a824cf0d5ff2be42ed32c72f1605c9be288d00942908a40ac"), 334,
         HashFromHex("0c552ced4721c249a389eb9b08cb8da261cd46f0e7b5f9d064d48f3113406853")},
    };
}

} // namespace

ChainParams MakeSignetParams(const NetworkOptions& options)
{
    ChainParams p;
    p.network = Network::kSignet;
    p.sub_folder = "signet";
    SetSignetConsensus(p.consensus);
    if (options.signet_challenge) {
        p.consensus.signet_challenge = *options.signet_challenge;
    } else {
        SetPublicSignet(p);
    }
    if (options.dns_seeds) p.dns_seeds = *options.dns_seeds;
    p.magic = SignetMagic(p.consensus.signet_challenge);
    p.p2p_port = 38333;
    p.rpc_port = 38332;
    p.onion_port = 38334;
    SetGenesis(p, ClassicGenesis(1598918400, 52613770, 0x1e0377ae),
               "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6");
    SetTestPrefixes(p, "tb");
    p.assumeutxo = {
        {160'000, HashFromHex("fe0a44309b74d6b5883d246cb419c6221bcccf0b308c9b59b7d70783dbdf928a"),
         2289496, HashFromHex("0000003ca3c99aff040f2563c2ad8f8ec88bd0fd6b8f0895cfaf1ef90353a62c")},
        {290'000, HashFromHex("97267e000b4b876800167e71b9123f1529d13b14308abec2888bbd2160d14545"),
         28547497, HashFromHex("0000000577f2741bb30cd9d39d6d71b023afbeb9764f6260786a97969d5c9ac0")},
    };
    p.prune_after_height = 1000;
    p.headers_sync_commitment_period = 620;
    p.headers_sync_redownload_buffer = 15724;
    return p;
}

ChainParams MakeRegtestParams(const NetworkOptions& options)
{
    ChainParams p;
    p.network = Network::kRegtest;
    p.sub_folder = "regtest";
    p.consensus = RegtestConsensus(options);
    p.magic = {0xfa, 0xbf, 0xb5, 0xda};
    p.p2p_port = 18444;
    p.rpc_port = 18443;
    p.onion_port = 18445;
    SetGenesis(p, ClassicGenesis(1296688602, 2, 0x207fffff),
               "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206");
    SetTestPrefixes(p, "bcrt");
    p.dns_seeds = {"dummySeed.invalid."};
    p.assumeutxo = RegtestSnapshots();
    p.chain_tx_data = {0, 0, 0.001};
    p.prune_after_height = options.fast_prune ? 100 : 1000;
    p.default_consistency_checks = true;
    p.is_mockable = true;
    p.headers_sync_commitment_period = 275;
    p.headers_sync_redownload_buffer = 7017;
    return p;
}

} // namespace ibd
