// The conditions of assume-valid: when a block's scripts may be skipped, and thus when the booster
// may work up to a block. Pure functions; read the header tree.
#pragma once

#include "chain/header_tree.h"

namespace ibd {

/** Two weeks: the least time, at the best header's rate of work, that must exist above a skipped
 *  block. */
inline constexpr int64_t kAssumeValidBuryTime = 14 * 24 * 60 * 60;

/** Seconds that the work between `from` and `to` takes at the difficulty of `tip`; negative if `to`
 *  has less work; limited to +-2^63-1. */
int64_t BlockProofEquivalentTime(const HeaderNode& to, const HeaderNode& from,
                                 const HeaderNode& tip, const ConsensusParams& params);

/** The reason why a block's scripts must run, or kSkip. */
enum class ScriptCheckReason {
    kSkip,              //!< assumed valid
    kAssumeValidOff,    //!< -assumevalid=0 or none for the network
    kHashNotInHeaders,  //!< the assumed-valid block is unknown
    kAboveAssumeValid,  //!< the block is above the assumed-valid one
    kNotInAssumeValid,  //!< the block is no ancestor of the assumed-valid one
    kNotInBestHeader,   //!< the block is no ancestor of the best header
    kBestHeaderLowWork, //!< the best header has less than the minimum chain work
    kTooRecent,         //!< less than two weeks of work above
};
const char* ScriptCheckReasonText(ScriptCheckReason reason);

/** Decides for connecting `block`, and for hints that end there. `assume_valid`: the hash of
 *  -assumevalid; null: off. `minimum_work`: -minimumchainwork. */
ScriptCheckReason ScriptCheckFor(const HeaderTree& tree, const HeaderNode& block,
                                 const BlockHash& assume_valid, const Arith256& minimum_work);

/** The height up to which the blocks of the chain that ends at `top` are known to be valid: that of
 *  the last one that is `known` or an ancestor of it. 0: `known` is null, not among the headers, or
 *  on another branch. If the scripts of these blocks run nevertheless, signatures may be verified
 *  in batches. */
int32_t KnownHeight(const HeaderTree& tree, const HeaderNode& top, const BlockHash& known);

} // namespace ibd
