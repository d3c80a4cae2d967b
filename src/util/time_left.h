// SecondsLeft: one estimate of the remaining time for all jobs. ProgressMeter has its own, which
// follows changes of speed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ibd {

/** Seconds for `rest`, at the rate of `done` in `seconds`. Nothing: there is no rate yet. */
inline std::optional<int64_t> SecondsLeft(double done, double rest, double seconds)
{
    if (done <= 0 || seconds <= 0) return std::nullopt;
    return static_cast<int64_t>(seconds * std::max(rest, 0.0) / done);
}

} // namespace ibd
