// See port_mapper.h.
#include "net/socket/port_mapper.h"

#include "net/address/socket_address.h"
#include "net/socket/connection.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <cerrno>

#include <event2/event.h>
#include <unistd.h>

namespace ibd {

namespace {

constexpr size_t kMostJobs = 16;
constexpr size_t kLongestTable = 1 << 20; //!< bytes of routes that are read

std::vector<std::string_view> Words(std::string_view line)
{
    std::vector<std::string_view> out;
    while (true) {
        const size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return out;
        const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
        out.push_back(line.substr(begin, end - begin));
        line.remove_prefix(end);
    }
}

/** Calls `find(words)` for each line of a table until it returns an address. */
template <typename Find>
std::optional<NetAddress> FindInTable(std::string_view table, Find find)
{
    while (!table.empty()) {
        const size_t end = std::min(table.find('\n'), table.size());
        if (auto found = find(Words(table.substr(0, end)))) return found;
        table.remove_prefix(std::min(end + 1, table.size()));
    }
    return std::nullopt;
}

} // namespace

// Interface, destination, gateway, flags, ...; addresses as the machine's own 32-bit numbers.
std::optional<NetAddress> ParseIpv4Gateway(std::string_view routes)
{
    return FindInTable(routes, [](const auto& words) -> std::optional<NetAddress> {
        if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") return {};
        const auto bytes = FromHex(words[2]);
        if (!bytes || bytes->size() != 4 || words[2] == "00000000") return {};
        return NetAddress::FromIpv4({(*bytes)[3], (*bytes)[2], (*bytes)[1], (*bytes)[0]});
    });
}

// Destination, its prefix length, source, its length, next hop, ..., interface.
std::optional<NetAddress> ParseIpv6Gateway(std::string_view routes)
{
    const std::string none(32, '0');
    return FindInTable(routes, [&](const auto& words) -> std::optional<NetAddress> {
        if (words.size() < 10 || words[0] != none || words[1] != "00" || words[4] == none) {
            return {};
        }
        const auto bytes = FromHex(words[4]);
        if (!bytes || bytes->size() != 16) return {};
        std::array<uint8_t, 16> address{};
        std::ranges::copy(*bytes, address.begin());
        return NetAddress::FromIpv6(address);
    });
}

std::optional<NetAddress> DefaultGateway(Env& env, AddressNetwork network)
{
    const bool ipv4 = network == AddressNetwork::kIpv4;
    const auto file = env.OpenRead(ipv4 ? "/proc/net/route" : "/proc/net/ipv6_route");
    if (!file) return std::nullopt;
    std::string table(kLongestTable, '\0'); // its size is unknown before it is read
    const auto size = (*file)->ReadAt(0, {reinterpret_cast<uint8_t*>(table.data()), table.size()});
    if (!size) return std::nullopt;
    table.resize(*size);
    return ipv4 ? ParseIpv4Gateway(table) : ParseIpv6Gateway(table);
}

void PortMapper::Free::operator()(event* e) const { event_free(e); }

PortMapper::PortMapper(Settings settings, Mapped mapped)
    : m_settings(std::move(settings)), m_mapped(std::move(mapped)),
      m_event(event_new(m_settings.base, -1, 0, OnEvent, this))
{
    m_settings.env.RandomBytes(m_request.nonce);
    m_request.port = m_settings.port;
    m_request.seconds = kLifetime;
    WaitFor(0, 1);
}

PortMapper::~PortMapper()
{
    m_event.reset();
    CloseSocket();
}

void PortMapper::CloseSocket()
{
    if (m_fd >= 0) ::close(std::exchange(m_fd, -1));
}

void PortMapper::WaitFor(short what, int64_t milliseconds)
{
    event_del(m_event.get());
    CHECK(event_assign(m_event.get(), m_settings.base, what ? m_fd : -1, what, OnEvent, this) == 0);
    const timeval when{milliseconds / 1000, (milliseconds % 1000) * 1000};
    event_add(m_event.get(), &when);
}

void PortMapper::OnEvent(int, short what, void* arg)
{
    PortMapper& self = *static_cast<PortMapper*>(arg);
    if (self.m_jobs.empty()) return self.StartRound();
    if ((what & EV_READ) != 0) return self.Receive();
    self.SendRequest(); // the last request, or its answer, was lost
}

// Rounds: all mappings, one after the other.

void PortMapper::StartRound()
{
    m_lifetime = 0;
    m_no_resources = false;
    const auto gateway = [&](AddressNetwork network, const char* name) {
        const auto found = m_settings.gateway(network);
        if (found) {
            m_settings.log.Debug(LogCategory::kNet, "portmap: gateway [{}]: {}", name,
                                 found->ToString());
        } else {
            m_settings.log.Debug(LogCategory::kNet,
                                 "portmap: Could not determine {} default gateway", name);
        }
        return found;
    };
    if (const auto router = gateway(AddressNetwork::kIpv4, "IPv4")) {
        m_jobs.push_back({*router, NetAddress::FromIpv4({0, 0, 0, 0})});
    }
    if (const auto router = gateway(AddressNetwork::kIpv6, "IPv6")) {
        for (const NetAddress& own : m_settings.own_addresses()) {
            if (!own.IsRoutable() || !own.Is(AddressNetwork::kIpv6)) continue;
            if (m_jobs.size() < kMostJobs) m_jobs.push_back({*router, own});
        }
    }
    if (m_jobs.empty()) return EndRound();
    m_jobs.push_front({}); // NextJob() removes it
    NextJob();
}

void PortMapper::NextJob()
{
    CloseSocket();
    m_jobs.pop_front();
    while (!m_jobs.empty() && !OpenSocket()) {
        CloseSocket();
        m_jobs.pop_front();
    }
    if (m_jobs.empty()) return EndRound();
    Ask(Question::kPcpMap);
}

void PortMapper::EndRound()
{
    if (m_no_resources) {
        m_settings.log.Warning(
            "portmap: At least one mapping failed because of a NO_RESOURCES error. This usually "
            "indicates that the port is already used on the router. If this is the only instance "
            "of bitcoin running on the network, this will resolve itself automatically. Otherwise, "
            "you might want to choose a different P2P port to prevent this conflict.");
    }
    if (m_lifetime == 0) return WaitFor(0, kRetryMilliseconds);
    if (m_lifetime < kShortestLifetime) {
        m_settings.log.Warning(
            "portmap: Got impossibly short mapping lifetime of {} seconds", m_lifetime);
        return WaitFor(0, kRetryMilliseconds);
    }
    // Between 1/2 and 5/8 of it, at random, so that not all hosts send requests at once after the
    // router restarts.
    uint8_t chance[2];
    m_settings.env.RandomBytes(chance);
    const int64_t lifetime = int64_t{m_lifetime} * 1000;
    WaitFor(0, lifetime / 2 + lifetime / 8 * (chance[0] * 256 + chance[1]) / 65'536);
}

// One mapping.

bool PortMapper::OpenSocket()
{
    const Job& job = m_jobs.front();
    const char* protocol = "pcp";
    m_settings.log.Debug(LogCategory::kNet,
                         "{}: Requesting port mapping for addr {} port {} from gateway {}",
                         protocol, job.bind.ToString(), m_settings.port, job.gateway.ToString());
    const auto failed = [&](const char* what) {
        m_settings.log.Warning("{}: Could not {}: {}", protocol, what, SystemErrorText(errno));
        return false;
    };
    const auto bound = ToSocketAddress({job.bind, 0});
    const auto router = ToSocketAddress({job.gateway, m_settings.server_port});
    if (!bound || !router) return false;
    m_fd = ::socket(router->Family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (m_fd < 0) return failed("create UDP socket");
    if (::bind(m_fd, bound->Get(), bound->size) != 0) return failed("bind to address");
    // Afterwards the system accepts packets only from the router.
    if (::connect(m_fd, router->Get(), router->size) != 0) return failed("connect to gateway");
    m_request.internal = LocalEndpoint(m_fd).address;
    m_request.external = job.bind.Is(AddressNetwork::kIpv4) ? NetAddress::FromIpv4({0, 0, 0, 0})
                                                            : job.bind;
    m_settings.log.Debug(LogCategory::kNet, "{}: Internal address after connect: {}", protocol,
                         m_request.internal.ToString());
    return true;
}

void PortMapper::Ask(Question question)
{
    m_question = question;
    m_tries = 0;
    m_strays = 0;
    SendRequest();
}

void PortMapper::SendRequest()
{
    if (m_tries == kTries) {
        m_settings.log.Debug(LogCategory::kNet, "{}: Giving up after {} tries", Protocol(), kTries);
        return NextJob();
    }
    if (m_tries > 0) {
        m_settings.log.Debug(LogCategory::kNet, "{}: Timeout", Protocol());
        m_settings.log.Debug(LogCategory::kNet, "{}: Retrying ({})", Protocol(), m_tries);
    }
    ++m_tries;
    Bytes request;
    switch (m_question) {
    case Question::kPcpMap: request = EncodePcpMap(m_request); break;
    case Question::kNatPmpAddress: request = EncodeNatPmpAddress(); break;
    case Question::kNatPmpMap: request = EncodeNatPmpMap(m_request); break;
    }
    if (::send(m_fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
        m_settings.log.Debug(LogCategory::kNet, "{}: Could not send request: {}", Protocol(),
                             SystemErrorText(errno));
        return NextJob();
    }
    WaitFor(EV_READ, kTryMilliseconds);
}

PortMapAnswer PortMapper::Decode(ByteSpan packet) const
{
    switch (m_question) {
    case Question::kPcpMap: return DecodePcpMap(packet, m_request);
    case Question::kNatPmpAddress: return DecodeNatPmpAddress(packet);
    case Question::kNatPmpMap: break;
    }
    return DecodeNatPmpMap(packet, m_request, m_external);
}

void PortMapper::Receive()
{
    uint8_t packet[kLongestPcp];
    const ssize_t size = ::recv(m_fd, packet, sizeof packet, MSG_DONTWAIT);
    if (size < 0) {
        // Probably no program listens there.
        m_settings.log.Debug(LogCategory::kNet, "{}: Could not receive response: {}", Protocol(),
                             SystemErrorText(errno));
        return NextJob();
    }
    const ByteSpan bytes(packet, static_cast<size_t>(size));
    m_settings.log.Debug(LogCategory::kNet, "{}: Received response of {} bytes: {}", Protocol(),
                         size, ToHex(bytes));
    TakeAnswer(Decode(bytes));
}

void PortMapper::TakeAnswer(const PortMapAnswer& answer)
{
    using Kind = PortMapAnswer::Kind;
    switch (answer.kind) {
    case Kind::kStray:
        m_settings.log.Warning("{}: {}", Protocol(), answer.text);
        if (++m_strays > kMostStrays) return NextJob();
        return WaitFor(EV_READ, kTryMilliseconds);
    case Kind::kUnsupported:
        m_settings.log.Debug(LogCategory::kNet, "portmap: Got unsupported PCP version response, "
                                                "falling back to NAT-PMP");
        if (!m_request.internal.Is(AddressNetwork::kIpv4)) return NextJob();
        return Ask(Question::kNatPmpAddress);
    case Kind::kRefused: return Refused(answer);
    case Kind::kMapped: break;
    }
    if (m_question != Question::kNatPmpAddress) return TakeMapping(answer.mapping);
    m_external = answer.mapping.external.address;
    Ask(Question::kNatPmpMap);
}

void PortMapper::Refused(const PortMapAnswer& answer)
{
    const char* what = "Port mapping";
    if (m_question == Question::kPcpMap) what = "Mapping";
    if (m_question == Question::kNatPmpAddress) what = "Getting external address";
    if (answer.not_authorized && std::exchange(m_warned, true)) {
        m_settings.log.Debug(LogCategory::kNet, "{}: {} failed with result {}", Protocol(), what,
                             answer.text);
    } else {
        m_settings.log.Warning("{}: {} failed with result {}", Protocol(), what, answer.text);
    }
    m_no_resources = m_no_resources || answer.no_resources;
    NextJob();
}

void PortMapper::TakeMapping(const PortMapping& mapping)
{
    m_settings.log.Info("portmap: Added mapping {}:{} -> {} (for {}s)", Protocol(),
                        mapping.external.ToString(),
                        Endpoint{m_request.internal, m_settings.port}.ToString(), mapping.seconds);
    // A grant of zero seconds is treated as one second.
    const uint32_t seconds = std::clamp<uint32_t>(mapping.seconds, 1, kLifetime);
    m_lifetime = m_lifetime == 0 ? seconds : std::min(m_lifetime, seconds);
    m_mapped(mapping.external);
    NextJob();
}

} // namespace ibd
