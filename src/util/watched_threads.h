// RunWatched: a number of threads that do one job, watched by the thread that waits for them.
#pragma once

#include <functional>
#include <string>

namespace ibd {

/** Runs body(0) to body(count - 1), each on a thread `name`-i of its own, until all have ended;
 *  meanwhile, and once when they have, calls `watch` on the caller's thread, twice a second. */
void RunWatched(const std::string& name, size_t count, const std::function<void(size_t)>& body,
                const std::function<void()>& watch);

} // namespace ibd
