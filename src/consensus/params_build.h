// Helpers that fill in ChainParams, for the files of this module only.
#pragma once

#include "consensus/params.h"

namespace ibd {

/** Parse 64 hex digits; any other text is a bug. */
Uint256 HashFromHex(std::string_view text);
Arith256 NumberFromHex(std::string_view text);

/** The fields in which genesis blocks differ. The coinbase pays 50 BTC to one key. */
struct GenesisFields {
    uint32_t time = 0;
    uint32_t nonce = 0;
    uint32_t bits = 0;
    std::string_view message; //!< in the coinbase script
    Bytes key;                //!< pushed in the output script, then OP_CHECKSIG
};
/** Message and key of the first four networks. */
GenesisFields ClassicGenesis(uint32_t time, uint32_t nonce, uint32_t bits);

/** Builds the block and checks its hash. */
void SetGenesis(ChainParams& params, const GenesisFields& fields, std::string_view hash);

/** Key and address prefixes shared by all test networks. */
void SetTestPrefixes(ChainParams& params, std::string_view hrp);

/** A deployment whose outcome is final. */
Bip9Deployment FixedDeployment(int bit, int64_t start, int threshold, int period);
/** The taproot deployment on networks that signalled it. */
Bip9Deployment TaprootDeployment(int min_activation_height, int threshold);

/** Applies -testactivationheight and -vbparams, which every network accepts. */
void ApplyDeploymentOptions(ConsensusParams& consensus, const NetworkOptions& options);

ChainParams MakeMainParams();
ChainParams MakeTestnet3Params();
ChainParams MakeTestnet4Params();
ChainParams MakeSignetParams(const NetworkOptions& options);
ChainParams MakeRegtestParams(const NetworkOptions& options);

} // namespace ibd
