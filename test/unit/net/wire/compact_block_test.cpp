// Compact blocks alone: the announced transactions, the reconstructed blocks and the failures, and
// the peers asked to announce by them.
#include "net/peer_support.h"

#include "net/wire/compact_block.h"

#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Status = PartialBlock::Status;

namespace {

class Pool final : public TransactionSource {
public:
    void ForEachTransaction(const Visit& more) const override
    {
        ++searches;
        VisitAll(txs, more);
    }
    void ForEachToMine(size_t count, const Visit& more) const override
    {
        visited = std::min(count, best.size());
        VisitAll(std::span(best).first(visited), more);
    }

    std::vector<TransactionRef> txs;
    std::vector<TransactionRef> best; //!< those to mine first
    mutable int searches = 0;         //!< of all transactions
    mutable size_t visited = 0;       //!< of the best, in the last search

private:
    static constexpr size_t kGroup = 2;
    static void VisitAll(std::span<const TransactionRef> all, const Visit& more)
    {
        for (size_t at = 0; at < all.size(); at += kGroup) {
            const auto group = all.subspan(at, std::min(kGroup, all.size() - at));
            std::vector<Wtxid> ids;
            for (const TransactionRef& tx : group) ids.push_back(tx ? tx->WitnessId() : Wtxid());
            if (!more(ids, group)) return;
        }
    }
};

/** A block with a coinbase and five more. */
struct Sample {
    TestChain chain{params};
    Bytes raw = chain.Block(chain.Extend(1, nullptr, 3, true, 5)).raw;
    BlockView view = Parsed(raw);
    CompactBlockMessage message = MakeCompactBlock(view, 77);

    static BlockView Parsed(ByteSpan raw)
    {
        BlockView out;
        REQUIRE(out.Parse(raw));
        return out;
    }
    TransactionRef Tx(size_t i) const { return Transaction::Parse(view.Txs()[i].raw).Value(); }
    std::vector<TransactionRef> Txs(const std::vector<uint16_t>& indexes) const
    {
        std::vector<TransactionRef> out;
        for (const uint16_t i : indexes) out.push_back(Tx(i));
        return out;
    }

    static inline const ChainParams params = RegtestParams();
};

} // namespace

TEST_CASE("short ids are 48 bits of SipHash under a key of header and nonce", "[compact_block]")
{
    const Sample sample;
    Bytes preimage = sample.raw;
    preimage.resize(BlockHeader::kSize);
    Writer(preimage).U64(77);
    const Hash32 digest = Sha256Of(preimage);
    const SipKey key{ReadLE<uint64_t>(digest.data()), ReadLE<uint64_t>(digest.data() + 8)};
    REQUIRE(sample.message.short_ids.size() == 5);
    for (size_t i = 1; i < 6; ++i) {
        SipHasher hasher(key);
        hasher.Write(sample.Tx(i)->WitnessId().Span());
        CHECK(sample.message.short_ids[i - 1] == (hasher.Finalize() & 0xffffffffffff));
    }
    REQUIRE(sample.message.prefilled.size() == 1);
    CHECK(sample.message.prefilled[0].gap == 0);
    CHECK(sample.message.prefilled[0].tx->Id() == sample.view.Txs()[0].txid);
}

TEST_CASE("requested transactions complete a block, whatever came before", "[compact_block]")
{
    const Sample sample;
    for (uint32_t known = 0; known < 64; ++known) { // one bit for each transaction
        CompactBlockMessage message = sample.message;
        message.short_ids.clear();
        message.prefilled.clear();
        Pool pool;
        std::vector<uint16_t> missing;
        uint16_t gap = 0;
        for (uint16_t i = 0; i < 6; ++i) {
            const bool prefilled = (known >> i & 1) != 0;
            if (prefilled) {
                message.prefilled.push_back({std::exchange(gap, uint16_t{0}), sample.Tx(i)});
                continue;
            }
            ++gap;
            message.short_ids.push_back(
                ShortId(ShortIdKey(message.header, 77), sample.Tx(i)->WitnessId()));
            if (i % 2 == 1) {
                pool.txs.push_back(sample.Tx(i));
            } else {
                missing.push_back(i);
            }
        }
        PartialBlock block;
        REQUIRE(block.Start(message, &pool) == Status::kOk);
        CHECK(block.Missing() == missing);
        CHECK(block.PoolCount() == pool.txs.size());
        Bytes out;
        CHECK_FALSE(block.IsSpent());
        REQUIRE(block.Fill(sample.Txs(missing), true, out) == Status::kOk);
        CHECK(out == sample.raw);
        CHECK(block.IsSpent());
    }
}

