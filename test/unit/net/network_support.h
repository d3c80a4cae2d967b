// Shared by tests of whole networks over loopback: a PeerNetwork with a chain in memory, a peer
// that is a plain socket and a script, and waiting for conditions. Tests assert nothing about time:
// a wait that takes too long fails, because its condition will never hold.
#pragma once

#include "net/network.h"

#include "net/address/socket_address.h"
#include "net/peer_support.h"
#include "net/wire/v1_transport.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/catch.h"

namespace ibd::test {

inline constexpr std::chrono::seconds kPatience{120};

template <typename Condition>
void WaitFor(const char* what, Condition condition)
{
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) FAIL("waited in vain for: " << what);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

inline Endpoint Loopback(uint16_t port) { return *Endpoint::Parse("127.0.0.1", port); }

/** Options of a network that listens on a port of loopback and makes no connection by itself. */
inline PeerNetworkOptions QuietOptions(const Path& folder)
{
    PeerNetworkOptions out;
    out.folder = folder;
    out.binds = {{Loopback(0), kPermitNone, false}};
    out.bind_any = false;
    out.discover = false;
    out.dns_seed = out.fixed_seeds = false;
    out.connect_only = true;
    out.peers.user_agent = "/test:1/";
    return out;
}

/** A network with a chain of its own. */
class NetworkKit {
public:
    using Change = std::function<void(PeerNetworkOptions&)>;

    explicit NetworkKit(
        const Change& change = [](PeerNetworkOptions&) {}, int blocks = 0,
        std::unique_ptr<Env> machine = MakePosixEnv())
        : env(std::move(machine)), logger(MakeNullLogger()), params(RegtestParams()), chain(params)
    {
        if (blocks > 0) chain.Extend(blocks);
        PeerNetworkOptions options = QuietOptions(folder.Get());
        change(options);
        PeerNetworkSurroundings at{
            *env, *logger, params, chain, chain, chain, [] { return kStart * kSecond; }, nullptr};
        network = std::make_unique<PeerNetwork>(std::move(at), std::move(options));
        Must(network->Start());
    }
    ~NetworkKit() { network->Stop(); }

    Endpoint Address() const { return network->Info().Listening().at(0); }
    /** The only peer, once it is one. */
    PeerInfo OnlyPeer() const
    {
        std::vector<PeerInfo> peers;
        WaitFor("a peer", [&] {
            peers = network->Info().Peers();
            return peers.size() == 1 && peers[0].established;
        });
        return peers[0];
    }
    void WaitForPeers(size_t count) const
    {
        WaitFor("peers", [&] { return network->Info().Peers().size() == count; });
    }

