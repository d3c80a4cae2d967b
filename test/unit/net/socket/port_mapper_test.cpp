// PCP and NAT-PMP: messages against bytes made by hand from the RFCs, hostile packets, the routing
// table, and the mapper against a scripted router over UDP.
#include "net/address/socket_address.h"
#include "net/socket/io_loop.h"
#include "net/socket/port_mapper.h"
#include "support/catch.h"
#include "support/must.h"
#include "util/hex.h"

#include <future>

#include <poll.h>
#include <unistd.h>

using namespace ibd;
using namespace ibd::test;

namespace {

using Kind = PortMapAnswer::Kind;

NetAddress Ip(const char* text) { return *NetAddress::Parse(text); }

PortMapRequest ExampleRequest()
{
    PortMapRequest request;
    for (size_t i = 0; i < request.nonce.size(); ++i) request.nonce[i] = static_cast<uint8_t>(i);
    request.internal = Ip("192.168.1.2");
    request.external = NetAddress::FromIpv4({0, 0, 0, 0});
    request.port = 8333;
    request.seconds = 2400;
    return request;
}

/** The layout: version, operation, zero, result, then lifetime, epoch, reserved, nonce, protocol,
 *  ports. */
Bytes PcpReply(const std::string& head, const std::string& port = "208d")
{
    return *FromHex(head + "00000960" + "00000001" + std::string(24, '0') +
                    "000102030405060708090a0b" + "06000000" + port + "2345" +
                    "00000000000000000000ffff05060708");
}

} // namespace

