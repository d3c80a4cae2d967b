// Packed transactions between nodes: the peers that get them, their handling as if each had come by
// itself, and the cost of a damaged batch.
#include "net/packing_support.h"
#include "net/relay_scene.h"
#include "packing/failing_zstd.h"
#include "packing/tx_batch.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

PeerId BefriendPacking(Scene& scene, ConnectionKind kind = ConnectionKind::kOutboundFullRelay)
{
    return scene.Befriend(kind, true, kPermitNone, true, true);
}

/** Its witness is like a signature, so that it compresses no better than real ones. */
TransactionRef Signed(uint32_t n)
{
    const Hash32 half = Sha256Of(AsBytes(std::to_string(n)));
    Bytes witness(half.begin(), half.end());
    Append(witness, Sha256Of(half));
    return Simple(n, witness);
}

/** Transactions of the pool, which have been announced to all peers. */
std::vector<TransactionRef> Fill(Scene& scene, uint32_t count)
{
    std::vector<TransactionRef> out;
    for (uint32_t n = 0; n < count; ++n) {
        out.push_back(Signed(n));
        scene.pool.Add(out.back());
        scene.node.manager.Announce(*out.back());
    }
    scene.Wait();
    return out;
}

GetDataMessage RequestOf(const std::vector<TransactionRef>& txs, uint32_t type = kInvWtx)
{
    GetDataMessage out;
    for (const TransactionRef& tx : txs) {
        out.list.items.push_back({type, type == kInvWtx ? Uint256(tx->WitnessId()) : tx->Id()});
    }
    return out;
}

/** The sizes of the batches sent to the peer since the last call, 0 for a `tx`; the transactions
 *  are appended to `ids`. */
std::vector<size_t> Sent(Scene& scene, PeerId peer, std::vector<Wtxid>* ids = nullptr)
{
    std::vector<size_t> out;
    const auto add = [&](ByteSpan raw) {
        if (ids) ids->push_back((*Transaction::Parse(raw))->WitnessId());
    };
    for (const OutgoingMessage& message : scene.node.link.sent[peer]) {
        if (message.type == PackedTxsMessage::kType) {
            const auto txs = UnpackTxs(message.payload);
            REQUIRE(txs);
            out.push_back(txs->size());
            for (const Bytes& tx : *txs) add(tx);
        } else if (message.type == TxMessage::kType) {
            out.push_back(0);
            add(message.payload);
        }
    }
    scene.node.link.sent[peer].clear();
    return out;
}

Bytes BatchOf(const std::vector<TransactionRef>& txs)
{
    std::vector<Bytes> raw;
    for (const TransactionRef& tx : txs) {
        const ByteSpan bytes = (*tx)->raw;
        raw.emplace_back(bytes.begin(), bytes.end());
    }
    const auto batch = PackTxs(raw, 1);
    REQUIRE(batch);
    REQUIRE_FALSE(batch->empty());
    return *batch;
}

std::vector<TransactionRef> Some(uint32_t first, uint32_t count)
{
    std::vector<TransactionRef> out;
    for (uint32_t n = 0; n < count; ++n) out.push_back(Signed(first + n));
    return out;
}

using Sizes = std::vector<size_t>;

} // namespace

