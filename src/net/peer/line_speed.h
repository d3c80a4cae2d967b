// LineSpeed: whether the line to a peer is so slow that packed blocks arrive sooner than plain
// ones. The speed is the bytes of messages with blocks over the time in which blocks were awaited
// and we read. Owned by BlockRelay. Values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ibd {

class LineSpeed {
public:
    // Bytes a second. On a faster line packing and unpacking take about as long as the saved bytes
    // (bench/README.md).
    static constexpr int64_t kSlow = 6'000'000; //!< a line below it becomes slow
    static constexpr int64_t kFast = 8'000'000; //!< a slow line at or above it is slow no more
    static constexpr int64_t kSpan = 1'000'000; //!< microseconds over which it is measured

    /** Leaves out the time since the last call: it was no wait for the line. In microseconds. */
    void Skip(int64_t now) { m_last = now; }
    void Arrived(size_t bytes, int64_t now)
    {
        m_bytes += static_cast<int64_t>(bytes);
        m_waited += now - m_last;
        m_last = now;
        if (m_waited < kSpan) return;
        const int64_t speed = m_bytes * 1'000'000 / m_waited;
        m_slow = speed < (m_slow ? kFast : kSlow);
        m_bytes = m_waited = 0;
    }
    /** False until it has been measured. */
    bool IsSlow() const { return m_slow; }

private:
    bool m_slow = false;
    int64_t m_last = 0;
    int64_t m_waited = 0;
    int64_t m_bytes = 0;
};

} // namespace ibd