TEST_CASE("PCP messages are those of RFC 6887")
{
    const PortMapRequest request = ExampleRequest();
    CHECK(ToHex(EncodePcpMap(request)) == "02010000" // version 2, MAP
                                          "00000960" // 2400 s
                                          "00000000000000000000ffffc0a80102"
                                          "000102030405060708090a0b"
                                          "06000000" // TCP
                                          "208d208d" // 8333 twice
                                          "00000000000000000000ffff00000000");
    PortMapAnswer answer = DecodePcpMap(PcpReply("02810000"), request);
    CHECK(answer.kind == Kind::kMapped);
    CHECK(answer.mapping.external.ToString() == "5.6.7.8:9029");
    CHECK(answer.mapping.seconds == 2400);
    answer = DecodePcpMap(PcpReply("02810008"), request);
    CHECK(answer.kind == Kind::kRefused);
    CHECK(answer.text == "NO_RESOURCES (code 8)");
    CHECK(answer.no_resources);
    answer = DecodePcpMap(PcpReply("02810002"), request);
    CHECK(answer.text == "NOT_AUTHORIZED (code 2)");
    CHECK(answer.not_authorized);
    CHECK(DecodePcpMap(PcpReply("028100fe"), request).text == "(unknown) (code 254)");
    // A router that knows NAT-PMP only.
    CHECK(DecodePcpMap(*FromHex("0000000100000000"), request).kind == Kind::kUnsupported);
    // Packets that do not answer this.
    const auto stray = [&](const Bytes& packet) {
        const PortMapAnswer other = DecodePcpMap(packet, request);
        CHECK(other.kind == Kind::kStray);
        return other.text;
    };
    CHECK(stray({}) == "Response too small");
    Bytes reply = PcpReply("02810000");
    for (size_t size = 0; size < reply.size(); ++size) {
        stray(Bytes(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    CHECK(stray(PcpReply("02010000")) == "Response to wrong command");
    CHECK(stray(PcpReply("01810000")) == "Response to wrong command");
    CHECK(stray(PcpReply("02810000", "208e")) == "Response protocol or port doesn't match request");
    reply[24] ^= 1;
    CHECK(stray(reply) == "Mapping nonce mismatch");
    // IPv6 stands there as it is.
    PortMapRequest six = request;
    six.internal = six.external = Ip("2a01:1::2");
    CHECK(ToHex(EncodePcpMap(six)).ends_with("2a010001000000000000000000000002"));
}

TEST_CASE("NAT-PMP messages are those of RFC 6886")
{
    const PortMapRequest request = ExampleRequest();
    CHECK(ToHex(EncodeNatPmpAddress()) == "0000");
    CHECK(ToHex(EncodeNatPmpMap(request)) == "00020000208d208d00000960");
    PortMapAnswer answer = DecodeNatPmpAddress(*FromHex("008000000000000105060708"));
    CHECK(answer.kind == Kind::kMapped);
    CHECK(answer.mapping.external.address == Ip("5.6.7.8"));
    CHECK(DecodeNatPmpAddress(*FromHex("008000030000000105060708")).text ==
          "NETWORK_FAILURE (code 3)");
    CHECK(DecodeNatPmpAddress(*FromHex("0080000000000001050607")).kind == Kind::kStray);
    CHECK(DecodeNatPmpAddress(*FromHex("008200000000000105060708")).kind == Kind::kStray);
    answer = DecodeNatPmpMap(*FromHex("0082000000000001208d234500000e10"), request, Ip("5.6.7.8"));
    CHECK(answer.kind == Kind::kMapped);
    CHECK(answer.mapping.external.ToString() == "5.6.7.8:9029");
    CHECK(answer.mapping.seconds == 3600);
    CHECK(DecodeNatPmpMap(*FromHex("0082000400000001208d000000000000"), request, Ip("5.6.7.8"))
              .no_resources);
    CHECK(DecodeNatPmpMap(*FromHex("0082000000000001208e234500000e10"), request, Ip("5.6.7.8"))
              .kind == Kind::kStray);
}

TEST_CASE("the router is found in the routing table")
{
    CHECK(ParseIpv4Gateway("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
                           "eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                           "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n") ==
          Ip("192.168.1.1"));
    CHECK_FALSE(ParseIpv4Gateway(""));
    CHECK_FALSE(ParseIpv4Gateway("eth0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\n"));
    CHECK_FALSE(ParseIpv4Gateway("eth0\t00000000\tzz\t0003\t0\t0\t0\t00000000\n"));
    CHECK_FALSE(ParseIpv4Gateway("eth0 00000000"));
    const std::string none(32, '0');
    const std::string router = "fe800000000000000000000000000001";
    CHECK(ParseIpv6Gateway("2a010001000000000000000000000000 40 " + none + " 00 " + none +
                           " 00000100 00000001 00000000 00000001 eth0\n" + none + " 00 " + none +
                           " 00 " + router + " 00000400 00000001 00000000 00000003 eth0\n") ==
          Ip("fe80::1"));
    CHECK_FALSE(ParseIpv6Gateway(none + " 00 " + none + " 00 " + none +
                                 " ffffffff 00000001 00000000 00200200 lo\n"));
}

namespace {

/** A router on a UDP socket of this machine, and the mapper on a loop. */
struct Router {
    Router()
    {
        fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const auto any = ToSocketAddress({Ip("127.0.0.1"), 0});
        REQUIRE(::bind(fd, any->Get(), any->size) == 0);
        port = LocalEndpoint(fd).port;
    }
    ~Router()
    {
        loop.Stop([this] { mapper.reset(); });
        ::close(fd);
    }
    void Start(uint16_t listen_port = 8333)
    {
        loop.Start("net-io");
        loop.Post([this, listen_port] {
            PortMapper::Settings settings{*env, *log, loop.Base(), listen_port, port};
            settings.gateway = [](AddressNetwork network) -> std::optional<NetAddress> {
                if (network == AddressNetwork::kIpv4) return Ip("127.0.0.1");
                return std::nullopt;
            };
            settings.own_addresses = [] { return std::vector<NetAddress>(); };
            mapper = std::make_unique<PortMapper>(
                settings, [this](const Endpoint& external) { mapped.set_value(external); });
        });
    }
    Bytes Hear()
    {
        pollfd poller{fd, POLLIN, 0};
        REQUIRE(::poll(&poller, 1, 60'000) == 1);
        Bytes packet(kLongestPcp);
        from.size = sizeof from.storage;
        const ssize_t size =
            ::recvfrom(fd, packet.data(), packet.size(), 0, from.Get(), &from.size);
        REQUIRE(size >= 0);
        packet.resize(static_cast<size_t>(size));
        return packet;
    }
    void Say(const Bytes& packet)
    {
        REQUIRE(::sendto(fd, packet.data(), packet.size(), 0, from.Get(), from.size) ==
                static_cast<ssize_t>(packet.size()));
    }

    std::unique_ptr<Env> env = MakePosixEnv();
    std::unique_ptr<Logger> log = MakeNullLogger();
    IoLoop loop;
    int fd = -1;
    uint16_t port = 0;
    SocketAddress from;
    std::unique_ptr<PortMapper> mapper;
    std::promise<Endpoint> mapped;
};

Bytes Granted(const Bytes& request)
{
    Bytes reply = PcpReply("02810000");
    std::copy(request.begin() + 24, request.begin() + 36, reply.begin() + 24); // the nonce
    return reply;
}

} // namespace

TEST_CASE("a port is mapped by PCP, after a loss and among strays")
{
    Router router;
    router.Start();
    const Bytes first = router.Hear(); // which is lost
    const Bytes second = router.Hear();
    CHECK(first == second);
    REQUIRE(first.size() == 60);
    router.Say(PcpReply("02810000")); // another's nonce
    router.Say({1, 2, 3});
    router.Say(Granted(second));
    CHECK(router.mapped.get_future().get().ToString() == "5.6.7.8:9029");
}

TEST_CASE("a router that knows NAT-PMP only is asked by that")
{
    Router router;
    router.Start();
    CHECK(router.Hear().size() == 60);
    router.Say(*FromHex("0000000100000000"));
    CHECK(router.Hear() == EncodeNatPmpAddress());
    router.Say(*FromHex("008000000000000105060708"));
    CHECK(ToHex(router.Hear()) == "00020000208d208d00000960");
    router.Say(*FromHex("0082000000000001208d234500000e10"));
    CHECK(router.mapped.get_future().get().ToString() == "5.6.7.8:9029");
}

TEST_CASE("a mapping is renewed")
{
    Router router;
    router.Start();
    const Bytes first = router.Hear();
    Bytes reply = Granted(first);
    reply[4] = reply[5] = reply[6] = 0;
    reply[7] = 30; // seconds: the test takes half of that
    router.Say(reply);
    CHECK(router.mapped.get_future().get().ToString() == "5.6.7.8:9029");
    router.mapped = {};
    CHECK(router.Hear() == first); // with the nonce of before
}
