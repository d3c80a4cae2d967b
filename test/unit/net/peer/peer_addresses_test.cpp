// Gossip of addresses: requests, acceptance, relay and answers, and their bounds.
#include "net/peer_support.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

using Types = std::vector<std::string>;

class TestBook final : public AddressBook {
public:
    void Heard(const std::vector<PeerAddress>& addresses, const NetAddress&, int64_t) override
    {
        heard.insert(heard.end(), addresses.begin(), addresses.end());
    }
    void Good(const Endpoint& endpoint) override { good.push_back(endpoint.ToString()); }
    void SetServices(const Endpoint&, uint64_t services) override { last_services = services; }
    void Connected(const Endpoint& endpoint) override { left.push_back(endpoint.ToString()); }
    bool IsUnwanted(const NetAddress& address) const override
    {
        return address == *NetAddress::Parse("6.6.6.6");
    }
    bool IsReachable(const NetAddress& address) const override
    {
        return !address.Is(AddressNetwork::kOnion);
    }
    std::vector<PeerAddress> Answer(const NewPeer&, bool trusted) override
    {
        return trusted ? std::vector<PeerAddress>{} : answer;
    }
    bool Listens() const override { return true; }
    void SeenAs(const Endpoint&) override {}
    std::optional<Endpoint> OwnAddressFor(const NewPeer&, const Endpoint&) override { return own; }

    std::vector<PeerAddress> heard, answer;
    Types good, left;
    uint64_t last_services = 0;
    std::optional<Endpoint> own;
};

struct GossipKit {
    TestBook book;
    TestNode node{RegtestParams(), {}, 1, &book};
};

PeerAddress Address(int number, int64_t time = kStart, const char* form = "8.8.{}.{}:8333")
{
    PeerAddress out;
    out.endpoint = *Endpoint::Parse(fmt::format(fmt::runtime(form), number / 256, number % 256), 1);
    out.services = kNodeNetwork;
    out.time = static_cast<uint32_t>(time);
    return out;
}

AddrMessage List(int from, int count, int64_t time = kStart)
{
    AddrMessage out;
    for (int i = from; i < from + count; ++i) out.list.items.push_back(Address(i, time));
    return out;
}

} // namespace

TEST_CASE("outbound peers are asked for addresses", "[gossip]")
{
    GossipKit kit;
    const PeerId full = kit.node.Connect(ConnectionKind::kOutboundFullRelay, "8.8.8.8:1");
    (void)kit.node.Types(full);
    kit.node.Say(full, TestNode::Version());
    CHECK(kit.node.Types(full) == Types{"wtxidrelay", "sendaddrv2", "verack", "getaddr"});
    CHECK(kit.book.good == Types{"8.8.8.8:1"});
    CHECK(kit.book.last_services == TestNode::Version().services);
    CHECK(kit.node.Info(full).relays_addresses);
    kit.node.Say(full, VerackMessage{});

    const PeerId blocks = kit.node.Connect(ConnectionKind::kBlockRelay, "8.8.8.8:2");
    (void)kit.node.Types(blocks);
    kit.node.Say(blocks, TestNode::Version());
    CHECK(kit.node.Types(blocks) == Types{"wtxidrelay", "sendaddrv2", "verack"});
    kit.node.Say(blocks, VerackMessage{});
    kit.node.Say(blocks, List(0, 3));
    CHECK_FALSE(kit.node.Info(blocks).relays_addresses);
    CHECK(kit.book.heard.empty());

    const PeerId feeler = kit.node.Connect(ConnectionKind::kFeeler, "8.8.8.8:3");
    kit.node.Say(feeler, TestNode::Version());
    CHECK(kit.book.good.back() == "8.8.8.8:3");
    CHECK(kit.node.IsClosed(feeler));

    // The answer is large, and not limited.
    kit.node.Say(full, List(0, 1000));
    CHECK(kit.node.Info(full).addresses_processed == 1000);
    CHECK(kit.book.heard.size() == 1000);
    for (const PeerId id : {full, blocks, feeler}) kit.node.manager.Disconnected(id);
    CHECK(kit.book.left == Types{"8.8.8.8:1"});
}

TEST_CASE("addresses are taken at a bounded rate", "[gossip]")
{
    GossipKit kit;
    const PeerId id = kit.node.Befriend(ConnectionKind::kInbound);
    kit.node.Say(id, List(0, 10));
    CHECK(kit.node.Info(id).addresses_processed == 1);
    CHECK(kit.node.Info(id).addresses_limited == 9);
    kit.node.MoveTime(60);
    kit.node.Say(id, List(100, 10));
    CHECK(kit.node.Info(id).addresses_processed == 7);
    CHECK(kit.node.Info(id).addresses_limited == 13);
    CHECK(kit.book.heard.size() == 7);

    const PeerId trusted = kit.node.Befriend(ConnectionKind::kInbound, "9.9.9.9:1", kPermitAddr);
    kit.node.Say(trusted, List(1000, 1000));
    CHECK(kit.node.Info(trusted).addresses_processed == 1000);
    CHECK(kit.node.Info(trusted).addresses_limited == 0);
}

