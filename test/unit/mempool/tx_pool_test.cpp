// The pool against a slow reference under random changes, and the order in which clusters are
// mined.
#include "kit.h"
#include "mempool/eviction.h"
#include "mempool/chunks.h"
#include "primitives/block.h"
#include "support/testdata.h"

#include <algorithm>
#include <random>

namespace ibd::test {

namespace {

using Rng = std::mt19937_64;

/** A list of transactions; everything is found by looking at all of them. */
class SlowPool {
public:
    static bool Spends(const Transaction& tx, const OutPoint& outpoint)
    {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                           [&](const InputView& input) { return input.Prevout() == outpoint; });
    }
    static bool IsParent(const Transaction& parent, const Transaction& tx)
    {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(), [&](const InputView& input) {
            return input.Prevout().txid == parent.Id();
        });
    }

    void RemoveWithDescendants(const Txid& id)
    {
        std::set<Txid> gone{id};
        for (size_t before = 0; before != gone.size();) {
            before = gone.size();
            for (const PoolTx& tx : txs) {
                for (const Txid& other : std::set<Txid>(gone)) {
                    if (SpendsFrom(*tx.tx, other)) gone.insert(tx.Id());
                }
            }
        }
        std::erase_if(txs, [&](const PoolTx& tx) { return gone.count(tx.Id()) != 0; });
    }
    void Confirm(const BlockView& block)
    {
        for (const TxView& tx : block.Txs()) {
            std::erase_if(txs, [&](const PoolTx& other) { return other.Id() == tx.txid; });
            for (const InputView& input : tx.inputs) {
                const auto it = std::find_if(txs.begin(), txs.end(), [&](const PoolTx& other) {
                    return Spends(*other.tx, input.Prevout());
                });
                if (it != txs.end()) RemoveWithDescendants(Txid(it->Id()));
            }
        }
    }

    std::vector<PoolTx> txs;

private:
    static bool SpendsFrom(const Transaction& tx, const Txid& id)
    {
        return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                           [&](const InputView& input) { return input.Prevout().txid == id; });
    }
};

std::set<Txid> Ids(const PoolTxSet& set)
{
    std::set<Txid> ids;
    for (const PoolTx* tx : set) ids.insert(tx->Id());
    return ids;
}

void Compare(const TxPool& pool, const SlowPool& slow) IBD_REQUIRES(pool.mutex)
{
    REQUIRE(pool.Size() == slow.txs.size());
    int64_t vsize = 0;
    Amount fees = 0;
    for (const PoolTx& tx : slow.txs) {
        vsize += tx.vsize;
        fees += tx.fee;
        const PoolTx* const found = pool.Find(tx.Id());
        REQUIRE(found);
        CHECK(pool.FindWitness(tx.tx->WitnessId()) == found);
        std::set<Txid> parents, children;
        for (const PoolTx& other : slow.txs) {
            if (SlowPool::IsParent(*other.tx, *tx.tx)) parents.insert(other.Id());
            if (SlowPool::IsParent(*tx.tx, *other.tx)) children.insert(other.Id());
        }
        CHECK(Ids(found->parents) == parents);
        CHECK(Ids(found->children) == children);
        for (const InputView& input : (*tx.tx)->inputs) {
            CHECK(pool.Spender(input.Prevout()) == found);
        }
    }
    CHECK(pool.VirtualBytes() == vsize);
    CHECK(pool.Fees() == fees);
    CHECK((pool.MemoryUsage() == 0) == slow.txs.empty());
}

/** Spends new names, or outputs of the pool that are unspent. */
class Maker {
public:
    explicit Maker(uint64_t seed) : m_rng(seed) {}

    PoolTx Make(const TxPool& pool) IBD_REQUIRES(pool.mutex)
    {
        std::vector<OutPoint> from;
        const std::vector<const PoolTx*> all = pool.InOrder();
        for (uint64_t i = 0, count = 1 + m_rng() % 3; i < count; ++i) {
            OutPoint outpoint = Name(m_next++);
            if (!all.empty() && m_rng() % 2 == 0) {
                outpoint = {all[m_rng() % all.size()]->Id(), static_cast<uint32_t>(m_rng() % 3)};
            }
            const bool twice = std::find(from.begin(), from.end(), outpoint) != from.end();
            if (!twice && !pool.Spender(outpoint)) from.push_back(outpoint);
        }
        if (from.empty()) from.push_back(Name(m_next++));
        return {.tx = Spending(from, {1, 2, 3}).Freeze(),
                .fee = static_cast<Amount>(m_rng() % 1000),
                .vsize = static_cast<int64_t>(1 + m_rng() % 500),
                .weight = static_cast<int64_t>(4 + m_rng() % 2000),
                .time = static_cast<int64_t>(m_rng() % 1000)};
    }

private:
    Rng m_rng;
    uint32_t m_next = 0;
};

/** A block of a coinbase and these. */
Bytes BlockOf(const std::vector<TransactionRef>& txs)
{
    Bytes out;
    Writer writer(out);
    writer.Raw(BlockHeader().ToBytes());
    writer.CompactSize(txs.size() + 1);
    MutableTransaction coinbase = Spending({{Txid{}, 0xffffffff}}, {1});
    writer.Raw(coinbase.Serialize());
    for (const TransactionRef& tx : txs) writer.Raw(tx->View().raw);
    return out;
}

} // namespace

