// BIP9 version bits with BIP341's minimum activation height. The state of a period follows from the
// states of earlier periods, which the caller keeps in a cache. Functions are pure but for the
// cache, which one thread at a time may use.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace ibd {

enum class ThresholdState { kDefined, kStarted, kLockedIn, kActive, kFailed };

/** "defined", "started", "locked_in", "active", "failed". */
const char* ThresholdStateName(ThresholdState state);

inline constexpr uint32_t kVersionBitsTopMask = 0xe0000000;
inline constexpr uint32_t kVersionBitsTop = 0x20000000;
/** Bits 0 to 4 may signal a soft fork. Bits 5 to 28 are nonce space for miners (BIP 323) and are
 *  ignored unless a deployment uses them. */
inline constexpr int kSignallingBits = 5;

/** States by the hash of the last block of a period, for the period after it. */
using ThresholdCache = std::map<BlockHash, ThresholdState>;

/** Whether a block of this version signals for the deployment. */
bool Signals(int32_t version, const Bip9Deployment& deployment);

/** State for the block after `prev` (may be empty: genesis). */
ThresholdState DeploymentState(const Ancestry& prev, const Bip9Deployment& deployment,
                               ThresholdCache& cache);

/** First height of the period in which that state began; 0 for kDefined. */
int DeploymentStateSince(const Ancestry& prev, const Bip9Deployment& deployment,
                         ThresholdCache& cache);

/** Signalling in the period that the highest block of `branch` is in. */
struct Bip9Stats {
    int period = 0;
    int threshold = 0;
    int elapsed = 0; //!< blocks of the period so far
    int count = 0;   //!< signalling ones
    bool possible = false;
};
/** `signals`: may be null; gets one entry for each elapsed block. */
Bip9Stats DeploymentStats(const Ancestry& branch, const Bip9Deployment& deployment,
                          std::vector<bool>* signals = nullptr);

/** Caches for all deployments and for the warning about unknown bits. */
struct VersionBitsCache {
    std::array<ThresholdCache, kDeploymentCount> deployments;
    std::array<ThresholdCache, kSignallingBits> unknown_bits;
};

/** Whether the deployment is active for the block after `prev`. */
bool DeploymentActive(const Ancestry& prev, const ConsensusParams& params, DeploymentId id,
                      VersionBitsCache& cache);

/** Version for a new block after `prev`: the top bits and those of pending deployments. */
int32_t ComputeBlockVersion(const Ancestry& prev, const ConsensusParams& params,
                            VersionBitsCache& cache);

/** Unknown bits that are locked in (false) or active (true) after `tip`. The threshold is 90 % of
 *  2016 blocks; on test networks 75 % of a retarget period. */
std::vector<std::pair<int, bool>> UnknownActivations(const Ancestry& tip, const ChainParams& params,
                                                     VersionBitsCache& cache);

} // namespace ibd