    TempDir folder;
    std::unique_ptr<Env> env;
    std::unique_ptr<Logger> logger;
    const ChainParams params;
    TestChain chain;
    std::unique_ptr<PeerNetwork> network;
};

/** A socket and no more. */
class RawSocket {
public:
    explicit RawSocket(int fd) : m_fd(fd) { REQUIRE(m_fd >= 0); }
    /** `buffer`: bytes that the system is to hold for it in each direction; 0: as many as it likes.
     */
    explicit RawSocket(const Endpoint& to, int buffer = 0)
        : RawSocket(::socket(AF_INET, SOCK_STREAM, 0))
    {
        for (const int direction : {SO_SNDBUF, SO_RCVBUF}) {
            if (buffer > 0) ::setsockopt(m_fd, SOL_SOCKET, direction, &buffer, sizeof buffer);
        }
        const auto address = ToSocketAddress(to);
        REQUIRE(::connect(m_fd, address->Get(), address->size) == 0);
    }
    RawSocket(RawSocket&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    ~RawSocket() { Close(); }
    void Close()
    {
        if (m_fd >= 0) ::close(std::exchange(m_fd, -1));
    }
    int Get() const { return m_fd; }

    /** Whether all of it was taken; not if the other side hangs up. */
    bool Write(ByteSpan bytes)
    {
        while (!bytes.empty()) {
            const ssize_t size = ::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (size <= 0) return false;
            bytes = bytes.subspan(static_cast<size_t>(size));
        }
        return true;
    }
    /** The bytes that the system accepts without waiting. */
    size_t WriteSome(ByteSpan bytes)
    {
        const ssize_t size = ::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return size > 0 ? static_cast<size_t>(size) : 0;
    }
    /** At least a byte; nothing when the other side hung up. */
    Bytes Read()
    {
        Bytes out(65536);
        const ssize_t size = ::recv(m_fd, out.data(), out.size(), 0);
        out.resize(size > 0 ? static_cast<size_t>(size) : 0);
        return out;
    }
    Bytes ReadExactly(size_t wanted)
    {
        Bytes out(wanted);
        size_t have = 0;
        while (have < wanted) {
            const ssize_t size = ::recv(m_fd, out.data() + have, wanted - have, 0);
            REQUIRE(size > 0);
            have += static_cast<size_t>(size);
        }
        return out;
    }
    /** Reads until the other side hangs up. */
    void WaitForClose()
    {
        while (!Read().empty()) {
        }
    }

private:
    int m_fd;
};

/** A listening socket on loopback. */
class RawListener {
public:
    RawListener() : m_fd(::socket(AF_INET, SOCK_STREAM, 0))
    {
        const auto address = ToSocketAddress(Loopback(0));
        REQUIRE(::bind(m_fd, address->Get(), address->size) == 0);
        REQUIRE(::listen(m_fd, 16) == 0);
    }
    ~RawListener() { ::close(m_fd); }
    Endpoint Address() const { return LocalEndpoint(m_fd); }
    RawSocket Accept() { return RawSocket(::accept(m_fd, nullptr, nullptr)); }

private:
    int m_fd;
};

/** Speaks v1 to the other end of a socket. */
class RawPeer {
public:
    explicit RawPeer(const Endpoint& to, int buffer = 0)
        : socket(to, buffer), m_transport(RegtestParams().magic)
    {
    }
    explicit RawPeer(RawSocket taken) : socket(std::move(taken)), m_transport(RegtestParams().magic)
    {
    }

    static Bytes Frame(OutgoingMessage message)
    {
        V1Transport transport(RegtestParams().magic);
        REQUIRE(transport.Send(message));
        Bytes out;
        while (true) {
            const auto piece = transport.GetToSend(false);
            if (piece.bytes.empty()) return out;
            out.insert(out.end(), piece.bytes.begin(), piece.bytes.end());
            transport.MarkSent(piece.bytes.size());
        }
    }
    template <typename Message>
    bool Say(const Message& message)
    {
        return socket.Write(Frame(MakeOutgoing(message)));
    }
    /** The next message; nothing when the other side hung up. */
    std::optional<ReceivedMessage> Hear()
    {
        while (m_received.empty()) {
            const Bytes bytes = socket.Read();
            if (bytes.empty()) return std::nullopt;
            ByteSpan left = bytes;
            while (!left.empty()) {
                Must(m_transport.Receive(left));
                if (m_transport.HasMessage()) m_received.push_back(m_transport.TakeMessage());
            }
        }
        ReceivedMessage out = std::move(m_received.front());
        m_received.pop_front();
        return out;
    }
    ReceivedMessage HearType(std::string_view type)
    {
        while (true) {
            auto message = Hear();
            REQUIRE(message);
            if (message->type == type) return std::move(*message);
        }
    }
    void ShakeHands()
    {
        REQUIRE(Say(TestNode::Version()));
        REQUIRE(Say(VerackMessage{}));
        (void)HearType("verack");
    }

    RawSocket socket;

private:
    V1Transport m_transport;
    std::deque<ReceivedMessage> m_received;
};

} // namespace ibd::test
