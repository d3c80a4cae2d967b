// Automatic connections of a whole network, to addresses that only a scripted proxy can reach.
#include "net/address/address_files.h"
#include "net/network_support.h"

#include <future>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

/** A SOCKS5 server that says of everybody that he is there, and then is him. */
class ScriptedProxy {
public:
    Endpoint Address() const { return m_listener.Address(); }
    struct Caller {
        RawPeer peer;
        std::string host;
    };
    Caller Take()
    {
        RawSocket socket = m_listener.Accept();
        CHECK(socket.ReadExactly(3) == Bytes{5, 1, 0});
        REQUIRE(socket.Write(Bytes{5, 0}));
        const Bytes head = socket.ReadExactly(5);
        const Bytes host = socket.ReadExactly(head[4]);
        (void)socket.ReadExactly(2);
        REQUIRE(socket.Write(Bytes{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
        return {RawPeer(std::move(socket)), std::string(host.begin(), host.end())};
    }

private:
    RawListener m_listener;
};

NetworkKit::Change Through(const ScriptedProxy& proxy)
{
    return [&proxy](PeerNetworkOptions& options) {
        options.connect_only = false;
        options.proxies[AddressNetwork::kIpv4] = {proxy.Address(), "", false};
        options.listen = false;
    };
}

} // namespace

TEST_CASE("free slots are filled from the address manager", "[outbound]")
{
    ScriptedProxy proxy;
    NetworkKit kit(Through(proxy));
    CHECK(kit.network->Addresses().Add(*Endpoint::Parse("1.2.3.4", 8333), false) ==
          AddAddressResult::kOk);
    auto first = proxy.Take();
    CHECK(first.host == "1.2.3.4");
    first.peer.ShakeHands();
    PeerInfo info = kit.OnlyPeer();
    CHECK(info.connection.kind == ConnectionKind::kOutboundFullRelay);
    CHECK(info.connection.name == "1.2.3.4:8333");
    CHECK(info.relays_addresses);
    (void)first.peer.HearType("getaddr");
    CHECK(kit.network->Addresses().Counts(std::nullopt).in_tried == 1); // it is alive

    // Not another of the same group; but one that it announces.
    CHECK(kit.network->Addresses().Add(*Endpoint::Parse("1.2.9.9", 8333), false) ==
          AddAddressResult::kOk);
    AddrMessage list;
    PeerAddress told;
    told.endpoint = *Endpoint::Parse("9.8.7.6", 8333);
    told.services = kNodeNetwork | kNodeWitness;
    told.time = static_cast<uint32_t>(kStart - 10);
    list.list.items = {told};
    REQUIRE(first.peer.Say(list));
    auto second = proxy.Take();
    CHECK(second.host == "9.8.7.6");
    second.peer.ShakeHands();
    kit.WaitForPeers(2);
    CHECK(kit.network->Info().Counts().out == 2);
}

TEST_CASE("anchors are called first, and written at the end", "[outbound]")
{
    ScriptedProxy proxy;
    PeerAddress anchor;
    anchor.endpoint = *Endpoint::Parse("4.3.2.1", 8333);
    anchor.services = kNodeNetwork | kNodeWitness;
    const Path* folder = nullptr;
    const auto through = Through(proxy);
    const auto env = MakePosixEnv();
    const auto logger = MakeNullLogger();
    const auto files = [&] {
        return AddressFileContext{*env, *logger, *folder, RegtestParams().magic};
    };
    Path kept;
    NetworkKit kit([&](PeerNetworkOptions& options) {
        through(options);
        kept = options.folder;
        folder = &kept;
        Must(SaveAnchors(files(), {anchor}));
    });
    auto caller = proxy.Take();
    CHECK(caller.host == "4.3.2.1");
    caller.peer.ShakeHands();
    CHECK(kit.OnlyPeer().connection.kind == ConnectionKind::kBlockRelay);
    CHECK_FALSE(kit.OnlyPeer().relays_addresses);
    kit.network->Stop();
    const auto written = TakeAnchors(files());
    REQUIRE(written.size() == 1);
    CHECK(written[0].endpoint == anchor.endpoint);
    CHECK(written[0].services == anchor.services);
    CHECK(env->Exists(kept / "peers.dat"));
}

TEST_CASE("test connections fill the slots of their kind", "[outbound]")
{
    ScriptedProxy proxy;
    NetworkKit kit([&](PeerNetworkOptions& options) {
        Through(proxy)(options);
        options.connect_only = true;
    });
    std::vector<ScriptedProxy::Caller> callers;
    const auto add = [&](ConnectionKind kind, bool may_be_added = true) {
        const std::string name = fmt::format("1.{}.1.1:8333", callers.size());
        auto added = std::async(std::launch::async, [&] {
            return kit.network->Control().AddConnection(name, kind, false);
        });
        if (!may_be_added) return added.get();
        callers.push_back(proxy.Take());
        if (!added.get()) return false;
        callers.back().peer.ShakeHands();
        kit.WaitForPeers(callers.size());
        return true;
    };
    CHECK_FALSE(add(ConnectionKind::kManual, false));
    CHECK_FALSE(add(ConnectionKind::kInbound, false));
    for (int i = 0; i < 2; ++i) CHECK(add(ConnectionKind::kBlockRelay));
    CHECK_FALSE(add(ConnectionKind::kBlockRelay, false));
    for (int i = 0; i < 8; ++i) CHECK(add(ConnectionKind::kOutboundFullRelay));
    CHECK_FALSE(add(ConnectionKind::kOutboundFullRelay, false));
    CHECK(add(ConnectionKind::kAddrFetch));
    CHECK_FALSE(add(ConnectionKind::kAddrFetch, false)); // no slot at all is left
    CHECK(kit.network->Info().Counts().out == 11);
}

} // namespace ibd
