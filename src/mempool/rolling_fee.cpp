// See rolling_fee.h.
#include "mempool/rolling_fee.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kHalfLife = 12 * 60 * 60; // seconds
constexpr int64_t kLeastStep = 10;          // seconds between two updates

} // namespace

Amount RollingFee::Rate(int64_t now, size_t bytes, size_t most)
{
    if (!m_falls || m_rate == 0) return std::llround(m_rate);
    if (now > m_updated + kLeastStep) {
        double half_life = kHalfLife;
        if (bytes < most / 4) {
            half_life /= 4;
        } else if (bytes < most / 2) {
            half_life /= 2;
        }
        m_rate /= std::pow(2.0, static_cast<double>(now - m_updated) / half_life);
        m_updated = now;
        if (m_rate < static_cast<double>(m_step) / 2) {
            m_rate = 0;
            return 0;
        }
    }
    return std::max<Amount>(std::llround(m_rate), m_step);
}

void RollingFee::Evicted(Amount rate)
{
    const Amount above = rate + m_step;
    if (static_cast<double>(above) <= m_rate) return;
    m_rate = static_cast<double>(above);
    m_falls = false;
}

} // namespace ibd
