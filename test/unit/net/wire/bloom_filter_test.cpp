// Bloom filters of peers, and the blocks that they get.
#include "net/peer_support.h"
#include "net/wire/bloom_filter.h"

#include "script/standard.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** A filter of `bytes` bytes with three hash functions. */
FilterLoadMessage Filter(size_t bytes, uint8_t flags = 0, uint32_t tweak = 7)
{
    return {Bytes(bytes), 3, tweak, flags};
}

/** A filter that has one element. */
FilterLoadMessage FilterOf(ByteSpan element, uint8_t flags = 0)
{
    FilterLoadMessage out = Filter(100, flags);
    for (uint32_t i = 0; i < out.hash_count; ++i) {
        const uint32_t bit = MurmurHash3(i * 0xfba4c795 + out.tweak, element) % 800;
        out.data[bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
    }
    return out;
}

TransactionRef Pay(const OutPoint& from, const Bytes& script, const Bytes& script_sig = {0x51})
{
    MutableTransaction tx;
    tx.inputs.emplace_back().prevout = from;
    tx.inputs.back().script_sig = script_sig;
    tx.outputs.push_back({1, script});
    return tx.Freeze();
}

Bytes KeyScript(const Bytes& key)
{
    Bytes out;
    AppendPush(out, key);
    out.push_back(OP_CHECKSIG);
    return out;
}

OutPoint Some(uint8_t fill, uint32_t index = 0)
{
    Txid txid;
    txid.data()[3] = fill;
    return {txid, index};
}

Bytes Name(const OutPoint& outpoint)
{
    Bytes out;
    Writer writer(out);
    writer.Hash(outpoint.txid);
    writer.U32(outpoint.vout);
    return out;
}

} // namespace

// Computed by hand from the algorithm's definition, with another program.
TEST_CASE("murmur hash", "[bloom]")
{
    CHECK(MurmurHash3(0, {}) == 0);
    CHECK(MurmurHash3(1, {}) == 0x514e28b7);
    CHECK(MurmurHash3(0, Bytes{0x21}) == 0x72661cf4);
    CHECK(MurmurHash3(0, Bytes{0x21, 0x43}) == 0xa0f7b07a);
    CHECK(MurmurHash3(0, Bytes{0x21, 0x43, 0x65}) == 0x7e4a8634);
    CHECK(MurmurHash3(0, Bytes{0x21, 0x43, 0x65, 0x87}) == 0xf55b516b);
    CHECK(MurmurHash3(0x5082edee, Bytes{0x21, 0x43, 0x65, 0x87}) == 0x2362f9de);
}

TEST_CASE("what a filter matches", "[bloom]")
{
    const Bytes key(33, 2), hash(20, 5);
    const TransactionRef tx = Pay(Some(1, 6), PubkeyHashScript(hash), KeyScript(key));
    CHECK_FALSE(BloomFilter(Filter(100)).Match(tx->View()));
    CHECK(BloomFilter(Filter(0)).Match(tx->View())); // matches all
    CHECK(BloomFilter(FilterOf({tx->View().txid.data(), 32})).Match(tx->View()));
    CHECK(BloomFilter(FilterOf(hash)).Match(tx->View()));
    CHECK(BloomFilter(FilterOf(key)).Match(tx->View()));
    CHECK(BloomFilter(FilterOf(Name(Some(1, 6)))).Match(tx->View()));
    CHECK_FALSE(BloomFilter(FilterOf(Name(Some(1, 5)))).Match(tx->View()));
    BloomFilter grown(Filter(100));
    grown.Insert(hash);
    CHECK(grown.Match(tx->View()));
    CHECK(grown.Contains(hash));
    CHECK_FALSE(grown.Contains(key));
}

TEST_CASE("outputs that match are followed as the flags say", "[bloom]")
{
    const Bytes key(33, 2), hash(20, 5);
    for (const uint8_t flags : {0, 1, 2, 5}) {
        const bool to_key_inserted = (flags & 3) != 0, to_hash_inserted = (flags & 3) == 1;
        const TransactionRef to_key = Pay(Some(1), KeyScript(key));
        BloomFilter keys(FilterOf(key, flags));
        REQUIRE(keys.Match(to_key->View()));
        const Bytes other{0x52};
        CHECK(keys.Match(Pay({to_key->View().txid, 0}, other)->View()) == to_key_inserted);
        CHECK_FALSE(keys.Match(Pay({to_key->View().txid, 1}, other)->View()));
        const TransactionRef to_hash = Pay(Some(1), PubkeyHashScript(hash));
        BloomFilter hashes(FilterOf(hash, flags));
        REQUIRE(hashes.Match(to_hash->View()));
        CHECK(hashes.Match(Pay({to_hash->View().txid, 0}, other)->View()) == to_hash_inserted);
    }
}

