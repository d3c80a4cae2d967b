// See upload_meter.h.
#include "net/socket/upload_meter.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kBlockSpacing = 600;         //!< seconds
constexpr uint64_t kMaxBlockBytes = 4'000'000; //!< serialized

} // namespace

void UploadMeter::Update(uint64_t sent, int64_t now)
{
    if (sent == m_sent) return;
    if (m_cycle_start + kTimeframe < now) {
        m_cycle_start = now;
        m_in_cycle = 0;
    }
    m_in_cycle += sent - m_sent;
    m_sent = sent;
}

int64_t UploadMeter::SecondsLeft(int64_t now) const
{
    if (m_target == 0) return 0;
    if (m_cycle_start == 0) return kTimeframe;
    return std::max<int64_t>(m_cycle_start + kTimeframe - now, 0);
}

uint64_t UploadMeter::BytesLeft() const
{
    return m_in_cycle >= m_target ? 0 : m_target - m_in_cycle;
}

bool UploadMeter::ServesHistorical(int64_t now) const
{
    if (m_target == 0) return true;
    const uint64_t blocks = static_cast<uint64_t>(SecondsLeft(now) / kBlockSpacing);
    const uint64_t kept = blocks * kMaxBlockBytes;
    return kept < m_target && m_in_cycle < m_target - kept;
}

} // namespace ibd
