// ibd-peer-tool: our address manager and transports for tests against Core
// (test/interop/test_peers.py).
//
//   ibd-peer-tool read FOLDER MAGIC     peers.dat as lines: table bucket/place address services
//   time
//                                       source
//   ibd-peer-tool write FOLDER MAGIC    makes peers.dat from the lines "add ADDRESS SOURCE SERVICES
//                                       TIME" and "good ADDRESS TIME"
//   ibd-peer-tool call PORT MAGIC v1|v2 connects to a node on this machine: handshake, ping, and
//                                       getheaders from genesis; prints what came and the session
//                                       id
#include "consensus/params.h"
#include "net/address/address_files.h"
#include "net/wire/v2_transport.h"
#include "util/hex.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <sstream>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ibd::interop {

namespace {

constexpr int kTimeoutSeconds = 20;

NetworkMagic MagicOf(const std::string& hex)
{
    NetworkMagic out{};
    const auto bytes = FromHex(hex);
    CHECK(bytes && bytes->size() == out.size());
    std::copy(bytes->begin(), bytes->end(), out.begin());
    return out;
}

Endpoint EndpointOf(const std::string& text)
{
    const auto endpoint = Endpoint::Parse(text, 0);
    CHECK(endpoint.has_value());
    // As Core has it where CJDNS is reachable.
    return {endpoint->address.WithCjdns(true), endpoint->port};
}

void PrintTable(const AddrMan& man, bool tried)
{
    for (const auto& [info, position] : man.Entries(tried)) {
        std::cout << (tried ? "tried " : "new ") << position.bucket << '/' << position.place << ' '
                  << info.address.endpoint.ToString() << ' ' << info.address.services << ' '
                  << info.address.time << ' ' << info.source.ToString() << '\n';
    }
}

int Read(const AddressFileContext& files)
{
    const NetGroups groups;
    const auto man = LoadPeers(files, {groups, 1, false});
    if (!man) {
        std::cerr << man.Message() << '\n';
        return 1;
    }
    PrintTable(**man, false);
    PrintTable(**man, true);
    return 0;
}

int Write(const AddressFileContext& files)
{
    const NetGroups groups;
    Hash32 seed;
    files.env.RandomBytes(seed);
    AddrMan man(groups, seed, files.logger, 1);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string what, address, source;
        uint64_t services = 0;
        int64_t time = 0;
        words >> what >> address;
        if (what == "add") {
            words >> source >> services >> time;
            const Endpoint endpoint = EndpointOf(address);
            man.Add({{endpoint, services, static_cast<uint32_t>(time)}}, EndpointOf(source).address,
                    0, time);
        } else {
            words >> time;
            man.Good(EndpointOf(address), time);
        }
    }
    const auto saved = SavePeers(files, PeersFile(files.magic, man));
    if (!saved) std::cerr << saved.Message() << '\n';
    PrintTable(man, false);
    PrintTable(man, true);
    return saved ? 0 : 1;
}