TEST_CASE("an answer that does not complete the block", "[compact_block]")
{
    const Sample sample;
    const auto fill = [&](std::vector<TransactionRef> txs) {
        PartialBlock block;
        REQUIRE(block.Start(sample.message, nullptr) == Status::kOk);
        Bytes out;
        return block.Fill(txs, true, out);
    };
    CHECK(fill(sample.Txs({1, 2, 3, 4, 5})) == Status::kOk);
    CHECK(fill(sample.Txs({1, 2, 3, 4})) == Status::kInvalid);
    CHECK(fill(sample.Txs({1, 2, 3, 4, 5, 5})) == Status::kInvalid);
    CHECK(fill({}) == Status::kInvalid);
    CHECK(fill(sample.Txs({1, 2, 3, 5, 4})) == Status::kFailed);
    CHECK(fill(sample.Txs({1, 2, 3, 4, 1})) == Status::kFailed);
    // A witness that the coinbase does not commit to.
    auto with_witness = sample.Txs({1, 2, 3, 4});
    with_witness.push_back(Transaction::Parse(MakeTransaction(1, 3, 5, true)).Value());
    REQUIRE(with_witness.back()->Id() == sample.Tx(5)->Id());
    CHECK(fill(with_witness) == Status::kFailed);
}

TEST_CASE("compact blocks that name no block", "[compact_block]")
{
    const Sample sample;
    const auto start = [](const CompactBlockMessage& message, const Pool* pool = nullptr) {
        PartialBlock block;
        return block.Start(message, pool);
    };
    CompactBlockMessage message = sample.message;
    message.prefilled[0].gap = 5; // the last
    CHECK(start(message) == Status::kOk);
    message.prefilled[0].gap = 6;
    CHECK(start(message) == Status::kInvalid);
    message.prefilled = {{0, sample.Tx(0)}, {65535, sample.Tx(1)}};
    CHECK(start(message) == Status::kInvalid);
    message.prefilled.clear();
    message.short_ids.clear();
    CHECK(start(message) == Status::kInvalid);
    message.short_ids.resize(kMaxCompactTxs + 1);
    CHECK(start(message) == Status::kInvalid);

    message = sample.message;
    message.short_ids[4] = message.short_ids[0];
    CHECK(start(message) == Status::kFailed);
}

TEST_CASE("all of a pool is searched only if the best lack a transaction", "[compact_block]")
{
    const Sample sample;
    Pool pool;
    pool.best = sample.Txs({5, 3, 1, 2, 4});
    PartialBlock whole;
    REQUIRE(whole.Start(sample.message, &pool) == Status::kOk);
    CHECK(whole.Missing().empty());
    CHECK(pool.searches == 0);
    Bytes raw;
    REQUIRE(whole.Fill({}, true, raw) == Status::kOk);
    CHECK(raw == sample.raw);
    // The others are found among all; a second visit is no collision.
    pool.best = sample.Txs({2, 5});
    pool.txs = sample.Txs({1, 2, 3, 5});
    PartialBlock partial;
    REQUIRE(partial.Start(sample.message, &pool) == Status::kOk);
    CHECK(partial.Missing() == std::vector<uint16_t>{4});
    CHECK(partial.PoolCount() == 4);
    CHECK(pool.searches == 1);
    // No more of the best are visited than may matter.
    pool.best.assign(10, sample.Tx(1));
    for (const TransactionRef& tx : sample.Txs({1, 2, 3, 4, 5})) pool.best.push_back(tx);
    PartialBlock bounded;
    REQUIRE(bounded.Start(sample.message, &pool) == Status::kOk);
    CHECK(bounded.Missing() == std::vector<uint16_t>{4});
    CHECK(pool.searches == 2);
    CHECK(pool.visited == 10);
}

