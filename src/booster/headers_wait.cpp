// See headers_wait.h.
#include "booster/headers_wait.h"

#include "booster/headers_watch.h"

#include <algorithm>
#include <utility>

namespace ibd {

HintsStanding HeadersWait::Wait(const Judge& judge, std::optional<uint64_t> needed,
                                std::vector<WorkStep> then, BlockFetcher& peers,
                                const StillWaiting& waits)
{
    then.insert(then.begin(), WorkStep::kHeaders);
    const auto best = [this] { return m_parts.chain->Read().Tree().BestHeader(); };
    const uint64_t expected = needed.value_or(Expected(*best()));
    m_plan.SetWaiting(std::move(then), expected);
    ProgressMeter meter(m_parts.env, m_parts.log,
                        {.label = "IBD Booster: waiting for headers",
                         .unit = "headers",
                         .total = expected,
                         .to = m_parts.Booster().progress,
                         .step = WorkStep::kHeaders});
    HeadersWatch watch(m_parts.env.MonotonicMicros());
    HintsStanding standing;
    std::string why; // reason for waiting
    do {
        const int32_t height = best()->height;
        const size_t count = peers.PeerCount();
        const HeaderAnswers answers = peers.AskForLastHeaders();
        std::string detail = count ? fmt::format("{} peers", count) : "no peers";
        if (answers.complete > 0) detail = Describe(answers);
        if (!needed) meter.SetTotal(Expected(*best()));
        meter.Update(static_cast<uint64_t>(height), detail);
        m_parts.watch.ShowHeaders(height);
        standing = judge();
        if (!standing.may_change ||
            !watch.HaveEnded(height, answers, m_parts.env.MonotonicMicros()))
            continue;
        const std::string now = WhyStillWaiting(waits);
        if (now.empty()) {
            standing.may_change = false;
            m_parts.log.Info("IBD Booster: the headers end at height {}: {}", height,
                             Describe(answers));
        } else if (now != std::exchange(why, now)) {
            m_parts.log.Warning("IBD Booster: {}: {}", Describe(answers), now);
        }
    } while (standing.may_change && m_parts.watch.Pause());
    m_parts.watch.ShowHeaders(-1);
    return standing;
}

/** The height that the chain should have reached by now. */
uint64_t HeadersWait::Expected(const HeaderNode& best) const
{
    const int64_t seconds = std::max<int64_t>(m_parts.env.UnixTime() - best.time, 0);
    return static_cast<uint64_t>(best.height +
                                 seconds / m_parts.params.consensus.pow_target_spacing);
}

/** The reason to wait for headers although the peers have no more. */
std::string HeadersWait::WhyStillWaiting(const StillWaiting& waits) const
{
    const HeaderNode* const best = m_parts.chain->Read().Tree().BestHeader();
    if (best->chain_work < m_parts.chain->Options().minimum_work) {
        return fmt::format("the best header, at height {}, has less work than this network's chain "
                           "must have (-minimumchainwork): waiting for a peer with more",
                           best->height);
    }
    return waits ? waits(*best) : std::string();
}

} // namespace ibd
