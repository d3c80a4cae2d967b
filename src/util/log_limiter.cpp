// See log_limiter.h.
#include "util/log_limiter.h"

namespace ibd {

LogLimiter::Verdict LogLimiter::Count(const LogPlace& place, size_t bytes)
{
    Usage& usage = m_usage.try_emplace({place.file, place.line}, Usage{place}).first->second;
    if (bytes <= usage.left) {
        usage.left -= bytes;
        return Verdict::kWrite;
    }
    const bool is_first = usage.lost == 0;
    usage.left = 0;
    usage.lost += bytes;
    m_dropping = true;
    return is_first ? Verdict::kWriteLast : Verdict::kDrop;
}

std::vector<LogLimiter::Loss> LogLimiter::Renew(int64_t now)
{
    constexpr int64_t kWindow = kWindowSeconds * 1'000'000;
    if (now - m_window_begin < kWindow) return {};
    m_window_begin = now - (now - m_window_begin) % kWindow;
    std::vector<Loss> losses;
    for (const auto& [key, usage] : m_usage) {
        if (usage.lost > 0) losses.push_back({usage.place, usage.lost});
    }
    m_usage.clear();
    m_dropping = false;
    return losses;
}

} // namespace ibd