TEST_CASE("filters are taken where they are offered", "[bloom]")
{
    const auto tell = [](TestNode& node, uint32_t permissions) {
        const PeerId peer = node.Befriend(ConnectionKind::kInbound, "8.8.8.8:8333", permissions);
        node.Say(peer, Filter(10));
        return peer;
    };
    TestNode without(RegtestParams());
    CHECK(without.IsClosed(tell(without, kPermitNone)));
    CHECK_FALSE(without.IsClosed(tell(without, kPermitBloomFilter)));
    TestNode node(RegtestParams(), WithServices(kNodeNetwork | kNodeWitness | kNodeBloom));
    const PeerId peer = tell(node, kPermitNone);
    CHECK_FALSE(node.IsClosed(peer));
    CHECK(node.Info(peer).bloom_filter);
    node.SayRaw(peer, "mempool");
    node.Say(peer, FilterAddMessage{Bytes(520)});
    CHECK_FALSE(node.IsClosed(peer));
    node.Say(peer, FilterClearMessage{});
    CHECK_FALSE(node.Info(peer).bloom_filter);
    CHECK_FALSE(node.IsClosed(peer));

    for (const uint32_t permissions : {uint32_t{kPermitNone}, uint32_t{kPermitMempool}}) {
        TestNode spent(RegtestParams(), WithServices(kNodeNetwork | kNodeWitness | kNodeBloom));
        spent.link.may_upload = false;
        const PeerId asking = tell(spent, permissions);
        spent.SayRaw(asking, "mempool");
        CHECK(spent.IsClosed(asking) == (permissions == kPermitNone));
    }

    const auto punished = [&](const auto& message, bool with_filter) {
        const PeerId id = node.Befriend(ConnectionKind::kInbound, "8.8.4.4:8333");
        if (with_filter) node.Say(id, Filter(10));
        node.Say(id, message);
        return node.IsClosed(id);
    };
    CHECK(punished(Filter(36'001), false));
    CHECK_FALSE(punished(Filter(36'000), false));
    CHECK(punished(FilterLoadMessage{Bytes(1), 51, 0, 0}, false));
    CHECK(punished(FilterAddMessage{Bytes(3)}, false)); // there is none to add to
    CHECK(punished(FilterAddMessage{Bytes(521)}, true));
}

TEST_CASE("a filtered block is a proof and the transactions that match", "[bloom]")
{
    TestNode node(RegtestParams(), WithServices(kNodeNetwork | kNodeWitness | kNodeBloom));
    const HeaderNode& tip = node.chain.Extend(1, nullptr, 0, true, 6);
    BlockView block;
    REQUIRE(block.Parse(node.chain.Block(tip).raw));
    const PeerId peer = node.Befriend(ConnectionKind::kInbound);
    const GetDataMessage request = RequestFor(kInvFilteredBlock, {tip.hash});
    node.Say(peer, request);
    CHECK(node.Types(peer).empty()); // no filter, no answer
    for (const size_t wanted : {0u, 3u, 6u}) {
        const Txid& txid = block.Txs()[wanted].txid;
        node.Say(peer, FilterOf({txid.data(), 32}));
        node.Say(peer, request);
        auto& sent = node.link.sent[peer];
        REQUIRE(sent.size() == 2);
        const auto proof = Decode<MerkleBlockMessage>(sent[0].payload);
        REQUIRE(proof);
        CHECK(proof->header.Hash() == tip.hash);
        const auto proven = ReadMerkleProof(proof->proof);
        REQUIRE(proven);
        CHECK(proven->root == tip.merkle_root);
        CHECK(proven->txs == std::vector<ProvenTx>{{static_cast<uint32_t>(wanted), txid}});
        CHECK(sent[1].type == "tx");
        CHECK(Decode<TxMessage>(sent[1].payload)->tx->View().txid == txid);
        sent.clear();
    }
}

} // namespace ibd::test
