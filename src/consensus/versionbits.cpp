// See versionbits.h.
#include "consensus/versionbits.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {
namespace {

/** Height of the last block of the period before the one that follows `prev`; -1: none. */
int PeriodEnd(int prev, int period) { return prev - (prev + 1) % period; }

/** The state machine of a deployment. `Count(end)` returns the number of signalling blocks in the
 *  period that ends at that height. */
template <typename Count>
class StateMachine {
public:
    StateMachine(const Ancestry& chain, const Bip9Deployment& deployment, ThresholdCache& cache,
                 Count count)
        : m_chain(chain), m_deployment(deployment), m_cache(cache), m_count(std::move(count))
    {
    }

    /** State for the block after the one at `prev` (-1: for genesis). */
    ThresholdState At(int prev)
    {
        if (m_deployment.start_time == Bip9Deployment::kAlwaysActive) {
            return ThresholdState::kActive;
        }
        if (m_deployment.start_time == Bip9Deployment::kNeverActive) {
            return ThresholdState::kFailed;
        }
        int end = PeriodEnd(prev, m_deployment.period);
        std::vector<int> unknown;
        ThresholdState state = ThresholdState::kDefined;
        for (; end >= 0; end -= m_deployment.period) {
            const auto known = m_cache.find(m_chain.HashAt(end));
            if (known != m_cache.end()) {
                state = known->second;
                break;
            }
            if (m_chain.MedianTimePast(end) < m_deployment.start_time) {
                m_cache[m_chain.HashAt(end)] = ThresholdState::kDefined;
                break;
            }
            unknown.push_back(end);
        }
        for (auto it = unknown.rbegin(); it != unknown.rend(); ++it) {
            state = Next(state, *it);
            m_cache[m_chain.HashAt(*it)] = state;
        }
        return state;
    }

private:
    /** The state of the period after `end`, given that of the period which ends there. */
    ThresholdState Next(ThresholdState state, int end)
    {
        switch (state) {
        case ThresholdState::kDefined:
            return m_chain.MedianTimePast(end) >= m_deployment.start_time ? ThresholdState::kStarted
                                                                          : state;
        case ThresholdState::kStarted: {
            if (m_count(end) >= m_deployment.threshold) return ThresholdState::kLockedIn;
            return m_chain.MedianTimePast(end) >= m_deployment.timeout ? ThresholdState::kFailed
                                                                       : state;
        }
        case ThresholdState::kLockedIn:
            return end + 1 >= m_deployment.min_activation_height ? ThresholdState::kActive : state;
        case ThresholdState::kActive:
        case ThresholdState::kFailed: return state;
        }
        CHECK(false);
    }

    const Ancestry& m_chain;
    const Bip9Deployment& m_deployment;
    ThresholdCache& m_cache;
    Count m_count;
};

ThresholdState StateAfter(const Ancestry& chain, int prev, const Bip9Deployment& deployment,
                          ThresholdCache& cache)
{
    const auto count = [&](int end) {
        int signalling = 0;
        for (int i = 0; i < deployment.period; ++i) {
            signalling += Signals(chain.At(end - i).version, deployment) ? 1 : 0;
        }
        return signalling;
    };
    return StateMachine(chain, deployment, cache, count).At(prev);
}

int32_t BlockVersionAfter(const Ancestry& chain, int prev, const ConsensusParams& params,
                          VersionBitsCache& cache)
{
    uint32_t version = kVersionBitsTop;
    for (size_t i = 0; i < kDeploymentCount; ++i) {
        const Bip9Deployment& deployment = params.deployments[i];
        const auto state = StateAfter(chain, prev, deployment, cache.deployments[i]);
        if (state == ThresholdState::kStarted || state == ThresholdState::kLockedIn) {
            version |= uint32_t{1} << deployment.bit;
        }
    }
    return static_cast<int32_t>(version);
}

bool HasBit(int32_t version, int bit)
{
    const auto bits = static_cast<uint32_t>(version);
    return (bits & kVersionBitsTopMask) == kVersionBitsTop && ((bits >> bit) & 1) != 0;
}

} // namespace

const char* ThresholdStateName(ThresholdState state)
{
    switch (state) {
    case ThresholdState::kDefined: return "defined";
    case ThresholdState::kStarted: return "started";
    case ThresholdState::kLockedIn: return "locked_in";
    case ThresholdState::kActive: return "active";
    case ThresholdState::kFailed: return "failed";
    }
    CHECK(false);
}

bool Signals(int32_t version, const Bip9Deployment& deployment)
{
    return HasBit(version, deployment.bit);
}

