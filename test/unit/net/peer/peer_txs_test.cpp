// Relay of transactions: announcements, requests, orphans and packages, answers, and the rules that
// peers must keep.
#include "net/relay_scene.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

TEST_CASE("an orphan with another witness does not end the request for the right one", "[peer_txs]")
{
    Scene scene;
    const PeerId friendly = scene.Befriend(ConnectionKind::kInbound);
    const PeerId stranger = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef parent = Simple(1);
    const TransactionRef child = ChildOf(parent);
    const TransactionRef spoilt = ChildOf(parent, 1'000, Bytes{sim::ModelPool::kBadWitness});
    REQUIRE(spoilt->Id() == child->Id());
    scene.SayInv(friendly, child);
    scene.SayTx(stranger, spoilt);
    // Only the sender counts as its announcer.
    CHECK(scene.AnnouncersOf(spoilt) == std::vector{stranger});
    scene.node.MoveTime(3);
    CHECK(scene.Asked(friendly) == Items(kInvWtx, child->WitnessId()));
    scene.SayTx(friendly, child);
    scene.SayTx(friendly, parent);
    CHECK(scene.pool.HasTx(child));
}

TEST_CASE("an orphan with many parents that is announced again costs no look at them", "[peer_txs]")
{
    constexpr uint32_t kParents = 500;
    Scene scene;
    std::vector<OutPoint> spent;
    for (uint32_t i = 0; i < kParents; ++i) spent.push_back({Simple(i)->Id(), 0});
    const TransactionRef orphan = MakeModelTx(spent, 100'000);
    const PeerId sender = scene.Befriend(ConnectionKind::kInbound);
    const PeerId full = scene.Befriend(ConnectionKind::kInbound);
    scene.SayTx(sender, orphan);
    InvMessage many, again;
    for (uint32_t i = 0; i < TxFetcher::kMaxAnnouncements; ++i) {
        many.list.items.push_back({kInvWtx, Simple(1'000 + i)->WitnessId()});
    }
    again.list.items.assign(100, {kInvWtx, orphan->WitnessId()});
    scene.node.Say(full, many); // it may announce no more
    scene.pool.lookups = 0;
    scene.node.Say(sender, again);
    scene.node.Say(full, again);
    CHECK(scene.pool.lookups == 0);
    CHECK(scene.AnnouncersOf(orphan) == std::vector{sender});
}

TEST_CASE("long lists of a peer are read in turns with other peers", "[peer_txs]")
{
    Scene scene;
    const PeerId greedy = scene.Befriend(ConnectionKind::kInbound);
    const PeerId modest = scene.Befriend(ConnectionKind::kInbound);
    InvMessage inv;
    GetDataMessage request;
    for (uint32_t i = 0; i < 5'000; ++i) {
        inv.list.items.push_back({kInvWtx, Simple(i)->WitnessId()});
        request.list.items.push_back({kInvWtx, Simple(i)->WitnessId()});
    }
    const auto send = [&](PeerId peer, std::string_view type, Bytes payload) {
        scene.node.manager.Received(peer, {std::string(type), std::move(payload), 0, ""});
    };
    scene.node.env.micros_for_a_look = 50;
    // A turn reads a bounded part of each message, and later messages wait.
    for (const bool is_inv : {true, false}) {
        scene.pool.lookups = 0;
        if (is_inv) send(greedy, InvMessage::kType, Encode(inv));
        if (!is_inv) send(greedy, GetDataMessage::kType, Encode(request));
        send(greedy, PingMessage::kType, Encode(PingMessage{1}));
        send(modest, PingMessage::kType, Encode(PingMessage{2}));
        size_t rounds = 0;
        for (; scene.node.Take<PongMessage>(modest).empty(); ++rounds) scene.node.manager.Work();
        CHECK(rounds <= 3);
        CHECK(scene.pool.lookups < 100);
        size_t not_found = 0;
        const auto is_answered = [&] {
            bool pong = false;
            for (const OutgoingMessage& message : scene.node.link.sent[greedy]) {
                pong |= message.type == PongMessage::kType;
                if (message.type != NotFoundMessage::kType) continue;
                not_found += Decode<NotFoundMessage>(message.payload)->list.items.size();
            }
            scene.node.link.sent[greedy].clear();
            return pong;
        };
        CHECK_FALSE(is_answered());
        while (!is_answered()) scene.node.manager.Work();
        if (is_inv) CHECK(scene.pool.lookups == inv.list.items.size());
        if (!is_inv) CHECK(not_found == request.list.items.size());
    }
}

TEST_CASE("peers take turns at a pool without room", "[peer_txs]")
{
    constexpr uint32_t kEach = 6;
    Scene scene;
    scene.pool.room = 1; // of one offer
    scene.pool.held = true;
    std::vector<PeerId> peers;
    for (int i = 0; i < 4; ++i) peers.push_back(scene.Befriend(ConnectionKind::kInbound));
    // The first peer has sent all it has before the others say a word.
    for (const PeerId peer : peers) {
        for (uint32_t i = 0; i < kEach; ++i) {
            const auto n = static_cast<uint32_t>(peer) * kEach + i;
            const size_t size = peer == peers[1] ? 5'000 : 0; // they do not go before large ones
            scene.node.Say(peer, TxMessage{MakeModelTx({ModelCoin(n)}, 10'000, {}, 2, size)});
        }
    }
    scene.pool.held = false;
    scene.Settle();
    REQUIRE(scene.pool.offers.size() == kEach * peers.size());
    std::map<PeerId, size_t> had;
    for (size_t i = 0; i < scene.pool.offers.size(); ++i) {
        const size_t turns = had[scene.pool.offers[i].peer]++;
        CHECK(turns == i / peers.size());
    }
}

TEST_CASE("a small transaction passes large ones that the pool has no room for", "[peer_txs]")
{
    Scene scene;
    scene.pool.room = 10'000;
    scene.pool.held = true;
    std::vector<PeerId> peers;
    for (int i = 0; i < 4; ++i) peers.push_back(scene.Befriend(ConnectionKind::kInbound));
    for (uint32_t i = 0; i < 3; ++i) {
        scene.node.Say(peers[i], TxMessage{MakeModelTx({ModelCoin(i)}, 10'000, {}, 2, 6'000)});
    }
    scene.node.Say(peers[3], TxMessage{Simple(3)});
    REQUIRE(scene.pool.offers.size() == 2);
    CHECK(scene.pool.offers[1].peer == peers[3]);
    scene.pool.held = false;
    scene.Settle();
    REQUIRE(scene.pool.offers.size() == 4);
    CHECK(scene.pool.offers[2].peer == peers[1]);
    CHECK(scene.pool.offers[3].peer == peers[2]);
}

TEST_CASE("verdicts on orphans with many parents leave chances for a block", "[peer_txs]")
{
    constexpr uint32_t kParents = 400;
    constexpr uint32_t kOrphans = 8;
    Scene scene;
    scene.pool.held = true;
    for (uint32_t i = 0; i < kOrphans; ++i) {
        std::vector<OutPoint> spent;
        for (uint32_t n = 0; n < kParents; ++n) {
            spent.push_back({Simple(1'000 + i * kParents + n)->Id(), 0});
        }
        scene.node.Say(scene.Befriend(ConnectionKind::kInbound),
                       TxMessage{MakeModelTx(spent, 1'000)});
    }
    REQUIRE(scene.pool.offers.size() == kOrphans);
    scene.pool.held = false;
    // Between two calls the thread of the peers takes what has arrived, as a block.
    const size_t before = scene.pool.lookups;
    size_t rounds = 0;
    for (bool more = true; more; ++rounds) {
        const size_t last = scene.pool.lookups;
        more = scene.node.manager.Work();
        CHECK(scene.pool.lookups - last <= 2 * (TxRelay::kLinksOfRound + kParents));
    }
    CHECK(scene.pool.lookups - before >= kOrphans * kParents);
    CHECK(rounds >= kOrphans / 2);
    CHECK(scene.node.manager.Orphans().size() == kOrphans);
}

TEST_CASE("an orphan of an orphan outlives the peer that sent both", "[peer_txs]")
{
    Scene scene;
    const PeerId friendly = scene.Befriend(ConnectionKind::kInbound);
    const PeerId stranger = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef first = Simple(1);
    const TransactionRef second = ChildOf(first);
    const TransactionRef third = ChildOf(second);
    scene.SayTx(stranger, second);
    scene.SayTx(stranger, third);
    for (const TransactionRef& tx : {second, third}) scene.SayInv(friendly, tx);
    scene.node.manager.Disconnected(stranger);
    CHECK(scene.AnnouncersOf(third) == std::vector{friendly});
    scene.SayTx(friendly, first);
    CHECK(scene.pool.HasTx(third));
}

TEST_CASE("an announced transaction is requested, checked and announced", "[peer_txs]")
{
    Scene scene;
    const PeerId sender = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId other = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId old = scene.Befriend(ConnectionKind::kInbound, false);
    const TransactionRef tx = Simple(1, Bytes{1});
    scene.SayInv(sender, tx);
    CHECK(scene.Asked(sender) == Items(kInvWtx, tx->WitnessId()));
    scene.SayTx(sender, tx);
    CHECK(scene.pool.HasTx(tx));
    CHECK(scene.node.Info(sender).last_transaction == kStart);
    scene.Wait();
    CHECK(scene.Told(other) == Items(kInvWtx, tx->WitnessId()));
    CHECK(scene.Told(old) == Items(kInvTx, tx->Id()));
    CHECK(scene.Told(sender).empty());
    // Once is enough.
    scene.SayInv(other, tx);
    scene.node.MoveTime(10);
    CHECK(scene.Asked(other).empty());
}

TEST_CASE("inbound peers, txids and busy peers are asked later", "[peer_txs]")
{
    Scene scene;
    const PeerId in = scene.Befriend(ConnectionKind::kInbound);
    const PeerId out = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId old = scene.Befriend(ConnectionKind::kOutboundFullRelay, false);
    scene.SayInv(in, Simple(1));
    scene.SayInv(old, Simple(2), false);
    CHECK(scene.Asked(in).empty());
    CHECK(scene.Asked(old).empty());
    scene.node.MoveTime(2);
    CHECK(scene.Asked(in).size() == 1);
    CHECK(scene.Asked(old) == Items(kInvWitnessTx, Simple(2)->Id()));
    for (uint32_t n = 0; n < TxFetcher::kMaxInFlight; ++n) scene.SayInv(out, Simple(100 + n));
    CHECK(scene.Asked(out).size() == TxFetcher::kMaxInFlight);
    scene.SayInv(out, Simple(300));
    CHECK(scene.Asked(out).empty());
    scene.node.MoveTime(2);
    CHECK(scene.Asked(out).size() == 1);
}

TEST_CASE("the next peer is asked when one does not answer, or does not have it", "[peer_txs]")
{
    Scene scene;
    const PeerId a = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId b = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef tx = Simple(1);
    scene.SayInv(a, tx);
    CHECK(scene.Asked(a).size() == 1);
    scene.SayInv(b, tx);
    scene.node.MoveTime(59);
    CHECK(scene.Asked(b).empty());
    SECTION("time-out") { scene.node.MoveTime(1); }
    SECTION("notfound")
    {
        NotFoundMessage message;
        message.list.items = Items(kInvWtx, tx->WitnessId());
        scene.node.Say(a, message);
    }
    SECTION("disconnection") { scene.node.manager.Disconnected(a); }
    scene.node.Run();
    CHECK(scene.Asked(b).size() == 1);
}

TEST_CASE("a peer may announce thousands of transactions, not more", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound);
    const PeerId trusted = scene.Befriend(ConnectionKind::kInbound, true, kPermitRelay);
    InvMessage message;
    for (uint32_t n = 0; n < TxFetcher::kMaxAnnouncements + 10; ++n) {
        message.list.items.push_back({kInvWtx, ModelCoin(n).txid});
    }
    scene.node.Say(peer, message);
    scene.node.MoveTime(5);
    CHECK(scene.Asked(peer).size() == TxFetcher::kMaxAnnouncements);
    for (InventoryItem& item : message.list.items) item.hash.data()[20] = 1;
    scene.node.Say(trusted, message);
    scene.node.MoveTime(5);
    CHECK(scene.Asked(trusted).size() == TxFetcher::kMaxAnnouncements + 10);
}

TEST_CASE("a refused transaction is not requested again until the tip changes", "[peer_txs]")
{
    Scene scene;
    const PeerId a = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId b = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef bad = MakeModelTx({ModelCoin(1)}, 1'000, {}, sim::ModelPool::kBadVersion);
    scene.SayTx(a, bad);
    REQUIRE(scene.pool.offers.size() == 1);
    scene.SayInv(b, bad);
    scene.SayTx(b, bad);
    CHECK(scene.Asked(b).empty());
    CHECK(scene.pool.offers.size() == 1);
    const HeaderNode& before = scene.node.chain.Tip();
    scene.node.manager.TipChanged(scene.node.chain.Extend(1), before);
    scene.SayInv(b, bad);
    CHECK(scene.Asked(b).size() == 1);
}

TEST_CASE("transactions of a new block are known, and those of a left one are not", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const HeaderNode& before = scene.node.chain.Tip();
    scene.node.manager.TipChanged(before, *before.prev);
    const HeaderNode& tip = scene.node.chain.Extend(1, nullptr, 5, true, 2);
    scene.node.manager.TipChanged(tip, before);
    BlockView block;
    REQUIRE(block.Parse(scene.node.chain.Block(tip).raw));
    const TransactionRef mined = *Transaction::Parse(block.Txs()[1].raw);
    scene.SayInv(peer, mined);
    CHECK(scene.Asked(peer).empty());
    // It can still be requested, which helps peers to complete the block.
    scene.node.Say(peer, GetDataMessage{{.list = {.items = Items(kInvWtx, mined->WitnessId())}}});
    REQUIRE(scene.node.Take<TxMessage>(peer).size() == 1);
    scene.node.chain.SetTip(before);
    const HeaderNode& other = scene.node.chain.Extend(2, nullptr, 9);
    scene.node.manager.TipChanged(other, before);
    scene.SayInv(peer, mined);
    CHECK(scene.Asked(peer).size() == 1);
}

TEST_CASE("a transaction that came otherwise during its check is not refused", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    scene.pool.held = true;
    SECTION("by the user")
    {
        const TransactionRef tx = Simple(1);
        scene.SayTx(peer, tx);
        scene.pool.Add(tx);
        scene.pool.held = false;
        scene.Settle();
        // Its child is kept although another parent is missing, too.
        scene.SayTx(peer, MakeModelTx({{tx->Id(), 0}, {Simple(2)->Id(), 0}}, 1'000));
        CHECK(scene.node.manager.Orphans().size() == 1);
    }
    SECTION("in a block")
    {
        const HeaderNode& before = scene.node.chain.Tip();
        scene.node.manager.TipChanged(before, *before.prev);
        const HeaderNode& tip = scene.node.chain.Extend(1, nullptr, 5, true, 2);
        BlockView block;
        REQUIRE(block.Parse(scene.node.chain.Block(tip).raw));
        // The model knows no spent coins, so its verdict is that the inputs are missing.
        scene.SayTx(peer, *Transaction::Parse(block.Txs()[1].raw));
        scene.node.manager.TipChanged(tip, before);
        scene.pool.held = false;
        scene.Settle();
        CHECK(scene.pool.offers.size() == 1);
        CHECK(scene.node.manager.Orphans().empty());
    }
}

TEST_CASE("a peer is read again after the verdict on its transaction", "[peer_txs]")
{
    Scene scene;
    const PeerId a = scene.Befriend(ConnectionKind::kInbound);
    const PeerId b = scene.Befriend(ConnectionKind::kInbound);
    scene.pool.held = true;
    scene.SayTx(a, Simple(1));
    scene.node.Say(a, PingMessage{5});
    scene.node.Say(b, PingMessage{6});
    CHECK(scene.node.Take<PongMessage>(a).empty());
    CHECK(scene.node.Take<PongMessage>(b).size() == 1);
    // The same transaction of another peer waits for the verdict, and is not checked twice.
    scene.SayTx(b, Simple(1));
    scene.node.Say(b, PingMessage{7});
    CHECK(scene.node.Take<PongMessage>(b).empty());
    scene.pool.held = false;
    scene.Settle();
    CHECK(scene.node.Take<PongMessage>(a).size() == 1);
    CHECK(scene.node.Take<PongMessage>(b).size() == 1);
    CHECK(scene.pool.offers.size() == 1);
}

TEST_CASE("a transaction that is being checked is not requested", "[peer_txs]")
{
    Scene scene;
    const PeerId a = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId b = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef tx = Simple(1);
    scene.SayInv(a, tx);
    scene.SayInv(b, tx);
    scene.pool.held = true;
    scene.SayTx(a, tx);
    CHECK(scene.Asked(b).empty());
    scene.pool.held = false;
    scene.node.MoveTime(100);
    CHECK(scene.Asked(b).empty());
}

TEST_CASE("peers take turns when the pool has no room", "[peer_txs]")
{
    Scene scene;
    scene.pool.held = true;
    scene.pool.room = 100;
    std::vector<PeerId> peers;
    for (uint32_t n = 0; n < 4; ++n) {
        peers.push_back(scene.Befriend(ConnectionKind::kInbound));
    }
    // The first two send as much as they can.
    for (uint32_t n = 0; n < 8; ++n) scene.SayTx(peers[n % 2], Simple(n));
    scene.SayTx(peers[2], Simple(100));
    scene.SayTx(peers[3], Simple(101));
    CHECK(scene.pool.offers.size() == 1);
    scene.pool.held = false;
    scene.Settle();
    REQUIRE(scene.pool.offers.size() == 10);
    for (size_t i = 0; i < 4; ++i) CHECK(scene.pool.offers[i].peer == peers[i]);
}

TEST_CASE("the parents of an orphan are requested, and it comes in after them", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId other = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef parent = Simple(1, Bytes{1});
    const TransactionRef child = ChildOf(parent, 1'000, Bytes{2});
    const TransactionRef grandchild = ChildOf(child);
    scene.SayTx(peer, grandchild);
    scene.SayTx(peer, child);
    REQUIRE(scene.AnnouncersOf(child) == std::vector{peer});
    // By txid, as the input names it; a moment later, as the parent may be under way.
    CHECK(scene.Asked(peer).empty());
    scene.node.MoveTime(2);
    const auto asked = scene.Asked(peer);
    REQUIRE(!asked.empty());
    CHECK(asked.back() == InventoryItem{kInvWitnessTx, parent->Id()});
    // Another announcer is a second source of the parent.
    scene.SayInv(other, child);
    CHECK(scene.AnnouncersOf(child) == std::vector{peer, other});
    scene.SayTx(peer, parent);
    CHECK(scene.pool.HasTx(parent));
    CHECK(scene.pool.HasTx(child));
    CHECK(scene.pool.HasTx(grandchild));
    CHECK(scene.node.manager.Orphans().empty());
    scene.node.MoveTime(100);
    CHECK(scene.Asked(other).empty());
}

TEST_CASE("an orphan goes with its peer, and with a block that spends its input", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    scene.SayTx(peer, ChildOf(Simple(1)));
    REQUIRE(scene.node.manager.Orphans().size() == 1);
    scene.node.manager.Disconnected(peer);
    CHECK(scene.node.manager.Orphans().empty());
}

TEST_CASE("an orphan of a refused parent is refused", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef bad = MakeModelTx({ModelCoin(1)}, 1'000, {}, sim::ModelPool::kBadVersion);
    const TransactionRef child = ChildOf(bad);
    scene.SayTx(peer, bad);
    scene.SayTx(peer, child);
    CHECK(scene.node.manager.Orphans().empty());
    scene.SayTx(peer, child);
    CHECK(scene.pool.offers.size() == 2);
}

TEST_CASE("a parent that pays too little comes in with its child", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId other = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef parent = MakeModelTx({ModelCoin(1)}, 0);
    const TransactionRef child = ChildOf(parent, 10'000);
    SECTION("the child first")
    {
        scene.SayTx(peer, child);
        REQUIRE(scene.node.manager.Orphans().size() == 1);
        scene.SayTx(peer, parent);
    }
    SECTION("the parent first, and again on request")
    {
        scene.SayTx(peer, parent);
        CHECK_FALSE(scene.pool.HasTx(parent));
        scene.SayTx(peer, child);
        scene.node.MoveTime(4);
        CHECK(scene.Asked(peer) == Items(kInvWitnessTx, parent->Id()));
        scene.SayTx(peer, parent);
    }
    CHECK(scene.pool.HasTx(parent));
    CHECK(scene.pool.HasTx(child));
    CHECK(scene.node.manager.Orphans().empty());
    scene.Wait();
    REQUIRE(scene.Told(other).size() == 2);
}

TEST_CASE("a package that was refused is not checked twice", "[peer_txs]")
{
    Scene scene;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const TransactionRef parent = MakeModelTx({ModelCoin(1)}, 0);
    const TransactionRef child = ChildOf(parent, 1);
    scene.SayTx(peer, child);
    scene.SayTx(peer, parent);
    REQUIRE(scene.pool.offers.size() == 3); // each alone, both together
    scene.SayTx(peer, parent);
    CHECK(scene.pool.offers.size() == 3);
    CHECK(scene.pool.Size() == 0);
}

TEST_CASE("announcements honour fee filters and Bloom filters", "[peer_txs]")
{
    Scene scene(WithServices(kNodeNetwork | kNodeWitness | kNodeBloom));
    const PeerId sender = scene.Befriend(ConnectionKind::kInbound);
    const PeerId cheap = scene.Befriend(ConnectionKind::kInbound);
    const PeerId filtered = scene.Befriend(ConnectionKind::kInbound, true, kPermitNone, false);
    const PeerId silent = scene.Befriend(ConnectionKind::kInbound, true, kPermitNone, false);
    const TransactionRef low = MakeModelTx({ModelCoin(1)}, 200);
    const TransactionRef high = MakeModelTx({ModelCoin(2)}, 20'000);
    scene.node.Say(cheap, FeeFilterMessage{10'000});
    CHECK(scene.node.Info(cheap).fee_filter == 10'000);
    FilterLoadMessage filter;
    filter.data = Bytes(1'000);
    filter.hash_count = 10;
    BloomFilter bits(filter);
    scene.node.Say(filtered, filter);
    scene.node.Say(filtered,
                   FilterAddMessage{Bytes(low->Id().Span().begin(), low->Id().Span().end())});
    CHECK(scene.node.Info(filtered).relays_txs);
    scene.SayTx(sender, low);
    scene.SayTx(sender, high);
    scene.Wait();
    CHECK(scene.Told(cheap) == Items(kInvWtx, high->WitnessId()));
    CHECK(scene.Told(filtered) == Items(kInvWtx, low->WitnessId()));
    CHECK(scene.Told(silent).empty());
    CHECK_FALSE(scene.node.Info(silent).relays_txs);
}

TEST_CASE("announcements trickle, some at a time, parents first", "[peer_txs]")
{
    Scene scene;
    const PeerId sender = scene.Befriend(ConnectionKind::kInbound, true, kPermitRelay);
    const PeerId other = scene.Befriend(ConnectionKind::kInbound);
    TransactionRef tx = Simple(0);
    std::vector<InventoryItem> expected;
    for (uint32_t n = 1; n <= 200; ++n) {
        scene.SayTx(sender, tx);
        expected.push_back({kInvWtx, tx->WitnessId()});
        tx = ChildOf(tx);
    }
    CHECK(scene.node.Info(other).to_announce == 200);
    size_t most = 0;
    std::vector<InventoryItem> told;
    for (int i = 0; i < 120; ++i) {
        scene.node.MoveTime(1);
        const auto now = scene.Told(other);
        most = std::max(most, now.size());
        told.insert(told.end(), now.begin(), now.end());
    }
    CHECK(told == expected);
    CHECK(most == TxAnnouncer::kAtOnce);
}

TEST_CASE("a transaction is sent only to a peer that could know of it", "[peer_txs]")
{
    Scene scene;
    const PeerId sender = scene.Befriend(ConnectionKind::kInbound);
    const PeerId spy = scene.Befriend(ConnectionKind::kInbound);
    const TransactionRef tx = Simple(1, Bytes{1});
    scene.Wait();
    scene.SayTx(sender, tx);
    const auto ask = [&](uint32_t type, const Uint256& hash) {
        scene.node.Say(spy, GetDataMessage{{.list = {.items = Items(type, hash)}}});
    };
    ask(kInvWtx, tx->WitnessId());
    CHECK(scene.node.Take<NotFoundMessage>(spy).size() == 1);
    scene.Wait();
    scene.pool.unbroadcast = {tx->Id()};
    ask(kInvWtx, tx->WitnessId());
    const auto sent = scene.node.Take<TxMessage>(spy);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].tx->WitnessId() == tx->WitnessId());
    CHECK(scene.pool.unbroadcast.empty());
    ask(kInvTx, tx->Id());
    const auto stripped = scene.node.Take<TxMessage>(spy);
    REQUIRE(stripped.size() == 1);
    CHECK(stripped[0].tx->WitnessId() == tx->Id());
    ask(kInvWitnessTx, tx->Id());
    CHECK(scene.node.Take<TxMessage>(spy)[0].tx->WitnessId() == tx->WitnessId());
}

TEST_CASE("inbound peers get their announcements at the same times", "[peer_txs]")
{
    Scene scene;
    const PeerId sender = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    const PeerId a = scene.Befriend(ConnectionKind::kInbound);
    const PeerId b = scene.Befriend(ConnectionKind::kInbound);
    for (uint32_t n = 0; n < 30; ++n) {
        scene.SayTx(sender, Simple(n));
        for (int i = 0; i < 20; ++i) {
            scene.node.now += kSecond / 4;
            scene.node.Run();
            CHECK(scene.Told(a) == scene.Told(b));
        }
    }
}

TEST_CASE("peers get the minimum fee rate of the pool", "[peer_txs]")
{
    Scene scene;
    const auto rate = [&](ConnectionKind kind, uint32_t permissions = kPermitNone) {
        const PeerId id = scene.node.Connect(kind, "9.9.9.9:9", permissions);
        scene.node.Say(id, TestNode::Version());
        scene.node.Say(id, VerackMessage{});
        const auto told = scene.node.Take<FeeFilterMessage>(id);
        return told.empty() ? -1 : told.back().rate;
    };
    CHECK(rate(ConnectionKind::kInbound) == sim::ModelPool::kMinRate);
    CHECK(rate(ConnectionKind::kInbound, kPermitForceRelay) == -1);
    CHECK(rate(ConnectionKind::kBlockRelay) == -1);
    scene.pool.full_rate = 50'000;
    const Amount told = rate(ConnectionKind::kInbound);
    CHECK(told > 50'000 / 1.21);
    CHECK(told < 50'000 * 1.1);
    scene.node.chain.downloading = true;
    CHECK(rate(ConnectionKind::kInbound) > 9'000'000);
    const PeerId last = 4;
    scene.node.chain.downloading = false;
    scene.node.MoveTime(1);
    CHECK(scene.node.Take<FeeFilterMessage>(last).back().rate < 60'000);
}

TEST_CASE("the whole pool is announced on request to those that may", "[peer_txs]")
{
    Scene scene;
    const PeerId sender = scene.Befriend(ConnectionKind::kInbound);
    for (uint32_t n = 0; n < 100; ++n) scene.SayTx(sender, Simple(n));
    const PeerId trusted = scene.Befriend(ConnectionKind::kInbound, true, kPermitMempool);
    const PeerId stranger = scene.Befriend(ConnectionKind::kInbound);
    scene.node.Say(trusted, MempoolMessage{});
    scene.Wait();
    CHECK(scene.Told(trusted).size() == 100);
    scene.node.Say(stranger, MempoolMessage{});
    CHECK(scene.node.IsClosed(stranger));
}

TEST_CASE("without wtxid relay only txids count, and with it only wtxids", "[peer_txs]")
{
    Scene scene;
    const PeerId modern = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    scene.SayInv(modern, Simple(1), false);
    scene.node.MoveTime(5);
    CHECK(scene.Asked(modern).empty());
    const PeerId old = scene.Befriend(ConnectionKind::kOutboundFullRelay, false);
    scene.SayInv(old, Simple(1), true);
    scene.node.MoveTime(5);
    CHECK(scene.Asked(old).empty());
}

TEST_CASE("transactions are a violation where none are wanted", "[peer_txs]")
{
    Scene scene(BlocksOnly());
    const auto version = [&](ConnectionKind kind, uint32_t permissions) {
        const PeerId id = scene.node.Connect(kind, "9.9.9.9:9", permissions);
        scene.node.Say(id, TestNode::Version());
        return scene.node.Take<VersionMessage>(id).at(0).relay;
    };
    CHECK_FALSE(version(ConnectionKind::kInbound, kPermitNone));
    CHECK(version(ConnectionKind::kInbound, kPermitRelay));
    const PeerId stranger = scene.Befriend(ConnectionKind::kInbound);
    scene.SayTx(stranger, Simple(1));
    CHECK(scene.node.IsClosed(stranger));
    const PeerId announcer = scene.Befriend(ConnectionKind::kInbound);
    scene.SayInv(announcer, Simple(1));
    CHECK(scene.node.IsClosed(announcer));
    const PeerId trusted = scene.Befriend(ConnectionKind::kInbound, true, kPermitRelay);
    scene.SayTx(trusted, Simple(1));
    CHECK_FALSE(scene.node.IsClosed(trusted));
    CHECK(scene.pool.Size() == 1);
}

TEST_CASE("a user's transaction is announced again until a peer has fetched it", "[peer_txs]")
{
    Scene scene;
    const TransactionRef tx = Simple(1);
    scene.pool.Add(tx);
    scene.pool.unbroadcast = {tx->Id()};
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound);
    scene.Wait();
    CHECK(scene.Told(peer).empty());
    scene.node.manager.AnnounceAgain();
    scene.Wait();
    CHECK(scene.Told(peer) == Items(kInvWtx, tx->WitnessId()));
}

TEST_CASE("a peer with permission forcerelay has its transactions relayed again", "[peer_txs]")
{
    Scene scene;
    const PeerId gateway = scene.Befriend(ConnectionKind::kInbound, true, kPermitForceRelay);
    const TransactionRef tx = Simple(1);
    scene.SayTx(gateway, tx);
    const PeerId later = scene.Befriend(ConnectionKind::kInbound);
    scene.SayTx(gateway, tx);
    scene.Wait();
    CHECK(scene.Told(later) == Items(kInvWtx, tx->WitnessId()));
}

TEST_CASE("no transactions are read during initial download", "[peer_txs]")
{
    Scene scene;
    scene.node.chain.downloading = true;
    const PeerId peer = scene.Befriend(ConnectionKind::kOutboundFullRelay);
    scene.SayInv(peer, Simple(1));
    scene.SayTx(peer, Simple(1));
    scene.node.MoveTime(5);
    CHECK(scene.Asked(peer).empty());
    CHECK(scene.pool.offers.empty());
    CHECK_FALSE(scene.node.IsClosed(peer));
}

} // namespace ibd
