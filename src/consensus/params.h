// ChainParams: the parameters of a network. Built once by a factory at start-up, then immutable and
// shared by reference; any thread. Values are those of Bitcoin Core v31 (assumed-valid block,
// minimum work, snapshots) unless a comment says otherwise.
#pragma once

#include "consensus/params_deployments.h"
#include "primitives/arith256.h"
#include "primitives/block.h"
#include "script/verify_flags.h"
#include "util/result.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ibd {

enum class Network { kMain, kTestnet3, kTestnet4, kSignet, kRegtest };

/** A coinbase repeated before BIP30 was enforced: the later block overwrote the earlier coin. */
struct Bip30Exception {
    int overwritten_height; //!< its coinbase outputs were lost
    BlockHash overwritten_hash;
    int repeat_height; //!< the block that is exempt from BIP30
    BlockHash repeat_hash;
};

struct ConsensusParams {
    BlockHash genesis_hash;
    int subsidy_halving_interval = 210'000; //!< blocks

    // Heights from which a rule is enforced.
    int bip34_height = 0; //!< height in the coinbase
    BlockHash bip34_hash; //!< block at bip34_height; null where BIP30 is always checked
    int bip65_height = 0;
    int bip66_height = 0;
    int csv_height = 0;              //!< BIP68, BIP112, BIP113
    int segwit_height = 0;           //!< BIP141, BIP143, BIP147
    int min_bip9_warning_height = 0; //!< unknown version bits count from here on

    /** Blocks whose scripts are checked with these flags instead of the base set, and with the
     *  flags of buried deployments. */
    std::map<BlockHash, ScriptFlags> script_flag_exceptions;
    std::vector<Bip30Exception> bip30_exceptions;

    // Proof of work.
    Arith256 pow_limit;
    int64_t pow_target_timespan = 14 * 24 * 60 * 60; //!< seconds
    int64_t pow_target_spacing = 600;                //!< seconds
    bool pow_allow_min_difficulty_blocks = false;
    bool pow_no_retargeting = false;
    bool enforce_bip94 = false;
    int DifficultyAdjustmentInterval() const
    {
        return static_cast<int>(pow_target_timespan / pow_target_spacing);
    }

    std::array<Bip9Deployment, kDeploymentCount> deployments; //!< index: DeploymentId
    const Bip9Deployment& Deployment(DeploymentId id) const
    {
        return deployments[static_cast<size_t>(id)];
    }

    Arith256 minimum_chain_work; //!< a chain with less work is not downloaded
    BlockHash assume_valid;      //!< scripts of its ancestors may be skipped; null: none

    bool signet_blocks = false; //!< every block carries a solution of signet_challenge (BIP325)
    Bytes signet_challenge;     //!< script
};

/** A UTXO snapshot that `loadtxoutset` accepts. */
struct AssumeutxoData {
    int height = 0;
    Uint256 hash_serialized; //!< of the coins, as gettxoutsetinfo hash_serialized_3
    uint64_t chain_tx_count = 0;
    BlockHash block_hash; //!< null (-assumeutxo): any block of that height
};

/** Measured rate of transactions, for the estimate of progress. */
struct ChainTxData {
    int64_t time = 0;      //!< seconds since 1970 of the last known total
    uint64_t tx_count = 0; //!< transactions in the chain up to then
    double tx_rate = 0;    //!< per second after it
};

/** The first block, whole: header and its single coinbase. */
struct GenesisBlock {
    BlockHeader header;
    BlockHash hash;
    Bytes raw; //!< serialized block
};

struct ChainParams {
    Network network = Network::kMain;
    std::string name;       //!< as getblockchaininfo "chain": main, test, testnet4, signet, regtest
    std::string sub_folder; //!< below the data directory: "", testnet3, testnet4, signet, regtest
    ConsensusParams consensus;
    std::array<uint8_t, 4> magic{}; //!< first bytes of messages and of block file records
    uint16_t p2p_port = 0;
    uint16_t rpc_port = 0;
    uint16_t onion_port = 0; //!< local target of the hidden service
    GenesisBlock genesis;

    // Prefixes of keys and addresses, before Base58Check encoding.
    uint8_t pubkey_address_prefix = 0;               //!< P2PKH
    uint8_t script_address_prefix = 0;               //!< P2SH
    uint8_t secret_key_prefix = 0;                   //!< wallet import format
    std::array<uint8_t, 4> extended_public_prefix{}; //!< BIP32
    std::array<uint8_t, 4> extended_secret_prefix{}; //!< BIP32
    std::string bech32_hrp;                          //!< human-readable part (BIP173, BIP350)

    std::vector<std::string> dns_seeds; //!< host names
    std::vector<AssumeutxoData> assumeutxo;
    ChainTxData chain_tx_data;
    uint64_t prune_after_height = 0;         //!< -prune deletes nothing until the tip is above it
    uint64_t assumed_blockchain_size_gb = 0; //!< of all blocks, 10^9 bytes, to estimate disk space
    uint64_t assumed_chainstate_size_gb = 0; //!< of the chainstate, 10^9 bytes
    bool default_consistency_checks = false; //!< of -checkblockindex and the like in Core
    bool is_test_chain = false;
    bool is_mockable = false; //!< allows setmocktime and mockscheduler
    // Memory bounds of a HeaderSync with one peer (net/peer/header_sync.h).
    int headers_sync_commitment_period = 0; //!< headers for each stored commitment bit
    int headers_sync_redownload_buffer = 0; //!< headers held back until this many follow them

    const AssumeutxoData* AssumeutxoAt(int height) const;
    const AssumeutxoData* AssumeutxoFor(const BlockHash& block_hash) const;
};

/** -vbparams of one deployment. */
struct VersionBitsOption {
    DeploymentId deployment = DeploymentId::kTestDummy;
    int64_t start_time = 0;
    int64_t timeout = 0;
    int min_activation_height = 0;
};

/** Options that change a network. Other networks than the named ones ignore them. */
struct NetworkOptions {
    std::vector<AssumeutxoData> assumeutxo; //!< -assumeutxo, in addition; not on the main network
    // signet
    std::optional<Bytes> signet_challenge;             //!< -signetchallenge
    std::optional<std::vector<std::string>> dns_seeds; //!< -signetseednode
    // any network; the node refuses them on the main network
    std::map<BuriedDeployment, int> activation_heights; //!< -testactivationheight
    std::vector<VersionBitsOption> version_bits;        //!< -vbparams
    // regtest
    bool fast_prune = false;    //!< -fastprune
    bool enforce_bip94 = false; //!< -test=bip94
};

ChainParams MakeChainParams(Network network, const NetworkOptions& options = {});

/** Adds one "-assumeutxo=height:hash:txcount". */
Result<> ParseAssumeutxo(const std::string& value, NetworkOptions& options);
/** Adds one "-testactivationheight=name@height"; the error is the line Core prints. */
Result<> ParseTestActivationHeight(const std::string& value, NetworkOptions& options);
/** Adds one "-vbparams=deployment:start:end[:min_activation_height]". */
Result<> ParseVersionBitsParameters(const std::string& value, NetworkOptions& options);

/** "main", "test", "testnet4", "signet", "regtest". */
const char* NetworkName(Network network);
/** Inverse of NetworkName. */
std::optional<Network> NetworkFromName(const std::string& name);
/** The public network with these four magic bytes; a custom signet has none. */
std::optional<Network> NetworkFromMagic(const std::array<uint8_t, 4>& magic);

} // namespace ibd
