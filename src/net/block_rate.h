// BlockRate: how many blocks a second a peer brings at present. Time in which it was asked for
// nothing does not count; silence while it owes blocks does. Owned by the BlockDownloader. Memory:
// kMost times. Times in microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ibd {

class BlockRate {
public:
    static constexpr int64_t kWindow = 4'000'000; //!< blocks that came in it are counted
    static constexpr size_t kFewest = 4;          //!< so many are, however long ago they came
    static constexpr size_t kMost = 512;          //!< no more are
    static constexpr int64_t kShortest = 100'000; //!< a burst counts as having taken so long

    /** The peer is asked for blocks, and owed none until now. */
    void Begin(int64_t now)
    {
        m_idle += now - m_idle_since;
        m_owes = true;
    }
    /** It owes no more blocks. */
    void End(int64_t now)
    {
        m_idle_since = now;
        m_owes = false;
    }
    void Received(int64_t now);
    /** Whether it has brought a block. */
    bool Known() const { return m_times.size() > 1; }
    /** Blocks a second; positive when Known(). Of a peer that owes none: as of End(). */
    double PerSecond(int64_t now) const;

private:
    /** Time until now without that in which the peer owed nothing. */
    int64_t Busy(int64_t now) const { return (m_owes ? now : m_idle_since) - m_idle; }
    size_t FirstCounted(int64_t busy) const;

    bool m_owes = false;
    int64_t m_idle = 0;       //!< in all, since the epoch of the clock
    int64_t m_idle_since = 0; //!< when it does not owe
    /** When blocks came, in busy time; the first is where counting begins. */
    std::deque<int64_t> m_times{0};
};

} // namespace ibd
