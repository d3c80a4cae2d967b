// See tip_waiters.h.
#include "rpc/tip_waiters.h"

namespace ibd {

TipInfo TipWaiters::Wait(const std::function<TipInfo()>& current, const Condition& condition,
                         std::chrono::milliseconds timeout)
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    const Lock lock(m_mutex);
    for (;;) {
        // Read under the lock: any later change of the tip also notifies later.
        const TipInfo tip = current();
        if (m_stopped || condition(tip)) return tip;
        if (timeout.count() == 0) {
            m_changed.wait(m_mutex);
        } else if (m_changed.wait_until(m_mutex, end) == std::cv_status::timeout) {
            return current();
        }
    }
}

void TipWaiters::Notify()
{
    const Lock lock(m_mutex);
    m_changed.notify_all();
}

void TipWaiters::Stop()
{
    const Lock lock(m_mutex);
    m_stopped = true;
    m_changed.notify_all();
}

} // namespace ibd
