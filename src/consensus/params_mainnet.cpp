// See params.h. Main network.
#include "consensus/params_build.h"

namespace ibd {
namespace {

ConsensusParams MainConsensus()
{
    ConsensusParams c;
    c.bip34_height = 227931;
    c.bip34_hash = HashFromHex("000000000000024b89b42a942fe0d9fea3bb44ab7bd1b19115dd6a759c0808b8");
    c.bip65_height = 388381;
    c.bip66_height = 363725;
    c.csv_height = 419328;
    c.segwit_height = 481824;
    c.min_bip9_warning_height = 483840; // segwit and one period
    // A block with a spend that is invalid under BIP16, and one with a spend that is invalid under
    // taproot.
    c.script_flag_exceptions = {
        {HashFromHex("00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22"),
         kVerifyNone},
        {HashFromHex("0000000000000000000f14c35b2d841e986ab5441de8c585d5ffe55ea1e395ad"),
         kVerifyP2sh | kVerifyWitness},
    };
    c.bip30_exceptions = {
        {91722, HashFromHex("00000000000271a2dc26e7667f8419f2e15416dc6955e5a6c6cdf3f2574dd08e"),
         91880, HashFromHex("00000000000743f190a18c5577a3c2d2a1f610ae9601ac046a38084ccb7cd721")},
        {91812, HashFromHex("00000000000af0aed4792b1acee3d966af36cf5def14935db8de83d6f9306f2f"),
         91842, HashFromHex("00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caec")},
    };
    c.pow_limit = NumberFromHex("00000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    c.deployments = {FixedDeployment(28, Bip9Deployment::kNeverActive, 1815, 2016),
                     TaprootDeployment(709632, 1815)};
    c.minimum_chain_work =
        NumberFromHex("0000000000000000000000000000000000000001128750f82f4c366153a3a030");
    // Height 938,343.
    c.assume_valid =
        HashFromHex("00000000000000000000ccebd6d74d9194d8dcdc1d177c478e094bfad51ba5ac");
    return c;
}

std::vector<AssumeutxoData> MainSnapshots()
{
    return {
        {840'000, HashFromHex("a2a5521b1b5ab65f67818e5e8eccabb7171a517f9e2382208f77687310768f96"),
         991032194,
         HashFromHex("0000000000000000000320283a032748cef8227873ff4872689bf23f1cda83a5")},
        {880'000, HashFromHex("dbd190983eaf433ef7c15f78a278ae42c00ef52e0fd2a54953782175fbadcea9"),
         1145604538,
         HashFromHex("000000000000000000010b17283c3c400507969a9c2afd1dcf2082ec5cca2880")},
        {910'000, HashFromHex("4daf8a17b4902498c5787966a2b51c613acdab5df5db73f196fa59a4da2f1568"),
         1226586151,
         HashFromHex("0000000000000000000108970acb9522ffd516eae17acddcb1bd16469194a821")},
        {935'000, HashFromHex("e4b90ef9eae834f56c4b64d2d50143cee10ad87994c614d7d04125e2a6025050"),
         1305397408,
         HashFromHex("0000000000000000000147034958af1652b2b91bba607beacc5e72a56f0fb5ee")},
    };
}

} // namespace

ChainParams MakeMainParams()
{
    ChainParams p;
    p.network = Network::kMain;
    p.sub_folder = "";
    p.consensus = MainConsensus();
    p.magic = {0xf9, 0xbe, 0xb4, 0xd9};
    p.p2p_port = 8333;
    p.rpc_port = 8332;
    p.onion_port = 8334;
    SetGenesis(p, ClassicGenesis(1231006505, 2083236893, 0x1d00ffff),
               "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
    p.pubkey_address_prefix = 0;
    p.script_address_prefix = 5;
    p.secret_key_prefix = 128;
    p.extended_public_prefix = {0x04, 0x88, 0xb2, 0x1e};
    p.extended_secret_prefix = {0x04, 0x88, 0xad, 0xe4};
    p.bech32_hrp = "bc";
    p.dns_seeds = {"dnsseed.bluematt.me.",
                   "seed.bitcoin.jonasschnelli.ch.",
                   "seed.btc.petertodd.net.",
                   "seed.bitcoin.sprovoost.nl.",
                   "dnsseed.emzy.de.",
                   "seed.bitcoin.wiz.biz.",
                   "seed.mainnet.achownodes.xyz."};
    p.assumeutxo = MainSnapshots();
    p.chain_tx_data = {1772055173, 1315805869, 5.40111006496122};
    p.prune_after_height = 100000;
    p.assumed_blockchain_size_gb = 856;
    p.assumed_chainstate_size_gb = 14;
    p.headers_sync_commitment_period = 641;
    p.headers_sync_redownload_buffer = 15218;
    return p;
}

} // namespace ibd
