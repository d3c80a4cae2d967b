// UploadMeter: the remaining part of -maxuploadtarget in the current day. Owned by PeerNetwork,
// thread of the peers only. Times in seconds since 1970.
#pragma once

#include <cstdint>

namespace ibd {

class UploadMeter {
public:
    static constexpr int64_t kTimeframe = 24 * 60 * 60;

    /** `target`: bytes; 0: no limit. */
    explicit UploadMeter(uint64_t target) : m_target(target) {}

    /** `sent`: total bytes so far. */
    void Update(uint64_t sent, int64_t now);
    uint64_t Target() const { return m_target; }
    int64_t SecondsLeft(int64_t now) const;
    uint64_t BytesLeft() const;
    bool IsReached() const { return m_target != 0 && m_in_cycle >= m_target; }
    /** Whether old blocks may be served: the remaining bytes suffice for the new blocks still
     *  expected today. */
    bool ServesHistorical(int64_t now) const;

private:
    uint64_t m_target;
    int64_t m_cycle_start = 0;
    uint64_t m_in_cycle = 0; //!< bytes
    uint64_t m_sent = 0;
};

} // namespace ibd