TEST_CASE("the pool agrees with its slow reference", "[mempool]")
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        Maker maker(seed);
        TxPool pool{PoolLimits()};
        SlowPool slow;
        const Lock lock(pool.mutex);
        uint64_t changes = pool.Sequence();
        for (int step = 0; step < 200; ++step) {
            const uint64_t what = rng() % 20;
            const size_t at = slow.txs.empty() ? 0 : rng() % slow.txs.size();
            if (what < 15 || slow.txs.empty()) {
                const PoolTx tx = maker.Make(pool);
                pool.Add(tx);
                slow.txs.push_back(tx);
            } else if (what < 17) {
                const Txid id = slow.txs[at].Id();
                slow.RemoveWithDescendants(id);
                CHECK(pool.RemoveWithDescendants(id) > 0);
                CHECK(pool.RemoveWithDescendants(id) == 0);
            } else if (what < 19) {
                // One of the pool without its parents, and a stranger that spends what another
                // does.
                const PoolTx& conflicted = slow.txs[rng() % slow.txs.size()];
                const auto taken = (*conflicted.tx)->inputs[0].Prevout();
                const Bytes raw = BlockOf({slow.txs[at].tx, Spending({taken}, {77}).Freeze()});
                BlockView block;
                Must(block.Parse(raw));
                pool.Confirm(block);
                slow.Confirm(block);
            } else {
                const int64_t before = static_cast<int64_t>(rng() % 100);
                std::vector<Txid> old;
                for (const PoolTx& tx : slow.txs) {
                    if (tx.time < before) old.push_back(tx.Id());
                }
                for (const Txid& id : old) slow.RemoveWithDescendants(id);
                pool.Expire(before);
            }
            Compare(pool, slow);
            CHECK(pool.Sequence() >= changes);
            changes = pool.Sequence();
        }
        // Emptied and filled again it is the same.
        std::vector<PoolTx> all = pool.TakeAll();
        CHECK(pool.Size() == 0);
        CHECK(pool.MemoryUsage() == 0);
        for (PoolTx& tx : all) pool.Add(std::move(tx));
        Compare(pool, slow);
    }
}

TEST_CASE("chunks hold everything once, parents first, at falling rates", "[mempool]")
{
    for (uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        Maker maker(seed);
        TxPool pool{PoolLimits()};
        const Lock lock(pool.mutex);
        while (pool.Size() < 40) pool.Add(maker.Make(pool));
        const std::vector<Chunk> chunks = ChunksByRate(pool);
        std::set<Txid> seen;
        for (size_t i = 0; i < chunks.size(); ++i) {
            Amount fee = 0;
            int64_t weight = 0;
            for (const PoolTx* tx : chunks[i].txs) {
                for (const PoolTx* parent : tx->parents) CHECK(seen.count(parent->Id()) == 1);
                CHECK(seen.insert(tx->Id()).second);
                fee += tx->fee;
                weight += tx->weight;
            }
            CHECK(chunks[i].sum.fee == fee);
            CHECK(chunks[i].sum.size == weight);
            if (i > 0) CHECK_FALSE(chunks[i - 1].PaysLessThan(chunks[i]));
        }
        CHECK(seen.size() == pool.Size());
    }
}

TEST_CASE("a child pays for its parent", "[mempool]")
{
    TxPool pool{PoolLimits()};
    const Lock lock(pool.mutex);
    const PoolTx parent{
        .tx = Spending({Name(1)}, {1, 2}).Freeze(), .fee = 0, .vsize = 100, .weight = 400};
    const PoolTx child{
        .tx = Spending({{parent.Id(), 0}}, {1}).Freeze(), .fee = 1000, .vsize = 100, .weight = 400};
    const PoolTx other{
        .tx = Spending({Name(2)}, {1}).Freeze(), .fee = 400, .vsize = 100, .weight = 400};
    for (const PoolTx& tx : {parent, child, other}) pool.Add(tx);
    const std::vector<Chunk> chunks = ChunksByRate(pool);
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].txs ==
          std::vector<const PoolTx*>{pool.Find(parent.Id()), pool.Find(child.Id())});
    CHECK(chunks[1].txs == std::vector<const PoolTx*>{pool.Find(other.Id())});
}

TEST_CASE("what pays least goes first, never a parent alone", "[mempool]")
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Maker maker(seed);
        PoolLimits limits;
        limits.max_bytes = 20'000;
        TxPool pool(limits);
        const Lock lock(pool.mutex);
        while (pool.MemoryUsage() < 3 * limits.max_bytes) pool.Add(maker.Make(pool));
        std::vector<TransactionRef> kept;
        const size_t before = pool.Size();
        CHECK(Trim(pool) > 0);
        CHECK(pool.MemoryUsage() <= limits.max_bytes);
        CHECK(pool.Size() > 0);
        CHECK(pool.Size() < before);
        for (const auto& [id, tx] : pool.All())
            CHECK(Ids(tx->parents) == Ids(pool.ParentsOf(tx->tx->View())));
        CHECK(Trim(pool) == 0);
    }
}

} // namespace ibd::test
