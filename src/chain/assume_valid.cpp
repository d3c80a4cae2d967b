// See assume_valid.h.
#include "chain/assume_valid.h"

#include "consensus/pow.h"
#include "util/check.h"

#include <limits>

namespace ibd {

int64_t BlockProofEquivalentTime(const HeaderNode& to, const HeaderNode& from,
                                 const HeaderNode& tip, const ConsensusParams& params)
{
    const bool forward = to.chain_work > from.chain_work;
    Arith256 time = forward ? to.chain_work - from.chain_work : from.chain_work - to.chain_work;
    time *= Arith256(static_cast<uint64_t>(params.pow_target_spacing));
    time /= BlockWork(tip.bits);
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t seconds = time.BitLength() > 63 ? kMost : static_cast<int64_t>(time.Low64());
    return forward ? seconds : -seconds;
}

const char* ScriptCheckReasonText(ScriptCheckReason reason)
{
    switch (reason) {
    case ScriptCheckReason::kSkip: return "assumed valid";
    case ScriptCheckReason::kAssumeValidOff: return "assumevalid=0 (always verify)";
    case ScriptCheckReason::kHashNotInHeaders: return "assumevalid hash not in headers";
    case ScriptCheckReason::kAboveAssumeValid: return "block height above assumevalid height";
    case ScriptCheckReason::kNotInAssumeValid: return "block not in assumevalid chain";
    case ScriptCheckReason::kNotInBestHeader: return "block not in best header chain";
    case ScriptCheckReason::kBestHeaderLowWork:
        return "best header chainwork below minimumchainwork";
    case ScriptCheckReason::kTooRecent: return "block too recent relative to best header";
    }
    CHECK(false);
}

ScriptCheckReason ScriptCheckFor(const HeaderTree& tree, const HeaderNode& block,
                                 const BlockHash& assume_valid, const Arith256& minimum_work)
{
    if (assume_valid.IsNull()) return ScriptCheckReason::kAssumeValidOff;
    const HeaderNode* assumed = tree.Find(assume_valid);
    if (!assumed) return ScriptCheckReason::kHashNotInHeaders;
    if (block.height > assumed->height) return ScriptCheckReason::kAboveAssumeValid;
    if (assumed->Ancestor(block.height) != &block) return ScriptCheckReason::kNotInAssumeValid;
    const HeaderNode& best = *tree.BestHeader();
    if (best.Ancestor(block.height) != &block) return ScriptCheckReason::kNotInBestHeader;
    if (best.chain_work < minimum_work) return ScriptCheckReason::kBestHeaderLowWork;
    // Against a short branch with an invalid script: an attacker has to spend two weeks of work at
    // the present rate on it.
    const auto& consensus = tree.Params().consensus;
    if (BlockProofEquivalentTime(best, block, best, consensus) <= kAssumeValidBuryTime) {
        return ScriptCheckReason::kTooRecent;
    }
    return ScriptCheckReason::kSkip;
}

int32_t KnownHeight(const HeaderTree& tree, const HeaderNode& top, const BlockHash& known)
{
    const HeaderNode* const fork = LastCommonAncestor(&top, tree.Find(known));
    return fork != nullptr ? fork->height : 0;
}

} // namespace ibd
