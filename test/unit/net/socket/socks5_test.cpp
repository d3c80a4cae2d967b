// SOCKS5, without a socket and through a scripted server; permissions as text.
#include "net/network_support.h"
#include "net/socket/socks5.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

Result<> Feed(Socks5Client& client, const Bytes& bytes)
{
    // A byte at a time: no answer may depend on how it is cut.
    for (const uint8_t byte : bytes) {
        REQUIRE(client.Wanted() > 0);
        IBD_RETURN_IF_ERROR(client.Receive(ByteSpan(&byte, 1)));
    }
    return {};
}

} // namespace

TEST_CASE("messages to a SOCKS5 server", "[socks5]")
{
    Socks5Client client("abc", 0x1234, Socks5Client::Login{"u", "pw"});
    CHECK(client.TakeOutgoing() == Bytes{5, 2, 0, 2});
    Must(Feed(client, {5, 2}));
    CHECK(client.TakeOutgoing() == Bytes{1, 1, 'u', 2, 'p', 'w'});
    Must(Feed(client, {1, 0}));
    CHECK(client.TakeOutgoing() == Bytes{5, 1, 0, 3, 3, 'a', 'b', 'c', 0x12, 0x34});
    const Bytes bound = GENERATE(Bytes{1, 1, 2, 3, 4, 9, 9}, Bytes{3, 2, 'x', 'y', 9, 9},
                                 Bytes{4, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9});
    Must(Feed(client, {5, 0, 0}));
    CHECK_FALSE(client.IsDone());
    Must(Feed(client, bound));
    CHECK(client.IsDone());
    CHECK(client.Wanted() == 0);

    Socks5Client plain("abc", 1, std::nullopt);
    CHECK(plain.TakeOutgoing() == Bytes{5, 1, 0});
    Must(Feed(plain, {5, 0}));
    CHECK(plain.TakeOutgoing().size() == 10);
}

TEST_CASE("what ends a talk with a SOCKS5 server", "[socks5]")
{
    const auto error = [](const Bytes& bytes) {
        Socks5Client client("abc", 1, Socks5Client::Login{"u", "p"});
        const auto fed = Feed(client, bytes);
        return fed ? std::string() : fed.Message();
    };
    CHECK(error({4, 0}) == "Proxy failed to initialize");
    CHECK(error({5, 0xff}) == "Proxy requested wrong authentication method ff");
    CHECK(error({5, 2, 1, 1}) == "Proxy authentication unsuccessful");
    CHECK(error({5, 0, 4, 0, 0, 1}) == "Proxy failed to accept request");
    CHECK(error({5, 0, 5, 5, 0, 1}) == "Socks5() connect to abc:1 failed: connection refused");
    CHECK(error({5, 0, 5, 0x77, 0, 1}) == "Socks5() connect to abc:1 failed: unknown (0x77)");
    CHECK(error({5, 0, 5, 0, 1, 1}) == "Error: malformed proxy response");
    CHECK(error({5, 0, 5, 0, 0, 2}) == "Error: malformed proxy response");
    Socks5Client plain("abc", 1, std::nullopt);
    CHECK_FALSE(Feed(plain, {5, 2}));
}

TEST_CASE("peers are reached through proxies, by names too", "[socks5]")
{
    RawListener server;
    NetworkKit kit([&](PeerNetworkOptions& options) {
        const ProxyServer proxy{server.Address(), "", true};
        options.proxies[AddressNetwork::kIpv4] = proxy;
        options.proxies[AddressNetwork::kOnion] = proxy;
        options.name_proxy = proxy;
    });
    std::set<Bytes> logins;
    const std::string onion = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion";
    const std::vector<std::string> hosts{"1.2.3.4", onion, "name.example"};
    for (const std::string& host : hosts) {
        const std::jthread call([&] { kit.network->Control().TryNode(host + ":1025", false); });
        RawSocket socket = server.Accept();
        CHECK(socket.ReadExactly(4) == Bytes{5, 2, 0, 2});
        REQUIRE(socket.Write(Bytes{5, 2}));
        const Bytes head = socket.ReadExactly(2);
        const Bytes user = socket.ReadExactly(head[1]);
        const Bytes password = socket.ReadExactly(socket.ReadExactly(1)[0]);
        CHECK(user == password);
        logins.insert(user);
        REQUIRE(socket.Write(Bytes{1, 0}));
        CHECK(socket.ReadExactly(5) == Bytes{5, 1, 0, 3, static_cast<uint8_t>(host.size())});
        const Bytes asked = socket.ReadExactly(host.size());
        CHECK(std::string(asked.begin(), asked.end()) == host);
        CHECK(socket.ReadExactly(2) == Bytes{4, 1});
        // Immediate bytes of the peer must not be taken for the proxy's.
        Bytes answer{5, 0, 0, 1, 0, 0, 0, 0, 0, 0};
        const Bytes version = RawPeer::Frame(MakeOutgoing(TestNode::Version()));
        answer.insert(answer.end(), version.begin(), version.end());
        REQUIRE(socket.Write(answer));
        RawPeer peer(std::move(socket));
        REQUIRE(peer.Say(VerackMessage{}));
        (void)peer.HearType("verack");
        const PeerInfo info = kit.OnlyPeer();
        CHECK(info.connection.name == host + ":1025");
        CHECK(kit.network->Control().Disconnect(host + ":1025"));
        kit.WaitForPeers(0);
    }
    CHECK(logins.size() == 3); // no two share a circuit
}

TEST_CASE("permissions as options write them", "[permissions]")
{
    const auto list = Must(ParseWhitelist("noban,relay,in,out@1.2.0.0/16", false));
    CHECK(list.permissions == (kPermitNoBan | kPermitRelay));
    CHECK(list.range.ToString() == "1.2.0.0/16");
    CHECK((list.incoming && list.outgoing));
    CHECK(PermissionNames(list.permissions) ==
          std::vector<std::string>{"noban", "relay", "download"});
    CHECK(Must(ParseWhitelist("1.2.3.4", false)).permissions == kPermitImplicit);
    CHECK(Must(ParseWhitelist("all@::1", false)).permissions == kPermitAll);
    CHECK(ParseWhitelist("oopsie@1.2.3.4", false).Message() == "Invalid P2P permission: 'oopsie'");
    CHECK(ParseWhitelist("noban@1.2.3.4:32", false).Message() ==
          "Invalid netmask specified in -whitelist: '1.2.3.4:32'");
    CHECK(ParseWhitelist("in@1.2.3.4", false).Message() ==
          "Only direction was set, no permissions: 'in@1.2.3.4'");
    CHECK(Must(ParseWhitebind("relay@1.2.3.4:5")).address.ToString() == "1.2.3.4:5");
    CHECK(ParseWhitebind("noban@1.2.3.4").Message() ==
          "Need to specify a port with -whitebind: '1.2.3.4'");
    CHECK(ParseWhitebind("noban@name:3").Message() ==
          "Cannot resolve -whitebind address: 'name:3'");
    CHECK(ParseWhitebind("noban,out@1.2.3.4:5").Message() ==
          "whitebind may only be used for incoming connections (\"out\" was passed)");
}

} // namespace ibd
