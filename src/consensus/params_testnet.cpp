// See params.h. The public test networks 3 and 4.
#include "consensus/params_build.h"

namespace ibd {
namespace {

ConsensusParams Testnet3Consensus()
{
    ConsensusParams c;
    c.bip34_height = 21111;
    c.bip34_hash = HashFromHex("0000000023b3a96d3484e5abb3755c413e7d41500f8e2a5c3f0dd01299cd8ef8");
    c.bip65_height = 581885;
    c.bip66_height = 330776;
    c.csv_height = 770112;
    c.segwit_height = 834624;
    c.min_bip9_warning_height = 836640; // segwit and one period
    // A block with a spend that is invalid under BIP16.
    c.script_flag_exceptions = {
        {HashFromHex("00000000dd30457c001f4095d208cc1296b0eed002427aa599874af7a432b105"),
         kVerifyNone}};
    c.pow_limit = NumberFromHex("00000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    c.pow_allow_min_difficulty_blocks = true;
    c.deployments = {FixedDeployment(28, Bip9Deployment::kNeverActive, 1512, 2016),
                     TaprootDeployment(0, 1512)};
    c.minimum_chain_work =
        NumberFromHex("0000000000000000000000000000000000000000000017dde1c649f3708d14b6");
    // Height 4,842,348.
    c.assume_valid =
        HashFromHex("000000007a61e4230b28ac5cb6b5e5a0130de37ac1faf2f8987d2fa6505b67f4");
    return c;
}

ConsensusParams Testnet4Consensus()
{
    ConsensusParams c;
    c.bip34_height = 1;
    c.bip65_height = 1;
    c.bip66_height = 1;
    c.csv_height = 1;
    c.segwit_height = 1;
    c.pow_limit = NumberFromHex("00000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    c.pow_allow_min_difficulty_blocks = true;
    c.enforce_bip94 = true;
    c.deployments = {FixedDeployment(28, Bip9Deployment::kNeverActive, 1512, 2016),
                     FixedDeployment(2, Bip9Deployment::kAlwaysActive, 1512, 2016)};
    c.minimum_chain_work =
        NumberFromHex("0000000000000000000000000000000000000000000009a0fe15d0177d086304");
    // Height 123,613.
    c.assume_valid =
        HashFromHex("0000000002368b1e4ee27e2e85676ae6f9f9e69579b29093e9a82c170bf7cf8a");
    return c;
}

} // namespace

ChainParams MakeTestnet3Params()
{
    ChainParams p;
    p.network = Network::kTestnet3;
    p.sub_folder = "testnet3";
    p.consensus = Testnet3Consensus();
    p.magic = {0x0b, 0x11, 0x09, 0x07};
    p.p2p_port = 18333;
    p.rpc_port = 18332;
    p.onion_port = 18334;
    SetGenesis(p, ClassicGenesis(1296688602, 414098458, 0x1d00ffff),
               "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943");
    SetTestPrefixes(p, "tb");
    p.dns_seeds = {"testnet-seed.bitcoin.jonasschnelli.ch.", "seed.tbtc.petertodd.net.",
                   "seed.testnet.bitcoin.sprovoost.nl.", "testnet-seed.bluematt.me.",
                   "seed.testnet.achownodes.xyz."};
    p.assumeutxo = {
        {2'500'000, HashFromHex("f841584909f68e47897952345234e37fcd9128cd818f41ee6c3ca68db8071be7"),
         66484552, HashFromHex("0000000000000093bcb68c03a9a168ae252572d348a2eaeba2cdf9231d73206f")},
        {4'840'000, HashFromHex("ce6bb677bb2ee9789c4a1c9d73e6683c53fc20e8fdbedbdaaf468982a0c8db2a"),
         536078574,
         HashFromHex("00000000000000f4971a7fb37fbdff89315b69a2e1920c467654a382f0d64786")},
    };
    p.chain_tx_data = {1772051651, 536108416, 0.02691479016257117};
    p.prune_after_height = 1000;
    p.assumed_blockchain_size_gb = 245;
    p.assumed_chainstate_size_gb = 19;
    p.headers_sync_commitment_period = 673;
    p.headers_sync_redownload_buffer = 14460;
    return p;
}

ChainParams MakeTestnet4Params()
{
    ChainParams p;
    p.network = Network::kTestnet4;
    p.sub_folder = "testnet4";
    p.consensus = Testnet4Consensus();
    p.magic = {0x1c, 0x16, 0x3f, 0x28};
    p.p2p_port = 48333;
    p.rpc_port = 48332;
    p.onion_port = 48334;
    GenesisFields genesis{1714777860, 393743547, 0x1d00ffff, {}, Bytes(33, 0)};
    genesis.message =
        "03/May/2024 000000000000000000001ebd58c244970b3aa9d783bb001011fbe8ea8e98e00e";
    SetGenesis(p, genesis, "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043");
    SetTestPrefixes(p, "tb");
    p.dns_seeds = {"seed.testnet4.bitcoin.sprovoost.nl.", "seed.testnet4.wiz.biz."};
    p.assumeutxo = {
        {90'000, HashFromHex("784fb5e98241de66fdd429f4392155c9e7db5c017148e66e8fdbc95746f8b9b5"),
         11347043, HashFromHex("0000000002ebe8bcda020e0dd6ccfbdfac531d2f6a81457191b99fc2df2dbe3b")},
        {120'000, HashFromHex("10b05d05ad468d0971162e1b222a4aa66caca89da2bb2a93f8f37fb29c4794b0"),
         14141057, HashFromHex("000000000bd2317e51b3c5794981c35ba894ce27d3e772d5c39ecd9cbce01dc8")},
    };
    p.chain_tx_data = {1772013387, 14191421, 0.01848579579528412};
    p.prune_after_height = 1000;
    p.assumed_blockchain_size_gb = 31;
    p.assumed_chainstate_size_gb = 2;
    p.headers_sync_commitment_period = 606;
    p.headers_sync_redownload_buffer = 16092;
    return p;
}

} // namespace ibd
