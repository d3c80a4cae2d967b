// BlockRate: the current rate of a peer in blocks a second. Counts only time in which requests are
// pending, including silence. Owned by the BlockDownloader. Memory: kMost times. Times in
// microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ibd {

class BlockRate {
public:
    static constexpr int64_t kWindow = 4'000'000; //!< blocks of this time are counted
    static constexpr size_t kFewest = 4;          //!< least number of counted blocks, however old
    static constexpr size_t kMost = 512;          //!< most counted blocks
    static constexpr int64_t kShortest = 100'000; //!< least duration of a burst

    /** The first pending request of the peer was sent. */
    void Begin(int64_t now)
    {
        m_idle += now - m_idle_since;
        m_owes = true;
    }
    /** The peer has no more pending requests. */
    void End(int64_t now)
    {
        m_idle_since = now;
        m_owes = false;
    }
    void Received(int64_t now);
    /** Whether it has delivered a block. */
    bool Known() const { return m_times.size() > 1; }
    /** Blocks a second; positive if Known(). Without pending requests: the value at End(). */
    double PerSecond(int64_t now) const;

private:
    /** Time until now without idle time. */
    int64_t Busy(int64_t now) const { return (m_owes ? now : m_idle_since) - m_idle; }
    size_t FirstCounted(int64_t busy) const;

    bool m_owes = false;
    int64_t m_idle = 0;       //!< total, since the epoch of the clock
    int64_t m_idle_since = 0; //!< valid while no request is pending
    /** Arrival times in busy time; the first is the start of counting. */
    std::deque<int64_t> m_times{0};
};

} // namespace ibd