TEST_CASE("requested transactions go out in batches, in the order of the request", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    const std::vector<TransactionRef> txs = Fill(scene, 150);
    std::vector<Wtxid> expected;
    for (const TransactionRef& tx : txs) expected.push_back(tx->WitnessId());
    for (const uint32_t type : {kInvWtx, kInvWitnessTx}) {
        scene.node.link.sent[peer].clear();
        std::vector<Wtxid> ids;
        scene.node.Say(peer, RequestOf(txs, type));
        CHECK(Sent(scene, peer, &ids) == Sizes{64, 64, 22});
        CHECK(ids == expected);
    }
    scene.node.Say(peer, RequestOf({txs[0], txs[1], Simple(1'000)}));
    const auto missing = scene.node.Take<NotFoundMessage>(peer);
    REQUIRE(missing.size() == 1);
    CHECK(missing[0].list.items == Items(kInvWtx, Simple(1'000)->WitnessId()));
}

TEST_CASE("transactions go out plain without the feature or time to pack", "[packed]")
{
    for (const auto& [level, percent, packs] :
         {std::tuple{0, 100, true}, {1, 100, false}, {1, 0, true}}) {
        Scene scene(Packing(level, percent));
        const PeerId peer =
            packs ? BefriendPacking(scene) : scene.Befriend(ConnectionKind::kOutboundFullRelay);
        const std::vector<TransactionRef> txs = Fill(scene, 3);
        scene.node.link.sent[peer].clear();
        scene.node.Say(peer, RequestOf(txs));
        CHECK(Sent(scene, peer) == Sizes{0, 0, 0});
    }
}

TEST_CASE("without memory for zstd transactions go out plain", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    const std::vector<TransactionRef> txs = Fill(scene, 3);
    scene.node.link.sent[peer].clear();
    {
        const FailingZstd failing(ZstdCall::kCompress);
        scene.node.Say(peer, RequestOf(txs));
    }
    CHECK(Sent(scene, peer) == Sizes{0, 0, 0});
}

TEST_CASE("large transactions, and those that would expand too far, go out plain", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    std::vector<TransactionRef> txs;
    for (const size_t padding : {size_t{0}, size_t{0}, kMaxTxBatchBytes, size_t{0}, size_t{0}}) {
        const auto n = static_cast<uint32_t>(txs.size());
        txs.push_back(padding == 0 ? Signed(n)
                                   : MakeModelTx({ModelCoin(n)}, 1'000'000, {}, 2, padding));
        scene.pool.Add(txs.back());
        scene.node.manager.Announce(*txs.back());
    }
    scene.Wait();
    scene.node.link.sent[peer].clear();
    std::vector<Wtxid> ids;
    scene.node.Say(peer, RequestOf(txs));
    CHECK(Sent(scene, peer, &ids) == Sizes{2, 0, 2});
    for (size_t i = 0; i < txs.size(); ++i) CHECK(ids.at(i) == txs[i]->WitnessId());
    const TransactionRef bomb = MakeModelTx({ModelCoin(77)}, 1'000'000, {}, 2, 20'000);
    scene.pool.Add(bomb);
    scene.node.manager.Announce(*bomb);
    scene.Wait();
    scene.node.Say(peer, RequestOf({bomb}));
    CHECK(Sent(scene, peer) == Sizes{0});
}

TEST_CASE("a batch is handled as if each transaction had come by itself", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    std::vector<TransactionRef> txs = Some(1, 20);
    txs.insert(txs.begin() + 3, ChildOf(txs[10]));     // an orphan for a while
    txs.insert(txs.begin() + 5, ChildOf(Simple(900))); // remains one
    txs.insert(txs.begin() + 7, MakeModelTx({ModelCoin(800)}, 1'000, {},
                                            sim::ModelPool::kBadVersion)); // refused
    for (const TransactionRef& tx : txs) scene.SayInv(peer, tx);
    scene.node.SayRaw(peer, "packedtxs", BatchOf(txs));
    scene.Settle();
    scene.node.Run();
    for (size_t i = 0; i < txs.size(); ++i) {
        INFO(i);
        CHECK(scene.pool.HasTx(txs[i]) == (i != 5 && i != 7));
    }
    CHECK(scene.node.manager.Orphans().size() == 1);
    CHECK_FALSE(scene.node.IsClosed(peer));
}

TEST_CASE("later messages of a peer wait for all transactions of its batch", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    scene.pool.held = true;
    scene.node.SayRaw(peer, "packedtxs", BatchOf(Some(1, 5)));
    scene.node.Say(peer, PingMessage{5});
    CHECK(scene.pool.offers.size() == 1);
    CHECK(scene.node.Take<PongMessage>(peer).empty());
    scene.pool.held = false;
    scene.Settle();
    scene.node.Run();
    CHECK(scene.pool.offers.size() == 5);
    CHECK(scene.node.Take<PongMessage>(peer).size() == 1);
    // A peer that leaves meanwhile leaves nothing behind.
    scene.pool.held = true;
    scene.node.SayRaw(peer, "packedtxs", BatchOf(Some(100, 5)));
    scene.node.manager.Disconnected(peer);
    scene.pool.held = false;
    scene.Settle();
    scene.node.Run();
    CHECK(scene.pool.offers.size() == 6);
}

TEST_CASE("a damaged batch of transactions costs the peer its place and no more", "[packed]")
{
    const Bytes whole = BatchOf(Some(1, 5));
    for (const int damage : {0, 1, 2}) {
        Scene scene(Packing());
        const PeerId peer = BefriendPacking(scene);
        Bytes batch = whole;
        if (damage == 0) batch.resize(batch.size() / 2);
        if (damage == 1) batch[0] = 9;
        if (damage == 2) batch = {1, 1, 0xff, 0xff, 0xff, 0x7f};
        scene.node.SayRaw(peer, "packedtxs", batch);
        CHECK(scene.node.IsClosed(peer));
        CHECK(scene.node.link.discouraged.empty());
        CHECK(scene.pool.offers.empty());
    }
}

TEST_CASE("a batch for which memory is short is forgotten", "[packed]")
{
    Scene scene(Packing());
    const PeerId peer = BefriendPacking(scene);
    const Bytes batch = BatchOf(Some(1, 5));
    {
        const FailingZstd failing(ZstdCall::kDecompress);
        scene.node.SayRaw(peer, "packedtxs", batch);
    }
    CHECK(scene.pool.offers.empty());
    CHECK_FALSE(scene.node.IsClosed(peer));
    scene.node.SayRaw(peer, "packedtxs", batch);
    scene.Settle();
    CHECK(scene.pool.offers.size() == 5);
}

TEST_CASE("packed transactions keep the rules of plain ones", "[packed]")
{
    const Bytes batch = BatchOf(Some(1, 5));
    SECTION("unknown without the feature")
    {
        Scene scene(Packing());
        const PeerId peer = scene.Befriend(ConnectionKind::kInbound);
        scene.node.SayRaw(peer, "packedtxs", batch);
        CHECK(scene.pool.offers.empty());
        CHECK_FALSE(scene.node.IsClosed(peer));
    }
    SECTION("none from a connection for blocks")
    {
        for (const bool downloading : {false, true}) {
            Scene scene(Packing());
            scene.node.chain.downloading = downloading;
            const PeerId peer = BefriendPacking(scene, ConnectionKind::kBlockRelay);
            scene.node.SayRaw(peer, "packedtxs", batch);
            CHECK(scene.pool.offers.empty());
            CHECK(scene.node.IsClosed(peer));
        }
    }
    SECTION("ignored during initial block download")
    {
        Scene scene(Packing());
        scene.node.chain.downloading = true;
        const PeerId peer = BefriendPacking(scene);
        scene.node.SayRaw(peer, "packedtxs", batch);
        CHECK(scene.pool.offers.empty());
        CHECK_FALSE(scene.node.IsClosed(peer));
    }
}

} // namespace ibd