TEST_CASE("what a pool has by the same short id may be another", "[compact_block]")
{
    const Sample sample;
    Pool pool;
    pool.txs = sample.Txs({1, 2, 3});
    CompactBlockMessage message = sample.message;
    const auto other = MakeTransaction(1, 3, 200, false);
    pool.txs.push_back(Transaction::Parse(other).Value());
    const SipKey key = ShortIdKey(message.header, message.nonce);
    message.short_ids[4] = ShortId(key, pool.txs[3]->WitnessId());
    PartialBlock wrong;
    REQUIRE(wrong.Start(message, &pool) == Status::kOk);
    CHECK(wrong.Missing() == std::vector<uint16_t>{4}); // the pool's guess for 5 is wrong
    Bytes out;
    CHECK(wrong.Fill(sample.Txs({4}), true, out) == Status::kFailed);

    // The same one twice is no collision.
    pool.txs = sample.Txs({1, 1, 2});
    PartialBlock twice;
    REQUIRE(twice.Start(sample.message, &pool) == Status::kOk);
    CHECK(twice.Missing() == std::vector<uint16_t>{3, 4, 5});
    CHECK(twice.PoolCount() == 2);
}

TEST_CASE("ids that the sender chose close to each other", "[compact_block]")
{
    const Sample sample;
    CompactBlockMessage message = sample.message;
    const std::vector<uint64_t> known = message.short_ids;
    std::set<uint64_t> ids(known.begin(), known.end());
    for (const uint64_t id : known) {
        for (const uint64_t near : {id ^ 1, id ^ 0xffff, id ^ uint64_t{1} << 31, id >> 1}) {
            ids.insert(near);
        }
    }
    ids.insert({0, (uint64_t{1} << 48) - 1});
    message.short_ids.assign(ids.begin(), ids.end());
    std::shuffle(message.short_ids.begin(), message.short_ids.end(), TestRng());
    Pool pool;
    pool.txs = sample.Txs({1, 2, 3, 4, 5});
    for (size_t at = 0; at < 8; ++at) { // free places between them
        pool.txs.insert(pool.txs.begin() + static_cast<ptrdiff_t>(TestRng()() % 6), nullptr);
    }
    PartialBlock block;
    REQUIRE(block.Start(message, &pool) == Status::kOk);
    CHECK(block.PoolCount() == known.size());
    const auto missing = block.Missing();
    CHECK(missing.size() == ids.size() - known.size());
    for (const uint16_t index : missing) { // the coinbase has the first place
        CHECK(std::ranges::count(known, message.short_ids[index - 1U]) == 0);
    }
}

TEST_CASE("a blocktxn has the requested transactions", "[compact_block]")
{
    const Sample sample;
    const std::vector<uint16_t> indexes{0, 4, 5};
    const auto payload = BlockTxnPayload(sample.view, indexes);
    REQUIRE(payload);
    const auto message = Decode<BlockTxnMessage>(*payload);
    REQUIRE(message);
    CHECK(message->block == sample.view.Hash());
    REQUIRE(message->txs.size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(message->txs[i]->Id() == sample.Tx(indexes[i])->Id());
    CHECK_FALSE(BlockTxnPayload(sample.view, std::vector<uint16_t>{6}));
}

TEST_CASE("the last three announce, but one outbound peer stays", "[compact_block]")
{
    CompactAnnouncers announcers;
    std::set<PeerId> outbound{1};
    const auto bring = [&](PeerId peer) {
        const auto change =
            announcers.BroughtBlock(peer, [&](PeerId id) { return outbound.contains(id); });
        CHECK((change.start || !change.stop));
        return change.start ? change.stop.value_or(0) : -1;
    };
    CHECK(bring(1) == 0);
    CHECK(bring(10) == 0);
    CHECK(bring(1) == -1); // again
    CHECK(bring(11) == 0);
    CHECK(bring(12) == 10); // the oldest
    CHECK(bring(13) == 11); // the oldest is 1, an outbound peer
    CHECK(bring(1) == -1);
    CHECK(bring(14) == 12);
    outbound.insert(2);
    CHECK(bring(2) == 13); // 1, 14, 2
    CHECK(bring(15) == 1); // one of two outbound peers
    outbound.clear();      // 2 has left: its place is as any other
    CHECK(bring(16) == 14);
    CHECK(bring(17) == 2);
}

} // namespace ibd
