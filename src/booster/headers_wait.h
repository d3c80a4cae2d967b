// HeadersWait: waits until peers have sent the headers that a sync needs, with a line of progress.
// Owned by its caller; the session's thread.
#pragma once

#include "booster/hints_gate.h"
#include "booster/sync_plan.h"
#include "util/progress.h"

namespace ibd {

class HeadersWait {
public:
    /** Whether the headers suffice by now. */
    using Judge = std::function<HintsStanding()>;
    /** The reason why the wait continues although no peer has further headers; empty: it ends. */
    using StillWaiting = std::function<std::string(const HeaderNode& best)>;

    HeadersWait(SessionParts& parts, const SyncPlan& plan) : m_parts(parts), m_plan(plan) {}

    /** Waits until `judge` returns a standing that will not change, or the node shuts down.
     *  `needed`: height of the last required header; nothing: all headers that can exist by now are
     *  required. `then`: the steps after it. */
    HintsStanding Wait(const Judge& judge, std::optional<uint64_t> needed,
                       std::vector<WorkStep> then, BlockFetcher& peers,
                       const StillWaiting& waits = {});

private:
    uint64_t Expected(const HeaderNode& best) const;
    std::string WhyStillWaiting(const StillWaiting& waits) const;

    SessionParts& m_parts;
    const SyncPlan& m_plan;
};

} // namespace ibd
