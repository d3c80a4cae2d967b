// The handshake of BIP330: the peers that get the offer, and their possible answers.
#include "net/peer_support.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

PeerOptions Reconciling()
{
    PeerOptions out;
    out.reconciles = true;
    return out;
}

struct Scene {
    explicit Scene(PeerOptions options = Reconciling()) : node(RegtestParams(), std::move(options))
    {
    }
    /** Offers made to a peer that has sent this version, and is at that stage now. */
    std::vector<SendTxReconciliationMessage> Offers(ConnectionKind kind, VersionMessage version)
    {
        peer = node.Connect(kind);
        node.link.sent[peer].clear();
        node.Say(peer, version);
        return node.Take<SendTxReconciliationMessage>(peer);
    }
    bool DropsFor(const SendTxReconciliationMessage& message)
    {
        node.Say(peer, message);
        return node.IsClosed(peer);
    }

    TestNode node;
    PeerId peer = -1;
};

VersionMessage Old()
{
    VersionMessage out = TestNode::Version();
    out.version = kWtxidRelayVersion - 1;
    return out;
}

VersionMessage Silent()
{
    VersionMessage out = TestNode::Version();
    out.relay = false;
    return out;
}

} // namespace

TEST_CASE("reconciliation is offered where transactions go both ways", "[reconciliation]")
{
    const VersionMessage version = TestNode::Version();
    const auto offers = Scene().Offers(ConnectionKind::kInbound, version);
    REQUIRE(offers.size() == 1);
    CHECK(offers[0].version == 1);
    for (const auto kind : {ConnectionKind::kOutboundFullRelay, ConnectionKind::kManual}) {
        CHECK(Scene().Offers(kind, version).size() == 1);
    }
    for (const auto kind : {ConnectionKind::kBlockRelay, ConnectionKind::kFeeler,
                            ConnectionKind::kAddrFetch, ConnectionKind::kPrivateBroadcast}) {
        CHECK(Scene().Offers(kind, version).empty());
    }
    CHECK(Scene().Offers(ConnectionKind::kInbound, Old()).empty());
    CHECK(Scene().Offers(ConnectionKind::kInbound, Silent()).empty());
    PeerOptions blocks_only = Reconciling();
    blocks_only.blocks_only = true;
    CHECK(Scene(blocks_only).Offers(ConnectionKind::kInbound, version).empty());
    CHECK(Scene(PeerOptions{}).Offers(ConnectionKind::kInbound, version).empty());
}

TEST_CASE("reconciliation is agreed on once, before verack", "[reconciliation]")
{
    Scene scene;
    (void)scene.Offers(ConnectionKind::kInbound, TestNode::Version());
    CHECK_FALSE(scene.DropsFor({1, 5}));
    SECTION("again") { CHECK(scene.DropsFor({1, 5})); }
    SECTION("after verack")
    {
        scene.node.Say(scene.peer, WtxidRelayMessage{});
        scene.node.Say(scene.peer, VerackMessage{});
        CHECK_FALSE(scene.node.IsClosed(scene.peer));
        CHECK(scene.DropsFor({1, 5}));
    }
}

TEST_CASE("a reconciliation that does not fit ends the connection", "[reconciliation]")
{
    Scene scene;
    SECTION("version 0")
    {
        (void)scene.Offers(ConnectionKind::kInbound, TestNode::Version());
        CHECK(scene.DropsFor({0, 5}));
    }
    SECTION("a later version includes ours")
    {
        (void)scene.Offers(ConnectionKind::kInbound, TestNode::Version());
        CHECK_FALSE(scene.DropsFor({2, 5}));
    }
    SECTION("we take no transactions of it")
    {
        (void)scene.Offers(ConnectionKind::kBlockRelay, TestNode::Version());
        CHECK(scene.DropsFor({1, 5}));
    }
    SECTION("it takes none of us")
    {
        (void)scene.Offers(ConnectionKind::kInbound, Silent());
        CHECK(scene.DropsFor({1, 5}));
    }
    SECTION("to an offer that was not made")
    {
        (void)scene.Offers(ConnectionKind::kInbound, Old());
        CHECK_FALSE(scene.DropsFor({1, 5}));
    }
    SECTION("malformed")
    {
        (void)scene.Offers(ConnectionKind::kInbound, TestNode::Version());
        for (size_t size = 0; size < 12; ++size) {
            scene.node.SayRaw(scene.peer, "sendtxrcncl", Bytes(size, 1));
            CHECK_FALSE(scene.node.IsClosed(scene.peer));
        }
        CHECK_FALSE(scene.DropsFor({1, 5})); // nothing was agreed on
    }
    SECTION("without the option")
    {
        Scene off{PeerOptions{}};
        (void)off.Offers(ConnectionKind::kInbound, TestNode::Version());
        CHECK_FALSE(off.DropsFor({0, 5}));
    }
}

} // namespace ibd
