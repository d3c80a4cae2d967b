// See size_estimate.h.
#include "booster/size_estimate.h"

#include "consensus/limits.h"

#include <algorithm>

namespace ibd {

namespace {

/** Above this share of the chain, only its own figures count. */
constexpr double kTrustedShare = 0.1;

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

} // namespace

// Blocks grow, so the average block so far says little about later ones; the average transaction
// hardly changes, and their number is known from the times of the headers. Without such figures the
// average block is the best estimate.
uint64_t EstimateMissing(size_t missing, const ExpectedBlocks& expected, const SeenBlocks& seen)
{
    const auto blocks = static_cast<double>(missing);
    const bool unknown = expected.usual_bytes == 0;
    const double assumed =
        blocks * static_cast<double>(unknown ? kGuessedBlockBytes : expected.usual_bytes);
    if (seen.blocks == 0) return static_cast<uint64_t>(assumed);
    const auto bytes = static_cast<double>(seen.bytes);
    const auto count = static_cast<double>(seen.blocks);
    double measured = blocks * bytes / count;
    double share = Ratio(count, count + blocks);
    const double txs_left = expected.txs - seen.txs - seen.txs_elsewhere;
    if (seen.txs > 0 && txs_left > 0) {
        measured = std::min(bytes / seen.txs * txs_left, blocks * double{kMaxBlockWeight});
        share = Ratio(seen.txs, seen.txs + txs_left);
    }
    const double trust = unknown ? 1 : std::min(share / kTrustedShare, 1.0);
    return static_cast<uint64_t>(trust * measured + (1 - trust) * assumed);
}

} // namespace ibd
