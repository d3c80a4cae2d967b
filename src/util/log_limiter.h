// LogLimiter: bounds the bytes that each source position may write to debug.log in an hour, so that
// no peer can fill the disk by causing log lines. Owned by FileLogger, used under its mutex. Bound:
// an entry for each position.
#pragma once

#include "util/log.h"

#include <map>
#include <utility>
#include <vector>

namespace ibd {

class LogLimiter {
public:
    /** Bytes that a position may write in a window, with all prefixes and the newline. */
    static constexpr uint64_t kMaxBytes = 1 << 20;
    static constexpr int64_t kWindowSeconds = 3600;

    enum class Verdict {
        kWrite,
        kWriteLast, //!< exceeds the limit; later ones are dropped
        kDrop,
    };
    /** A position that lost lines in an ended window. */
    struct Loss {
        LogPlace place;
        uint64_t bytes; //!< from the line that exceeded the limit
    };

    /** The first window begins at `now`: microseconds of a clock that never goes backwards. */
    explicit LogLimiter(int64_t now) : m_window_begin(now) {}

    Verdict Count(const LogPlace& place, size_t bytes);

    /** Whether some position is losing lines. */
    bool IsDropping() const { return m_dropping; }

    /** After the end of a window: starts the next one and returns the positions that lost lines in
     *  the old one. */
    std::vector<Loss> Renew(int64_t now);

private:
    struct Usage {
        LogPlace place;
        uint64_t left = kMaxBytes;
        uint64_t lost = 0;
    };

    std::map<std::pair<std::string_view, int>, Usage> m_usage; //!< by file and line
    int64_t m_window_begin;
    bool m_dropping = false;
};

} // namespace ibd
