// See connections.h.
#include "net/socket/connections.h"

#include "net/address/socket_address.h"
#include "net/wire/v2_transport.h"
#include "util/hex.h"
#include "util/version.h"

#include <cerrno>

#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace ibd {

void Connections::Free::operator()(evconnlistener* listener) const
{
    evconnlistener_free(listener);
}

namespace {

/** Whether the peer is inbound: such peers may be many, and hostile. */
bool IsStranger(const NewPeer& peer) { return peer.kind == ConnectionKind::kInbound; }

} // namespace

Connections::Connections(Env& env, Logger& log, ConnectionSettings settings,
                         ConnectionEvents& events)
    : m_env(env), m_log(log), m_settings(std::move(settings)), m_events(events),
      m_called(InputRoom::Called(env)), m_strangers(InputRoom::Strangers(env)),
      m_buffer(kReadAtOnce)
{
    uint8_t chance[8];
    m_env.RandomBytes(chance);
    m_login_prefix = ToHex(chance) + "-";
}

Connections::~Connections() { Stop(); }

// Listening.

namespace {

Error BindError(const Endpoint& address, int error)
{
    if (error == EADDRINUSE) {
        return SystemError("Unable to bind to {} on this computer. {} is probably already running.",
                           address.ToString(), kProjectName);
    }
    return SystemError("Unable to bind to {} on this computer (bind returned error {})",
                       address.ToString(), SystemErrorText(error));
}

} // namespace

Result<> Connections::Listen(const Binding& binding)
{
    const auto address = ToSocketAddress(binding.address);
    if (!address) {
        return BadData("Bind address family for {} not supported", binding.address.ToString());
    }
    auto listener = std::make_unique<Listener>(Listener{this, binding, nullptr});
    const auto accept = [](evconnlistener*, evutil_socket_t fd, sockaddr* peer, int, void* arg) {
        const auto& self = *static_cast<Listener*>(arg);
        self.owner->Accept(self, fd, FromSocketAddress(peer).value_or(Endpoint{}));
    };
    constexpr unsigned kFlags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    listener->socket.reset(evconnlistener_new_bind(
        m_loop.Base(), accept, listener.get(),
        kFlags | (address->Family() == AF_INET6 ? LEV_OPT_BIND_IPV6ONLY : 0U), SOMAXCONN,
        address->Get(), static_cast<int>(address->size)));
    if (!listener->socket) {
        const Error error = BindError(binding.address, errno);
        m_log.Error("{}", error.message);
        return error;
    }
    evconnlistener_set_error_cb(listener->socket.get(), [](evconnlistener*, void* arg) {
        static_cast<Listener*>(arg)->owner->AcceptFailed();
    });
    m_log.Info("Bound to {}", binding.address.ToString());
    m_listening.push_back(LocalEndpoint(evconnlistener_get_fd(listener->socket.get())));
    m_listeners.push_back(std::move(listener));
    return {};
}

void Connections::Accept(const Listener& listener, int fd, const Endpoint& remote)
{
    const int on = 1;
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        m_log.Debug(LogCategory::kNet,
                    "connection from {}: unable to set TCP_NODELAY, continuing anyway",
                    remote.ToString());
    }
    Caller caller;
    caller.id = NextSocketId();
    const auto flip = [&](Endpoint endpoint) {
        endpoint.address = endpoint.address.WithCjdns(m_settings.cjdns_reachable);
        return endpoint;
    };
    caller.remote = flip(remote);
    caller.local = flip(LocalEndpoint(fd));
    caller.permissions = listener.binding.permissions;
    caller.onion = listener.binding.onion;
    m_sockets[caller.id] = {fd, true};
    if (++m_undecided >= kMaxUndecided) PauseListening(true);
    m_events.Accepted(caller);
}

void Connections::AcceptFailed()
{
    m_log.Info("socket error accept failed: {}", SystemErrorText(EVUTIL_SOCKET_ERROR()));
    PauseListening(true);
    const auto resume = [](evutil_socket_t, short, void* self) {
        auto* const owner = static_cast<Connections*>(self);
        if (owner->m_undecided < kMaxUndecided) owner->PauseListening(false);
    };
    const timeval when{kAcceptPauseSeconds, 0};
    event_base_once(m_loop.Base(), -1, EV_TIMEOUT, resume, this, &when);
}

void Connections::PauseListening(bool pause)
{
    if (std::exchange(m_listening_paused, pause) == pause) return;
    for (const auto& listener : m_listeners) {
        if (pause) {
            evconnlistener_disable(listener->socket.get());
        } else {
            evconnlistener_enable(listener->socket.get());
        }
    }
}

