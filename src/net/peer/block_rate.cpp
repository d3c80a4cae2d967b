// See block_rate.h.
#include "net/peer/block_rate.h"

#include <algorithm>

namespace ibd {

void BlockRate::Received(int64_t now)
{
    m_times.push_back(Busy(now));
    if (m_times.size() > kMost + 1) m_times.pop_front();
}

/** Index into m_times where counting starts. */
size_t BlockRate::FirstCounted(int64_t busy) const
{
    const auto in_window = std::lower_bound(m_times.begin(), m_times.end(), busy - kWindow);
    const size_t blocks = m_times.size() - 1;
    const size_t at_most = blocks > kFewest ? blocks - kFewest : 0;
    return std::min(static_cast<size_t>(in_window - m_times.begin()), at_most);
}

double BlockRate::PerSecond(int64_t now) const
{
    constexpr double kSecond = 1e6;
    const int64_t busy = Busy(now);
    const size_t first = FirstCounted(busy);
    const size_t blocks = m_times.size() - 1 - first;
    const int64_t span = std::max(busy - m_times[first], kShortest);
    return static_cast<double>(blocks) * kSecond / static_cast<double>(span);
}

} // namespace ibd
