// See headers_watch.h.
#include "booster/headers_watch.h"

#include <fmt/format.h>

namespace ibd {

bool HeadersWatch::HaveEnded(int32_t best, const HeaderAnswers& answers, int64_t now)
{
    if (best != m_best) {
        m_best = best;
        m_moved_micros = now;
    }
    if (answers.complete == 0) return false;
    const int64_t least = answers.complete == answers.peers ? kSettleMicros : kPatienceMicros;
    return now - m_moved_micros >= least;
}

std::string Describe(const HeaderAnswers& answers)
{
    if (answers.complete == 0) return {};
    return fmt::format("{} of {} peers have sent all their headers", answers.complete,
                       answers.peers);
}

} // namespace ibd
