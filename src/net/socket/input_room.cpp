// See input_room.h.
#include "net/socket/input_room.h"

#include <algorithm>
#include <utility>

namespace ibd {

bool InputRoom::Reserve(RoomUser& user, size_t bytes)
{
    if (m_waiting.empty() || m_waiting.front() == &user) {
        if (m_bytes + bytes > m_most) EndSlow(user);
        if (m_bytes + bytes <= m_most) {
            std::erase(m_waiting, &user);
            Add(bytes);
            return true;
        }
    }
    if (std::find(m_waiting.begin(), m_waiting.end(), &user) == m_waiting.end()) {
        m_waiting.push_back(&user);
    }
    return false;
}

void InputRoom::EndSlow(const RoomUser& asking)
{
    const int64_t now = Now();
    for (RoomUser* const user : std::deque(m_users)) {
        if (user != &asking) user->EndIfSlow(now);
    }
}

void InputRoom::Leave(const RoomUser& user)
{
    std::erase(m_users, &user);
    std::erase(m_waiting, &user);
}

MessageRoom::~MessageRoom()
{
    Arrived();
    m_room.Leave(m_user);
}

size_t MessageRoom::MayReceive(size_t size, size_t left)
{
    if (m_reserved != size) Arrived(); // the last packet had no message (a BIP324 decoy)
    if (size <= InputRoom::kShortMessage) return InputRoom::kShortMessage;
    if (m_reserved == 0) {
        if (!m_room.Reserve(m_user, size)) return 0;
        m_reserved = size;
        m_until = m_room.Now() + InputRoom::kPatience;
    }
    return left + InputRoom::kShortMessage;
}

void MessageRoom::Arrived() { m_room.Subtract(std::exchange(m_reserved, 0)); }

} // namespace ibd