// For the thread of the peers.

void Connections::Start()
{
    m_lines.emplace(m_log, "net");
    m_loop.Start("net-io");
    if (!m_settings.i2p_key.empty()) m_loop.Post([this] { ListenByI2p(); });
}

void Connections::Attach(MakeGuest make)
{
    m_loop.Post([this, make = std::move(make)] { m_guests.push_back(make(m_loop.Base())); });
}

void Connections::Stop()
{
    m_loop.Stop([this] {
        m_guests.clear();
        m_listeners.clear();
        m_i2p.reset();
        m_i2p_of_sockets.clear();
        m_i2p_of_peers.clear();
        m_unused_i2p.clear();
        m_dials.clear();
        for (const auto& [id, socket] : m_sockets) ::close(socket.fd);
        m_sockets.clear();
        m_connections.clear();
    });
    m_lines.reset();
}

void Connections::Dial(DialOrder order)
{
    m_loop.Post([this, order = std::move(order)] {
        const SocketId id = order.id;
        const Dialling::Settings settings{m_log, m_settings.connect_milliseconds,
                                          [this] { return NewLogin(); },
                                          [this, id](const Endpoint& peer,
                                                     const I2pSession::Connected& done) {
                                              ConnectByI2p(id, peer, done);
                                          }};
        m_dials[id] = std::make_unique<Dialling>(
            m_loop.Base(), settings, order,
            [this](const DialResult& result, int fd) { Dialled(result, fd); });
    });
}

void Connections::Dialled(const DialResult& result, int fd)
{
    if (fd >= 0) m_sockets[result.id] = {fd, false};
    // Posted, because the object is calling this function.
    m_loop.Post([this, id = result.id] { m_dials.erase(id); });
    m_events.Dialled(result);
}

// I2P.

std::shared_ptr<I2pSession> Connections::MakeI2pSession(const Path& key_file)
{
    return std::make_shared<I2pSession>(I2pSession::Settings{
        m_env, m_log, m_loop.Base(), m_settings.i2p_bridge, key_file});
}

void Connections::ListenByI2p()
{
    m_i2p = MakeI2pSession(m_settings.i2p_key);
    I2pSession::Listener listener;
    listener.listening = [this](const Endpoint& own, bool on) { m_events.Reachable(own, on); };
    listener.accepted = [this](int fd, const Endpoint& own, const Endpoint& peer) {
        Caller caller;
        caller.id = NextSocketId();
        caller.remote = peer;
        caller.local = own;
        m_sockets[caller.id] = {fd, true};
        if (++m_undecided >= kMaxUndecided) PauseListening(true);
        m_events.Accepted(caller);
    };
    m_i2p->Listen(std::move(listener));
}

void Connections::ConnectByI2p(SocketId id, const Endpoint& peer,
                               const I2pSession::Connected& done)
{
    if (m_i2p) return m_i2p->Connect(peer, done);
    std::shared_ptr<I2pSession> session;
    if (m_unused_i2p.empty()) {
        session = MakeI2pSession({});
    } else {
        session = std::move(m_unused_i2p.back());
        m_unused_i2p.pop_back();
    }
    m_i2p_of_sockets[id] = session;
    session->Connect(peer, [this, id, done](int fd, bool bridge_failed, const Endpoint& own) {
        if (fd < 0) {
            auto unused = std::move(m_i2p_of_sockets.extract(id).mapped());
            if (m_unused_i2p.size() < kMaxUnusedI2p) {
                m_unused_i2p.push_back(std::move(unused));
            } else {
                m_loop.Post([unused] {}); // posted, because the session is calling this function
            }
        }
        done(fd, bridge_failed, own);
    });
}

// Two attempts never share a Tor circuit.
Socks5Client::Login Connections::NewLogin()
{
    const std::string text = m_login_prefix + std::to_string(m_logins++);
    return {text, text};
}

void Connections::Admit(SocketId socket, NewPeer peer, Speech speech)
{
    auto channel =
        std::make_shared<Channel>(m_settings.max_send, m_settings.max_receive,
                                  IsStranger(peer) ? m_strangers : m_called, m_output);
    m_channels[peer.id] = channel;
    m_loop.Post([this, socket, peer = std::move(peer), channel, speech] {
        Adopt(socket, peer, channel, speech);
    });
}

