// See connection.h.
#include "net/socket/connection.h"

#include "util/log.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ibd {

namespace {

bool IsPassing(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == EMSGSIZE ||
           error == EINPROGRESS;
}

} // namespace

std::string SystemErrorText(int error)
{
    return fmt::format("{} ({})", std::generic_category().message(error), error);
}

void Connection::Free::operator()(event* e) const { event_free(e); }

Connection::Connection(ConnectionOwner& owner, event_base* base, int fd, NewPeer peer,
                       std::shared_ptr<Channel> channel, std::unique_ptr<Transport> transport,
                       InputRoom* strangers)
    : m_owner(owner), m_peer(std::move(peer)), m_channel(std::move(channel)),
      m_transport(std::move(transport)), m_fd(fd),
      m_read(event_new(base, fd, EV_READ | EV_PERSIST, OnReadable, this)),
      m_write(event_new(base, fd, EV_WRITE | EV_PERSIST, OnWritable, this))
{
    CHECK(m_read != nullptr && m_write != nullptr);
    if (strangers) m_room.emplace(*strangers, static_cast<RoomUser&>(*this));
    m_channel->SetTransport(m_transport->Info());
    CHECK(event_add(m_read.get(), nullptr) == 0);
}

Connection::~Connection() { Shut(); }

void Connection::OnReadable(int, short, void* self) { static_cast<Connection*>(self)->Receive(); }

void Connection::OnWritable(int, short, void* self) { static_cast<Connection*>(self)->Send(); }

void Connection::Flush()
{
    if (!IsClosed() && !m_blocked) Send();
}

void Connection::ResumeReading()
{
    if (!IsClosed()) event_add(m_read.get(), nullptr);
}

// Does not read from a peer that does not accept its answers, which would otherwise accumulate. If
// no byte at all can be sent it still reads: otherwise two such nodes would wait for each other
// forever.
void Connection::Receive()
{
    if (m_blocked && Send() > 0 && m_blocked) return;
    if (IsClosed()) return;
    const MutableByteSpan buffer = m_owner.Buffer().first(MayReceive());
    if (buffer.empty()) return WaitForRoom();
    const ssize_t size = ::recv(m_fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size <= 0) return ReadFailed(size == 0 ? 0 : errno);
    const auto count = static_cast<size_t>(size);
    m_owner.CountTraffic(0, count);
    m_channel->CountReceived(count, m_owner.Now());
    TakeBytes(ByteSpan(buffer).first(count));
    if (!IsClosed() && !m_blocked) Send(); // a handshake may have advanced
}

size_t Connection::MayReceive()
{
    const size_t most = m_owner.Buffer().size();
    if (!m_room) return most;
    const Transport::UnderWay message = m_transport->Receiving();
    return std::min(most, m_room->MayReceive(message.size, message.left));
}

void Connection::WaitForRoom()
{
    event_del(m_read.get());
    if (!m_room_timer) {
        m_room_timer.reset(event_new(event_get_base(m_read.get()), -1, 0, OnRoomTimer, this));
        CHECK(m_room_timer != nullptr);
    }
    const timeval when{0, kRoomCheckMicros};
    event_add(m_room_timer.get(), &when);
}

void Connection::OnRoomTimer(int, short, void* self)
{
    auto& connection = *static_cast<Connection*>(self);
    if (connection.MayReceive() == 0) return connection.WaitForRoom();
    connection.ResumeReading();
}

void Connection::EndIfSlow(int64_t now)
{
    const bool takes_nothing = m_blocked && m_channel->Unread() > InputRoom::kShortMessage;
    if (takes_nothing && m_blocked_until == 0) m_blocked_until = now + InputRoom::kPatience;
    const bool is_over = takes_nothing && now >= m_blocked_until;
    if (!is_over && !m_room->IsOverdue(now)) return;
    m_owner.Log().Debug(LogCategory::kNet, "too slow while others wait, disconnecting {}",
                        m_owner.NameOf(*this));
    Close();
}

