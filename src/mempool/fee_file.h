// fee_estimates.dat: keeps the data of FeeEstimator between two runs of the node, in Core's format,
// which Core can read and write too (doc/formats/fee_estimates.md). Memory: the whole file, about
// 400 kB.
#pragma once

#include "mempool/fee_estimator.h"
#include "util/env.h"
#include "util/log.h"

namespace ibd {

/** Data that are older than this are not used: fees have changed since. Seconds. */
constexpr int64_t kMaxFeeFileAge = 60 * 60 * 60;

/** Reads the file. If it is missing, too old, damaged or foreign, the estimator starts without data
 *  and the log states the reason. `accept_old`: accept any age (-acceptstalefeeestimates). */
void LoadFees(FeeEstimator& fees, const Path& file, bool accept_old, Env& env, Logger& log);
/** Writes the file; after an error the previous file stays, and the log says so. */
void SaveFees(const FeeEstimator& fees, const Path& file, Env& env, Logger& log);

} // namespace ibd
