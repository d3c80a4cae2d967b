// The gate of assume-valid: when a block's scripts may be skipped, and with them when the booster
// may work up to a block. Pure functions over the header tree; a reader of it.
#pragma once

#include "chain/header_tree.h"

namespace ibd {

/** Two weeks: how deep, in time the best header's rate of work would take, a block must lie. */
inline constexpr int64_t kAssumeValidBuryTime = 14 * 24 * 60 * 60;

/** Seconds that the work between `from` and `to` would take at the difficulty of `tip`; negative
 *  if `to` has less work; limited to +-2^63-1. */
int64_t BlockProofEquivalentTime(const HeaderNode& to, const HeaderNode& from,
                                 const HeaderNode& tip, const ConsensusParams& params);

/** Why a block's scripts must be run, or that they need not. */
enum class ScriptCheckReason {
    kSkip,              //!< assumed valid
    kAssumeValidOff,    //!< -assumevalid=0 or none for the network
    kHashNotInHeaders,  //!< the assumed-valid block is not known yet
    kAboveAssumeValid,  //!< the block is higher than it
    kNotInAssumeValid,  //!< the block is no ancestor of it
    kNotInBestHeader,   //!< the block is no ancestor of the best header
    kBestHeaderLowWork, //!< the best header has less than the minimum chain work
    kTooRecent,         //!< less than two weeks of work on top
};
const char* ScriptCheckReasonText(ScriptCheckReason reason);

/** Gate for connecting `block`, and for hints that end there. `assume_valid`: -assumevalid's hash,
 *  null to turn it off. `minimum_work`: -minimumchainwork. */
ScriptCheckReason ScriptCheckFor(const HeaderTree& tree, const HeaderNode& block,
                                 const BlockHash& assume_valid, const Arith256& minimum_work);

} // namespace ibd