void Connections::Adopt(SocketId socket, const NewPeer& peer,
                        const std::shared_ptr<Channel>& channel, Speech speech)
{
    const auto found = m_sockets.find(socket);
    if (found == m_sockets.end()) return; // Stop() came first
    const LooseSocket loose = found->second;
    m_sockets.erase(found);
    if (loose.called_us && --m_undecided < kMaxUndecided) PauseListening(false);
    if (auto session = m_i2p_of_sockets.extract(socket)) {
        m_i2p_of_peers[peer.id] = std::move(session.mapped());
    }
    auto& connection = m_connections[peer.id];
    connection = std::make_unique<Connection>(*this, m_loop.Base(), loose.fd, peer, channel,
                                              MakeTransport(speech, peer.id),
                                              IsStranger(peer) ? &m_strangers : nullptr);
    if (m_settings.log_addresses) {
        m_log.Debug(LogCategory::kNet, "Added connection to {} peer={}", peer.name, peer.id);
    } else {
        m_log.Debug(LogCategory::kNet, "Added connection peer={}", peer.id);
    }
    connection->Flush();
}

std::unique_ptr<Transport> Connections::MakeTransport(Speech speech, PeerId peer) const
{
    if (speech == Speech::kV1) return std::make_unique<V1Transport>(m_settings.magic);
    const auto on_start = [this, peer] {
        m_log.Debug(LogCategory::kNet, "start sending v2 handshake to peer={}", peer);
    };
    return std::make_unique<V2Transport>(m_settings.magic, speech == Speech::kV2,
                                         RandomV2Secrets(m_env), on_start);
}

void Connections::Refuse(SocketId socket)
{
    m_loop.Post([this, socket] {
        const auto found = m_sockets.find(socket);
        if (found == m_sockets.end()) return; // Stop() came first
        ::close(found->second.fd);
        m_i2p_of_sockets.erase(socket);
        const bool called_us = found->second.called_us;
        m_sockets.erase(found);
        if (called_us && --m_undecided < kMaxUndecided) PauseListening(false);
    });
}

Connection* Connections::Find(PeerId peer)
{
    const auto found = m_connections.find(peer);
    return found == m_connections.end() ? nullptr : found->second.get();
}

void Connections::Send(PeerId peer, OutgoingMessage message)
{
    const auto found = m_channels.find(peer);
    if (found == m_channels.end()) return;
    const bool is_long = message.payload.size() > kLongMessage;
    if (found->second->Queue(std::move(message))) m_unflushed.push_back(peer);
    if (is_long) Flush();
}

void Connections::Flush()
{
    if (m_unflushed.empty()) return;
    m_loop.Post([this, peers = std::exchange(m_unflushed, {})] {
        for (const PeerId peer : peers) {
            if (Connection* const connection = Find(peer)) connection->Flush();
        }
    });
}

bool Connections::SendPaused(PeerId peer) const
{
    const auto found = m_channels.find(peer);
    return found != m_channels.end() && found->second->SendPaused();
}

void Connections::Consumed(PeerId peer, size_t bytes)
{
    const auto found = m_channels.find(peer);
    if (found == m_channels.end() || !found->second->Consumed(bytes)) return;
    m_loop.Post([this, peer] {
        if (Connection* const connection = Find(peer)) connection->ResumeReading();
    });
}

void Connections::Disconnect(PeerId peer)
{
    Flush(); // sends the messages queued before
    m_loop.Post([this, peer] {
        if (Connection* const connection = Find(peer)) connection->Close();
    });
}

PeerTraffic Connections::Traffic(PeerId peer) const
{
    const auto found = m_channels.find(peer);
    return found == m_channels.end() ? PeerTraffic{} : found->second->Traffic();
}

Channel::Counts Connections::CountsByType(PeerId peer) const
{
    const auto found = m_channels.find(peer);
    return found == m_channels.end() ? Channel::Counts{} : found->second->CountsByType();
}

// Events of connections.

void Connections::OnMessages(Connection& connection, std::vector<ReceivedMessage> messages)
{
    m_events.Received(connection.Peer().id, std::move(messages));
}

void Connections::OnClosed(Connection& connection)
{
    const PeerId peer = connection.Peer().id;
    m_events.Closed(peer, connection.ShouldReconnectV1());
    // The connection is on the call stack, so it is destroyed later.
    m_loop.Post([this, peer] {
        m_connections.erase(peer);
        m_i2p_of_peers.erase(peer);
    });
}

void Connections::CountTraffic(size_t sent, size_t received)
{
    m_sent += sent;
    m_received += received;
}

std::string Connections::NameOf(const Connection& connection) const
{
    const NewPeer& peer = connection.Peer();
    if (!m_settings.log_addresses) return fmt::format("peer={}", peer.id);
    return fmt::format("peer={}, peeraddr={}", peer.id, peer.address.ToString());
}

} // namespace ibd
