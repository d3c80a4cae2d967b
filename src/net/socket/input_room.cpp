// See input_room.h.
#include "net/socket/input_room.h"

#include <algorithm>
#include <utility>

namespace ibd {

bool InputRoom::Reserve(RoomUser& user, size_t bytes)
{
    if (m_waiting.empty() || m_waiting.front() == &user) {
        if (m_bytes + bytes > m_most) EndSlow();
        if (m_bytes + bytes <= m_most) {
            Leave(user);
            m_served.push_back({&user, m_env.MonotonicMicros() + kMessageTime});
            Add(bytes);
            return true;
        }
    }
    if (std::find(m_waiting.begin(), m_waiting.end(), &user) == m_waiting.end()) {
        m_waiting.push_back(&user);
    }
    return false;
}

void InputRoom::EndSlow()
{
    const int64_t now = m_env.MonotonicMicros();
    for (const Served& served : std::deque(m_served)) {
        if (now >= served.until) served.user->GiveRoomBack();
    }
}

void InputRoom::Release(const RoomUser& user, size_t bytes)
{
    std::erase_if(m_served, [&](const Served& served) { return served.user == &user; });
    Subtract(bytes);
}

MessageRoom::~MessageRoom()
{
    Arrived();
    m_room.Leave(m_user);
}

size_t MessageRoom::MayReceive(size_t size, size_t left)
{
    if (m_reserved != size) Arrived(); // of a packet without a message
    if (size <= InputRoom::kShortMessage) return InputRoom::kShortMessage;
    if (m_reserved == 0) {
        if (!m_room.Reserve(m_user, size)) return 0;
        m_reserved = size;
    }
    return left + InputRoom::kShortMessage;
}

void MessageRoom::Arrived()
{
    if (m_reserved > 0) m_room.Release(m_user, std::exchange(m_reserved, 0));
}

} // namespace ibd