ThresholdState DeploymentState(const Ancestry& prev, const Bip9Deployment& deployment,
                               ThresholdCache& cache)
{
    return StateAfter(prev, prev.Height(), deployment, cache);
}

int DeploymentStateSince(const Ancestry& prev, const Bip9Deployment& deployment,
                         ThresholdCache& cache)
{
    if (deployment.start_time == Bip9Deployment::kAlwaysActive ||
        deployment.start_time == Bip9Deployment::kNeverActive) {
        return 0;
    }
    const ThresholdState state = DeploymentState(prev, deployment, cache);
    if (state == ThresholdState::kDefined) return 0;
    int end = PeriodEnd(prev.Height(), deployment.period);
    while (end >= deployment.period &&
           StateAfter(prev, end - deployment.period, deployment, cache) == state) {
        end -= deployment.period;
    }
    return end + 1;
}

Bip9Stats DeploymentStats(const Ancestry& branch, const Bip9Deployment& deployment,
                          std::vector<bool>* signals)
{
    Bip9Stats stats;
    stats.period = deployment.period;
    stats.threshold = deployment.threshold;
    const int height = branch.Height();
    if (signals) signals->clear();
    if (height < 0) return stats;
    stats.elapsed = 1 + height % deployment.period;
    for (int h = height - stats.elapsed + 1; h <= height; ++h) {
        const bool signal = Signals(branch.At(h).version, deployment);
        stats.count += signal ? 1 : 0;
        if (signals) signals->push_back(signal);
    }
    stats.possible = stats.period - stats.threshold >= stats.elapsed - stats.count;
    return stats;
}

bool DeploymentActive(const Ancestry& prev, const ConsensusParams& params, DeploymentId id,
                      VersionBitsCache& cache)
{
    return DeploymentState(prev, params.Deployment(id),
                           cache.deployments[static_cast<size_t>(id)]) == ThresholdState::kActive;
}

int32_t ComputeBlockVersion(const Ancestry& prev, const ConsensusParams& params,
                            VersionBitsCache& cache)
{
    return BlockVersionAfter(prev, prev.Height(), params, cache);
}

namespace {

using BitCounts = std::array<int, kSignallingBits>;

/** The number of blocks, in the period that ends at `end`, that set each bit without a deployment.
 */
BitCounts CountUnknownBits(const Ancestry& chain, int end, int period,
                           const ConsensusParams& params, VersionBitsCache& cache)
{
    constexpr uint32_t kCounted = (uint32_t{1} << kSignallingBits) - 1;
    const int first = std::max(end - period + 1, params.min_bip9_warning_height);
    BitCounts counts{};
    if (end < first) return counts;
    chain.WalkDown(end, [&](int height, const HeaderFacts& facts) {
        const auto version = static_cast<uint32_t>(facts.version);
        if ((version & kVersionBitsTopMask) != kVersionBitsTop || (version & kCounted) == 0) {
            return height > first;
        }
        const auto known =
            static_cast<uint32_t>(BlockVersionAfter(chain, height - 1, params, cache));
        for (size_t bit = 0; bit < counts.size(); ++bit) {
            counts[bit] += static_cast<int>((version & ~known) >> bit & 1);
        }
        return height > first;
    });
    return counts;
}

} // namespace

std::vector<std::pair<int, bool>> UnknownActivations(const Ancestry& tip, const ChainParams& params,
                                                     VersionBitsCache& cache)
{
    const ConsensusParams& consensus = params.consensus;
    Bip9Deployment any;
    any.start_time = 0;
    any.timeout = Bip9Deployment::kNoTimeout;
    if (params.is_test_chain) {
        any.period = consensus.DifficultyAdjustmentInterval();
        any.threshold = any.period * 3 / 4;
    } else {
        any.period = 2016;
        any.threshold = 1815; // 90 %, rounded up
    }
    std::map<int, BitCounts> periods; // each is walked once for all bits
    std::vector<std::pair<int, bool>> found;
    for (int bit = 0; bit < kSignallingBits; ++bit) {
        any.bit = bit;
        const auto count = [&](int end) {
            auto known = periods.find(end);
            if (known == periods.end()) {
                const BitCounts counts = CountUnknownBits(tip, end, any.period, consensus, cache);
                known = periods.emplace(end, counts).first;
            }
            return known->second[static_cast<size_t>(bit)];
        };
        const auto state =
            StateMachine(tip, any, cache.unknown_bits[size_t(bit)], count).At(tip.Height());
        if (state == ThresholdState::kActive || state == ThresholdState::kLockedIn) {
            found.emplace_back(bit, state == ThresholdState::kActive);
        }
    }
    return found;
}

} // namespace ibd
