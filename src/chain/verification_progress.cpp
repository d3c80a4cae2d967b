// See verification_progress.h.
#include "chain/verification_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ibd {

namespace {

/** A block is recent if its time differs from now by at most this, in either direction. */
constexpr int64_t kRecentSeconds = 2 * 60 * 60;

/** Seconds of the chain that are missing: those since the block, or for a recent block those of the
 *  headers above it. */
int64_t MissingSeconds(const ConsensusParams& params, const ProgressInput& input)
{
    const int64_t seconds = input.now - input.block_time;
    const bool recent = std::abs(seconds) <= kRecentSeconds && input.blocks_above >= 0;
    return recent ? input.blocks_above * params.pow_target_spacing : seconds;
}

} // namespace

double VerificationProgress(const ChainParams& params, const ProgressInput& input)
{
    if (input.tx_count == 0) return 0;
    const ChainTxData& data = params.chain_tx_data;
    const auto done = static_cast<double>(input.tx_count);
    const bool below_data = input.tx_count <= data.tx_count;
    const double from = below_data ? static_cast<double>(data.tx_count) : done;
    const int64_t seconds =
        below_data ? input.now - data.time : MissingSeconds(params.consensus, input);
    return std::min(done / (from + static_cast<double>(seconds) * data.tx_rate), 1.0);
}

// Up to the known total the estimate is a power of the chain's age that matches the known total and
// rate at its end, because chains grow ever faster. The exponent is at least 1, as test networks
// have slowed down.
double EstimatedTxs(const ChainParams& params, int64_t block_time)
{
    const ChainTxData& data = params.chain_tx_data;
    if (data.tx_count == 0) return 0;
    const auto total = static_cast<double>(data.tx_count);
    const auto later = static_cast<double>(block_time - data.time);
    if (later >= 0) return total + later * data.tx_rate;
    const auto age = static_cast<double>(data.time - int64_t{params.genesis.header.time});
    const double exponent = std::max(1.0, data.tx_rate * age / total);
    return total * std::pow(std::max(0.0, 1 + later / age), exponent);
}

} // namespace ibd