void Connection::ReadFailed(int error)
{
    if (error != 0 && IsPassing(error)) return;
    if (error == 0) {
        m_owner.Log().Debug(LogCategory::kNet, "socket closed, disconnecting {}",
                            m_owner.NameOf(*this));
    } else {
        m_owner.Log().Debug(LogCategory::kNet, "socket recv error, disconnecting {}: {}",
                            m_owner.NameOf(*this), SystemErrorText(error));
    }
    Shut();
    m_owner.OnClosed(*this);
}

void Connection::TakeBytes(ByteSpan bytes)
{
    std::vector<ReceivedMessage> messages;
    bool pause = false;
    Result<> taken;
    while (taken && !bytes.empty()) {
        taken = m_transport->Receive(bytes);
        if (!taken || !m_transport->HasMessage()) continue;
        messages.push_back(m_transport->TakeMessage());
        if (m_room) m_room->Arrived();
        m_channel->CountMessage(messages.back());
        pause = m_channel->AddUnread(messages.back().payload.size());
    }
    m_channel->SetTransport(m_transport->Info());
    // Before messages are passed on, because their reader may resume reading at once.
    if (pause) event_del(m_read.get());
    if (!messages.empty()) m_owner.OnMessages(*this, std::move(messages));
    if (taken) return;
    m_owner.Log().Debug(LogCategory::kNet, "{}, peer={}", taken.Message(), m_peer.id);
    m_owner.Log().Debug(LogCategory::kNet, "receiving message bytes failed, disconnecting {}",
                        m_owner.NameOf(*this));
    Shut();
    m_owner.OnClosed(*this);
}

/** Loads the transport's next message; false: there is none. */
bool Connection::LoadNext()
{
    if (!m_next) m_next = m_channel->Take();
    if (m_next && m_transport->Send(*m_next)) m_next = m_channel->Take();
    return m_next.has_value();
}

size_t Connection::Send()
{
    size_t total = 0;
    bool blocked = false;
    int error = 0;
    while (!blocked) {
        const bool have_next = LoadNext();
        const Transport::ToSend out = m_transport->GetToSend(have_next);
        if (out.bytes.empty()) break;
        const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (out.more ? MSG_MORE : 0);
        const ssize_t size = ::send(m_fd, out.bytes.data(), out.bytes.size(), flags);
        if (size <= 0) {
            error = size < 0 ? errno : 0;
            blocked = true;
            break;
        }
        const auto count = static_cast<size_t>(size);
        blocked = count != out.bytes.size();
        total += count;
        m_owner.CountTraffic(count, 0);
        m_channel->CountSent(out.type, count, m_owner.Now());
        m_transport->MarkSent(count);
    }
    m_channel->SetTransportMemory(
        m_transport->SendMemory() +
        (m_next ? m_next->payload.size() + Channel::kMessageOverhead : 0));
    if (m_channel->TakeRelief()) m_owner.OnRelief(*this);
    if (error != 0 && !IsPassing(error)) {
        m_owner.Log().Debug(LogCategory::kNet, "socket send error, disconnecting {}: {}",
                            m_owner.NameOf(*this), SystemErrorText(error));
        Shut();
        m_owner.OnClosed(*this);
        return total;
    }
    SetBlocked(blocked);
    return total;
}

void Connection::SetBlocked(bool blocked)
{
    if (blocked == m_blocked) return;
    m_blocked = blocked;
    m_blocked_until = 0;
    if (blocked) {
        event_add(m_write.get(), nullptr);
    } else {
        event_del(m_write.get());
    }
}

void Connection::Close()
{
    if (IsClosed()) return;
    Send();
    if (IsClosed()) return;
    Shut();
    m_owner.OnClosed(*this);
}

void Connection::Shut()
{
    if (IsClosed()) return;
    event_del(m_read.get());
    event_del(m_write.get());
    if (m_room_timer) event_del(m_room_timer.get());
    m_room.reset();
    m_owner.Log().Debug(LogCategory::kNet, "Resetting socket for {}", m_owner.NameOf(*this));
    ::close(std::exchange(m_fd, -1));
}

} // namespace ibd
