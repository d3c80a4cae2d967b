// See watched_threads.h.
#include "util/watched_threads.h"

#include "util/threads.h"

#include <chrono>

#include <fmt/core.h>

namespace ibd {

void RunWatched(const std::string& name, size_t count, const std::function<void(size_t)>& body,
                const std::function<void()>& watch)
{
    constexpr auto kInterval = std::chrono::milliseconds(500);
    Mutex mutex;
    std::condition_variable_any ended;
    size_t running = count;
    std::vector<NamedThread> threads;
    for (size_t i = 0; i < count; ++i) {
        threads.emplace_back(fmt::format("{}-{}", name, i), [&, i] {
            body(i);
            const Lock lock(mutex);
            --running;
            ended.notify_all();
        });
    }
    const auto all_ended = [&] {
        const Lock lock(mutex);
        if (running > 0) ended.wait_for(mutex, kInterval);
        return running == 0;
    };
    do watch(); // without the lock: an ending thread need not wait for `watch`
    while (!all_ended());
    for (NamedThread& thread : threads) thread.Join();
    watch(); // they may have ended before the first call
}

} // namespace ibd
