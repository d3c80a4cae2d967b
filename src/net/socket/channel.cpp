// See channel.h.
#include "net/socket/channel.h"

#include "net/wire/message_table.h"
#include "util/check.h"

namespace ibd {

Channel::~Channel()
{
    const Lock lock(m_mutex);
    m_input.Subtract(m_unread);
    m_output.Subtract(m_queued_bytes + m_transport_memory);
}

bool Channel::Queue(OutgoingMessage message)
{
    const Lock lock(m_mutex);
    m_queued_bytes += message.payload.size() + kMessageOverhead;
    m_output.Add(message.payload.size() + kMessageOverhead);
    m_queued.push_back(std::move(message));
    return !std::exchange(m_is_told, true);
}

std::optional<OutgoingMessage> Channel::Take()
{
    const Lock lock(m_mutex);
    if (m_queued.empty()) {
        m_is_told = false;
        return std::nullopt;
    }
    OutgoingMessage out = std::move(m_queued.front());
    m_queued.pop_front();
    m_queued_bytes -= out.payload.size() + kMessageOverhead;
    m_output.Subtract(out.payload.size() + kMessageOverhead);
    return out;
}

bool Channel::HasQueued() const
{
    const Lock lock(m_mutex);
    return !m_queued.empty();
}

void Channel::SetTransportMemory(size_t bytes)
{
    m_output.Add(bytes);
    m_output.Subtract(m_transport_memory.exchange(bytes));
}

bool Channel::SendPaused() const
{
    const auto full = [this] {
        const size_t bytes = m_queued_bytes + m_transport_memory;
        return bytes > (m_output.IsFull() ? 0 : m_max_send);
    };
    if (!full()) return false;
    m_was_paused = true;
    return full(); // it may have been emptied before the flag was visible
}

bool Channel::TakeRelief() { return m_was_paused && !SendPaused() && m_was_paused.exchange(false); }

bool Channel::AddUnread(size_t payload)
{
    const Lock lock(m_mutex);
    m_unread += payload + kMessageOverhead;
    m_input.Add(payload + kMessageOverhead);
    m_paused = m_unread > m_max_receive || m_input.IsFull();
    return m_paused;
}

bool Channel::Consumed(size_t payload)
{
    const Lock lock(m_mutex);
    CHECK(m_unread >= payload + kMessageOverhead);
    m_unread -= payload + kMessageOverhead;
    m_input.Subtract(payload + kMessageOverhead);
    if (!m_paused || m_unread > m_max_receive) return false;
    // With no unread message the connection always receives, because no event would resume it.
    if (m_unread > 0 && m_input.IsFull()) return false;
    m_paused = false;
    return true;
}

size_t Channel::Unread() const
{
    const Lock lock(m_mutex);
    return m_unread;
}

void Channel::CountSent(std::string_view type, size_t bytes, int64_t now)
{
    const Lock lock(m_mutex);
    m_traffic.last_send = now;
    m_traffic.bytes_sent += bytes;
    if (!type.empty()) m_counts.sent[std::string(type)] += bytes;
}

void Channel::CountReceived(size_t bytes, int64_t now)
{
    const Lock lock(m_mutex);
    m_traffic.last_receive = now;
    m_traffic.bytes_received += bytes;
}

void Channel::CountMessage(const ReceivedMessage& message)
{
    const bool known = message.problem.empty() && IsCoreMessage(message.type);
    const Lock lock(m_mutex);
    m_counts.received[known ? message.type : std::string(kOtherType)] += message.wire_size;
}

void Channel::SetTransport(TransportInfo info)
{
    const Lock lock(m_mutex);
    m_traffic.transport = info;
}

PeerTraffic Channel::Traffic() const
{
    const Lock lock(m_mutex);
    return m_traffic;
}

Channel::Counts Channel::CountsByType() const
{
    const Lock lock(m_mutex);
    return m_counts;
}

} // namespace ibd
