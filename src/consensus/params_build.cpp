// See params_build.h.
#include "consensus/params_build.h"

#include "consensus/merkle.h"
#include "primitives/transaction.h"
#include "script/script.h"
#include "util/check.h"
#include "util/hex.h"

namespace ibd {
namespace {

MutableTransaction GenesisCoinbase(const GenesisFields& fields)
{
    MutableTransaction tx;
    tx.version = 1;
    MutableInput input;
    AppendPushInt(input.script_sig, 0x1d00ffff);
    AppendPush(input.script_sig, EncodeScriptNum(4));
    AppendPush(input.script_sig, AsBytes(fields.message));
    tx.inputs.push_back(std::move(input));
    MutableOutput output;
    output.value = 50 * kCoin;
    AppendPush(output.script_pubkey, fields.key);
    output.script_pubkey.push_back(OP_CHECKSIG);
    tx.outputs.push_back(std::move(output));
    return tx;
}

} // namespace

Uint256 HashFromHex(std::string_view text)
{
    const auto hash = Uint256::FromHex(text);
    CHECK(hash);
    return *hash;
}

Arith256 NumberFromHex(std::string_view text)
{
    const auto number = Arith256::FromHex(text);
    CHECK(number);
    return *number;
}

GenesisFields ClassicGenesis(uint32_t time, uint32_t nonce, uint32_t bits)
{
    GenesisFields fields{time, nonce, bits, {}, {}};
    fields.message = "The Times 03/Jan/2009 Chancellor on brink of second bailout for banks";
    fields.key = *FromHex("04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb6"
                          "49f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f");
    return fields;
}

void SetGenesis(ChainParams& params, const GenesisFields& fields, std::string_view hash)
{
    const MutableTransaction coinbase = GenesisCoinbase(fields);
    GenesisBlock& genesis = params.genesis;
    genesis.header.version = 1;
    genesis.header.merkle_root = coinbase.Id();
    genesis.header.time = fields.time;
    genesis.header.bits = fields.bits;
    genesis.header.nonce = fields.nonce;
    genesis.hash = genesis.header.Hash();
    CHECK(genesis.hash == HashFromHex(hash));
    Append(genesis.raw, genesis.header.ToBytes());
    genesis.raw.push_back(1);
    Append(genesis.raw, coinbase.Serialize());
    params.consensus.genesis_hash = genesis.hash;
}

void SetTestPrefixes(ChainParams& params, std::string_view hrp)
{
    params.pubkey_address_prefix = 111;
    params.script_address_prefix = 196;
    params.secret_key_prefix = 239;
    params.extended_public_prefix = {0x04, 0x35, 0x87, 0xcf};
    params.extended_secret_prefix = {0x04, 0x35, 0x83, 0x94};
    params.bech32_hrp = hrp;
    params.is_test_chain = true;
}

Bip9Deployment FixedDeployment(int bit, int64_t start, int threshold, int period)
{
    return {bit, start, Bip9Deployment::kNoTimeout, 0, threshold, period};
}

Bip9Deployment TaprootDeployment(int min_activation_height, int threshold)
{
    constexpr int64_t kStart = 1619222400;   // 24 April 2021
    constexpr int64_t kTimeout = 1628640000; // 11 August 2021
    return {2, kStart, kTimeout, min_activation_height, threshold, 2016};
}

void ApplyDeploymentOptions(ConsensusParams& c, const NetworkOptions& options)
{
    for (const auto& [deployment, height] : options.activation_heights) {
        switch (deployment) {
        case BuriedDeployment::kHeightInCoinbase: c.bip34_height = height; break;
        case BuriedDeployment::kDerSig: c.bip66_height = height; break;
        case BuriedDeployment::kCltv: c.bip65_height = height; break;
        case BuriedDeployment::kCsv: c.csv_height = height; break;
        case BuriedDeployment::kSegwit: c.segwit_height = height; break;
        }
    }
    for (const VersionBitsOption& option : options.version_bits) {
        Bip9Deployment& deployment = c.deployments[static_cast<size_t>(option.deployment)];
        deployment.start_time = option.start_time;
        deployment.timeout = option.timeout;
        deployment.min_activation_height = option.min_activation_height;
    }
}

} // namespace ibd
