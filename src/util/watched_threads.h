// RunWatched: runs several threads for one job, while the waiting thread shows progress.
#pragma once

#include <functional>
#include <string>

namespace ibd {

/** Runs body(0) to body(count - 1), each on its own thread `name`-i, until all have ended.
 *  Meanwhile, and once afterwards, calls `watch` on the caller's thread, twice a second. */
void RunWatched(const std::string& name, size_t count, const std::function<void(size_t)>& body,
                const std::function<void()>& watch);

} // namespace ibd