TEST_CASE("which addresses are kept", "[gossip]")
{
    GossipKit kit;
    const PeerId id = kit.node.Befriend(ConnectionKind::kInbound, "9.9.9.9:1", kPermitAddr);
    AddrV2Message list;
    list.list.items = {Address(1), Address(2), Address(3), Address(4)};
    list.list.items[0].services = kNodeNone; // no full node
    list.list.items[1].endpoint = *Endpoint::Parse("6.6.6.6", 1);
    list.list.items[2].time = 5;
    list.list.items[3].time = static_cast<uint32_t>(kStart + 3600);
    list.list.items.push_back(Address(5));
    list.list.items[4].endpoint =
        *Endpoint::Parse("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion", 8333);
    kit.node.Say(id, list);
    REQUIRE(kit.book.heard.size() == 2);
    for (const PeerAddress& address : kit.book.heard) {
        CHECK(address.time == kStart - 5 * 24 * 60 * 60);
    }
    CHECK(kit.node.Info(id).addresses_processed == 3); // not reachable, but passed on
}

TEST_CASE("fresh addresses go to two others, once", "[gossip]")
{
    GossipKit kit;
    std::vector<PeerId> others;
    for (int i = 0; i < 6; ++i) {
        const PeerId id = kit.node.Befriend(ConnectionKind::kInbound);
        kit.node.Say(id, GetAddrMessage{}); // takes part from now on
        others.push_back(id);
    }
    const PeerId from = kit.node.Befriend(ConnectionKind::kInbound, "9.9.9.9:1", kPermitAddr);
    const auto told = [&] {
        int count = 0;
        kit.node.MoveTime(200);
        for (const PeerId id : others) {
            for (const AddrMessage& message : kit.node.Take<AddrMessage>(id)) {
                count += static_cast<int>(message.list.items.size());
            }
        }
        CHECK(kit.node.Take<AddrMessage>(from).empty());
        return count;
    };
    CHECK(told() == 0);
    kit.node.Say(from, List(1, 1, kit.node.now / kSecond));
    CHECK(told() == 2);
    kit.node.Say(from, List(1, 1, kit.node.now / kSecond));
    CHECK(told() == 0); // the same two know it
    kit.node.Say(from, List(2, 1, kit.node.now / kSecond - 601));
    CHECK(told() == 0); // old
    kit.node.Say(from, List(10, 11, kit.node.now / kSecond));
    CHECK(told() == 0); // many at once are no news
    kit.node.Say(from, List(30, 10, kit.node.now / kSecond));
    const int soon = told();
    CHECK(soon + told() == 20); // a delay is random, and now and then longer
}

TEST_CASE("a getaddr is answered once, in the words that the asker knows", "[gossip]")
{
    const bool v2 = GENERATE(false, true);
    GossipKit kit;
    for (int i = 0; i < 900; ++i) kit.book.answer.push_back(Address(i));
    PeerAddress onion = Address(0);
    onion.endpoint =
        *Endpoint::Parse("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion", 8333);
    kit.book.answer.push_back(onion);
    const PeerId id = kit.node.Connect(ConnectionKind::kInbound);
    kit.node.Say(id, TestNode::Version());
    if (v2) kit.node.Say(id, SendAddrV2Message{});
    kit.node.Say(id, VerackMessage{});
    kit.node.Say(id, GetAddrMessage{});
    kit.node.Say(id, GetAddrMessage{});
    size_t count = 0;
    for (int i = 0; i < 20; ++i) {
        kit.node.MoveTime(30);
        for (const OutgoingMessage& message : kit.node.link.sent[id]) {
            if (!message.type.starts_with("addr")) continue;
            CHECK(message.type == (v2 ? "addrv2" : "addr"));
            count += v2 ? Decode<AddrV2Message>(message.payload)->list.items.size()
                        : Decode<AddrMessage>(message.payload)->list.items.size();
        }
        kit.node.link.sent[id].clear();
    }
    CHECK(count == (v2 ? 901 : 900));
}

TEST_CASE("a node tells of itself as soon as it may", "[gossip]")
{
    GossipKit kit;
    kit.book.own = *Endpoint::Parse("4.4.4.4", 8333);
    kit.node.chain.downloading = true;
    const PeerId id = kit.node.Connect(ConnectionKind::kOutboundFullRelay);
    kit.node.Say(id, TestNode::Version());
    kit.node.Say(id, VerackMessage{});
    CHECK(kit.node.Take<AddrMessage>(id).empty());
    kit.node.chain.downloading = false; // now it is of use
    kit.node.Run();
    const auto told = kit.node.Take<AddrMessage>(id);
    REQUIRE(told.size() == 1);
    REQUIRE(told[0].list.items.size() == 1);
    CHECK(told[0].list.items[0].endpoint == *kit.book.own);
    CHECK(told[0].list.items[0].time == kStart);
    kit.node.Run();
    CHECK(kit.node.Take<AddrMessage>(id).empty());
}

TEST_CASE("an address fetch ends when the peer has sent its addresses", "[gossip]")
{
    GossipKit kit;
    const PeerId id = kit.node.Befriend(ConnectionKind::kAddrFetch);
    kit.node.Say(id, List(0, 1)); // of itself, perhaps
    CHECK_FALSE(kit.node.IsClosed(id));
    kit.node.Say(id, List(0, 2));
    CHECK(kit.node.IsClosed(id));
    const PeerId mute = kit.node.Befriend(ConnectionKind::kAddrFetch, "9.9.9.9:1");
    kit.node.MoveTime(300);
    CHECK_FALSE(kit.node.IsClosed(mute));
    kit.node.MoveTime(1);
    CHECK(kit.node.IsClosed(mute));
}

} // namespace ibd