/** A blocking connection that speaks through a transport. */
class Caller {
public:
    Caller(Transport& transport, uint16_t port) : m_transport(transport)
    {
        m_fd = ::socket(AF_INET, SOCK_STREAM, 0);
        CHECK(m_fd >= 0);
        const timeval timeout{kTimeoutSeconds, 0};
        ::setsockopt(m_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        m_open = ::connect(m_fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
        Flush();
    }
    ~Caller() { ::close(m_fd); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    template <typename Message>
    void Send(const Message& message)
    {
        OutgoingMessage out = MakeOutgoing(message);
        while (m_open && !m_transport.Send(out)) Pump(); // the handshake comes first
        Flush();
    }
    /** The next message; of no type when the connection is over. */
    ReceivedMessage Next()
    {
        while (m_open && !m_transport.HasMessage()) Pump();
        return m_transport.HasMessage() ? m_transport.TakeMessage() : ReceivedMessage{};
    }
    /** Up to the next message of a type. */
    ReceivedMessage WaitFor(std::string_view type)
    {
        for (;;) {
            ReceivedMessage message = Next();
            std::cout << "got " << message.type << ' ' << message.payload.size() << ' '
                      << message.problem << '\n';
            if (message.type == type || message.type.empty()) return message;
        }
    }

private:
    void Flush()
    {
        for (;;) {
            const ByteSpan bytes = m_transport.GetToSend(false).bytes;
            if (bytes.empty() || !m_open) return;
            const ssize_t n = ::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0)
                m_open = false;
            else
                m_transport.MarkSent(static_cast<size_t>(n));
        }
    }
    void Pump()
    {
        while (m_open && m_pending.empty()) {
            const ssize_t n = ::recv(m_fd, m_buffer, sizeof m_buffer, 0);
            if (n <= 0)
                m_open = false;
            else
                m_pending = {m_buffer, static_cast<size_t>(n)};
        }
        const auto taken = m_transport.Receive(m_pending);
        if (!taken) {
            std::cout << "error " << taken.Message() << '\n';
            m_open = false;
        }
        Flush();
    }

    Transport& m_transport;
    int m_fd = -1;
    bool m_open = false;
    uint8_t m_buffer[65536];
    ByteSpan m_pending;
};

int Call(Env& env, uint16_t port, const NetworkMagic& magic, bool v2)
{
    std::unique_ptr<Transport> transport;
    if (v2)
        transport = std::make_unique<V2Transport>(magic, true, RandomV2Secrets(env));
    else
        transport = std::make_unique<V1Transport>(magic);
    Caller caller(*transport, port);
    VersionMessage version;
    version.time = env.UnixTime();
    version.nonce = 77;
    version.user_agent = "/ibd-peer-tool/";
    version.start_height = 0;
    caller.Send(version);
    const auto theirs = Decode<VersionMessage>(caller.WaitFor("version").payload);
    if (theirs) {
        std::cout << "version " << theirs->version << ' ' << theirs->services << ' '
                  << theirs->user_agent << ' ' << theirs->start_height << '\n';
    }
    caller.Send(WtxidRelayMessage{});
    caller.Send(SendAddrV2Message{});
    caller.Send(FeatureMessage{"BIP-TEST", {1}});
    caller.Send(VerackMessage{});
    caller.WaitFor("verack");
    caller.Send(PingMessage{0x1234});
    const auto pong = Decode<PongMessage>(caller.WaitFor("pong").payload);
    std::cout << "pong " << (pong && pong->nonce == 0x1234) << '\n';
    GetHeadersMessage request;
    const auto network = NetworkFromMagic(magic);
    CHECK(network.has_value());
    request.locator.items = {MakeChainParams(*network).genesis.hash};
    caller.Send(request);
    const auto headers = Decode<HeadersMessage>(caller.WaitFor("headers").payload);
    if (headers) std::cout << "headers " << headers->list.items.size() << '\n';
    const TransportInfo info = transport->Info();
    std::cout << "transport " << info.ProtocolName() << ' '
              << (info.session_id ? ToHex(*info.session_id) : "") << std::endl;
    std::string line;
    std::getline(std::cin, line); // stays connected until a line comes
    return 0;
}

int Main(int argc, char** argv)
{
    const std::vector<std::string> args(argv + 1, argv + argc);
    const auto env = MakePosixEnv();
    const auto logger = MakeNullLogger();
    if (args.size() >= 3 && args[0] == "call") {
        uint16_t port = 0;
        std::from_chars(args[1].data(), args[1].data() + args[1].size(), port);
        return Call(*env, port, MagicOf(args[2]), args.size() < 4 || args[3] == "v2");
    }
    if (args.size() == 3 && (args[0] == "read" || args[0] == "write")) {
        const AddressFileContext files{*env, *logger, args[1], MagicOf(args[2])};
        return args[0] == "read" ? Read(files) : Write(files);
    }
    std::cerr << "usage: see the head of peer_tool_main.cpp\n";
    return 2;
}

} // namespace

} // namespace ibd::interop

int main(int argc, char** argv) { return ibd::interop::Main(argc, argv); }
