// See net_inbox.h.
#include "net/net_inbox.h"

namespace ibd {

void NetInbox::Open()
{
    const Lock lock(m_mutex);
    m_open = true;
}

bool NetInbox::Post(Task task)
{
    const Lock lock(m_mutex);
    if (!m_open) return false;
    m_tasks.push_back(std::move(task));
    m_changed.notify_one();
    return true;
}

void NetInbox::Wake()
{
    const Lock lock(m_mutex);
    m_woken = true;
    m_changed.notify_one();
}

std::deque<NetInbox::Task> NetInbox::TakeAll(std::chrono::milliseconds most)
{
    const auto until = std::chrono::steady_clock::now() + most;
    const Lock lock(m_mutex);
    while (m_tasks.empty() && !m_woken) {
        if (m_changed.wait_until(m_mutex, until) == std::cv_status::timeout) break;
    }
    m_woken = false;
    return std::exchange(m_tasks, {});
}

bool NetInbox::Close()
{
    const Lock lock(m_mutex);
    if (m_tasks.empty()) m_open = false;
    return !m_open;
}

} // namespace ibd
