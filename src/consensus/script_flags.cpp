// See script_flags.h.
#include "consensus/script_flags.h"

#include "consensus/limits.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

ScriptFlags BlockScriptFlags(int height, const BlockHash& hash, const ConsensusParams& params)
{
    // Only the listed blocks break P2SH, witness or taproot rules, so these are in force from
    // genesis on.
    ScriptFlags flags = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    const auto exception = params.script_flag_exceptions.find(hash);
    if (exception != params.script_flag_exceptions.end()) flags = exception->second;
    if (BuriedActive(height, params, BuriedDeployment::kDerSig)) flags |= kVerifyDerSig;
    if (BuriedActive(height, params, BuriedDeployment::kCltv)) flags |= kVerifyCltv;
    if (BuriedActive(height, params, BuriedDeployment::kCsv)) flags |= kVerifyCsv;
    if (BuriedActive(height, params, BuriedDeployment::kSegwit)) flags |= kVerifyNullDummy;
    return flags;
}

int BuriedHeight(const ConsensusParams& params, BuriedDeployment deployment)
{
    switch (deployment) {
    case BuriedDeployment::kHeightInCoinbase: return params.bip34_height;
    case BuriedDeployment::kDerSig: return params.bip66_height;
    case BuriedDeployment::kCltv: return params.bip65_height;
    case BuriedDeployment::kCsv: return params.csv_height;
    case BuriedDeployment::kSegwit: return params.segwit_height;
    }
    CHECK(false);
}

bool BuriedActive(int height, const ConsensusParams& params, BuriedDeployment deployment)
{
    return height >= BuriedHeight(params, deployment);
}

bool Bip34ImpliesBip30(int height, const BlockHash& bip34_ancestor, const ConsensusParams& params)
{
    return height < kBip34ImpliesBip30Limit && !bip34_ancestor.IsNull() &&
           bip34_ancestor == params.bip34_hash;
}

bool IsBip30Repeat(int height, const BlockHash& hash, const ConsensusParams& params)
{
    return std::any_of(
        params.bip30_exceptions.begin(), params.bip30_exceptions.end(),
        [&](const auto& e) { return e.repeat_height == height && e.repeat_hash == hash; });
}

bool Bip30Enforced(int height, const BlockHash& hash, const BlockHash& bip34_ancestor,
                   const ConsensusParams& params)
{
    return !IsBip30Repeat(height, hash, params) &&
           !Bip34ImpliesBip30(height, bip34_ancestor, params);
}

bool IsBip30Unspendable(int height, const BlockHash& hash, const ConsensusParams& params)
{
    return std::any_of(params.bip30_exceptions.begin(), params.bip30_exceptions.end(),
                       [&](const auto& e) {
                           return e.overwritten_height == height && e.overwritten_hash == hash;
                       });
}

} // namespace ibd
