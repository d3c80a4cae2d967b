// See headers_watch.h.
#include "booster/headers_watch.h"

#include <fmt/format.h>

namespace ibd {

bool HeadersWatch::HaveEnded(int32_t best, const HeadersTold& told, int64_t now)
{
    if (best != m_best) {
        m_best = best;
        m_moved_micros = now;
    }
    if (told.told == 0) return false;
    const int64_t least = told.told == told.peers ? kSettleMicros : kPatienceMicros;
    return now - m_moved_micros >= least;
}

std::string Describe(const HeadersTold& told)
{
    if (told.told == 0) return {};
    return fmt::format("{} of {} peers have sent all their headers", told.told, told.peers);
}

} // namespace ibd
