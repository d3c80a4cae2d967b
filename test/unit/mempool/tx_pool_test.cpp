// The pool against a model that is a plain list, under random changes of every kind.
#include "kit.h"
#include "mempool/chunk_walk.h"
#include "mempool/pool_change.h"
#include "mempool/upkeep.h"
#include "primitives/block.h"
#include "support/testdata.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <random>
#include <unordered_map>

namespace ibd::test {

namespace {

using Rng = std::mt19937_64;

bool Spends(const Transaction& tx, const Txid& id)
{
    return std::any_of(tx->inputs.begin(), tx->inputs.end(),
                       [&](const InputView& input) { return input.Prevout().txid == id; });
}

bool Conflict(const Transaction& a, const Transaction& b)
{
    return std::any_of(a->inputs.begin(), a->inputs.end(), [&](const InputView& input) {
        return std::any_of(b->inputs.begin(), b->inputs.end(), [&](const InputView& other) {
            return input.Prevout() == other.Prevout();
        });
    });
}

/** A list of transactions; everything is found by looking at all of them. */
class SlowPool {
public:
    using Cluster = std::vector<const PoolTx*>;

    const PoolTx* Find(const Txid& id) const
    {
        for (const PoolTx& tx : txs) {
            if (tx.Id() == id) return &tx;
        }
        return nullptr;
    }
    void Erase(const Txid& id)
    {
        std::erase_if(txs, [&](const PoolTx& tx) { return tx.Id() == id; });
    }
    std::set<Txid> WithDescendants(std::set<Txid> ids) const
    {
        for (size_t before = 0; before != ids.size();) {
            before = ids.size();
            for (const PoolTx& tx : txs) {
                for (const Txid& id : std::set<Txid>(ids)) {
                    if (Spends(*tx.tx, id)) ids.insert(tx.Id());
                }
            }
        }
        return ids;
    }
    void RemoveWithDescendants(const Txid& id)
    {
        for (const Txid& gone : WithDescendants({id})) Erase(gone);
    }
    /** In the order of their first by txid. */
    std::vector<Cluster> Clusters() const
    {
        std::vector<Cluster> clusters;
        for (const PoolTx& tx : txs) {
            Cluster own{&tx};
            for (size_t i = clusters.size(); i-- > 0;) {
                const bool linked =
                    std::any_of(clusters[i].begin(), clusters[i].end(), [&](const PoolTx* other) {
                        return Spends(*tx.tx, other->Id()) || Spends(*other->tx, tx.Id());
                    });
                if (!linked) continue;
                own.insert(own.end(), clusters[i].begin(), clusters[i].end());
                clusters.erase(clusters.begin() + static_cast<ptrdiff_t>(i));
            }
            clusters.push_back(std::move(own));
        }
        for (Cluster& cluster : clusters) std::sort(cluster.begin(), cluster.end(), LessTxid());
        return clusters;
    }
    static ClusterGraph GraphOf(const Cluster& cluster)
    {
        ClusterGraph graph;
        for (size_t i = 0; i < cluster.size(); ++i) {
            graph.txs.push_back({cluster[i]->ModifiedFee(), cluster[i]->weight});
            graph.ancestors.push_back(TxMask{1} << i);
        }
        for (size_t round = 0; round < cluster.size(); ++round) {
            for (size_t i = 0; i < cluster.size(); ++i) {
                for (size_t j = 0; j < cluster.size(); ++j) {
                    if (!Spends(*cluster[i]->tx, cluster[j]->Id())) continue;
                    graph.ancestors[i] |= graph.ancestors[j];
                }
            }
        }
        return graph;
    }
    bool Fits(const PoolLimits& limits) const
    {
        for (const Cluster& cluster : Clusters()) {
            int64_t weight = 0;
            for (const PoolTx* tx : cluster) weight += tx->weight;
            if (cluster.size() > limits.cluster_count || weight > 4 * limits.cluster_vsize) {
                return false;
            }
        }
        return true;
    }
    /** The chunks of all clusters, by falling rate. */
    std::vector<FeeSize> Diagram() const
    {
        std::vector<FeeSize> sums;
        for (const Cluster& cluster : Clusters()) {
            for (const LinearChunk& chunk : Linearize(GraphOf(cluster)).chunks) {
                sums.push_back(chunk.sum);
            }
        }
        std::stable_sort(sums.begin(), sums.end(),
                         [](const FeeSize& a, const FeeSize& b) { return CompareRates(a, b) > 0; });
        return sums;
    }

    std::vector<PoolTx> txs;
};

std::set<Txid> Ids(const PoolTxSet& set)
{
    std::set<Txid> ids;
    for (const PoolTx* tx : set) ids.insert(tx->Id());
    return ids;
}

void CompareLinks(const TxPool& pool, const SlowPool& slow) IBD_REQUIRES(pool.mutex)
{
    for (const PoolTx& tx : slow.txs) {
        const PoolTx* const found = pool.Find(tx.Id());
        REQUIRE(found);
        REQUIRE(pool.FindWitness(tx.tx->WitnessId()) == found);
        REQUIRE(found->ModifiedFee() == tx.ModifiedFee());
        std::set<Txid> parents, children;
        for (const PoolTx& other : slow.txs) {
            if (Spends(*tx.tx, other.Id())) parents.insert(other.Id());
            if (Spends(*other.tx, tx.Id())) children.insert(other.Id());
        }
        REQUIRE(Ids(found->parents) == parents);
        REQUIRE(Ids(found->children) == children);
        REQUIRE(Ids(pool.SpendersOf(tx.Id(), (*tx.tx)->outputs.size())) == children);
        for (const InputView& input : (*tx.tx)->inputs) {
            REQUIRE(pool.Spender(input.Prevout()) == found);
        }
    }
}

/** The clusters are those of the model, with the chunks of their optimal order. */
void CompareClusters(const TxPool& pool, const SlowPool& slow) IBD_REQUIRES(pool.mutex)
{
    const std::vector<SlowPool::Cluster> clusters = slow.Clusters();
    REQUIRE(pool.Clusters().Size() == clusters.size());
    REQUIRE(pool.Clusters().IsOptimal());
    size_t chunks = 0;
    for (const SlowPool::Cluster& cluster : clusters) {
        const Linearization linear = Linearize(SlowPool::GraphOf(cluster));
        const PoolCluster& found = *pool.Find(cluster.front()->Id())->cluster;
        REQUIRE(found.txs.size() == cluster.size());
        for (size_t i = 0; i < cluster.size(); ++i) {
            REQUIRE(found.txs[i]->Id() == cluster[linear.order[i]]->Id());
            REQUIRE(found.txs[i]->cluster == &found);
            REQUIRE(found.txs[i]->place == i);
        }
        REQUIRE(found.chunks.size() == linear.chunks.size());
        for (size_t i = 0; i < linear.chunks.size(); ++i) {
            REQUIRE(found.chunks[i].sum == linear.chunks[i].sum);
            for (const PoolTx* tx : found.chunks[i].Txs()) REQUIRE(tx->chunk == i);
        }
        chunks += linear.chunks.size();
    }
    REQUIRE(pool.Chunks().size() == chunks);
    const std::vector<FeeSize> diagram = slow.Diagram();
    size_t next = 0;
    for (const PoolChunk* chunk : pool.Chunks()) {
        REQUIRE((CompareRates(chunk->sum, diagram[next++]) == 0));
    }
}

void CompareMemory(const TxPool& pool, const SlowPool& slow) IBD_REQUIRES(pool.mutex)
{
    int64_t bytes = 0;
    for (const PoolTx& tx : slow.txs) bytes += static_cast<int64_t>(PoolMemoryOf(tx.tx->View()));
    for (const SlowPool::Cluster& cluster : slow.Clusters()) {
        const size_t count = cluster.size();
        if (count > 1) bytes += PoolMemoryOfClusters(1, count);
    }
    const auto slots = static_cast<int64_t>(pool.MemoryUsage()) - bytes;
    PoolSlots one;
    one.Grow(1);
    const auto used = static_cast<int64_t>(one.Bytes() * slow.txs.size());
    REQUIRE(slots >= used);
    if (used > 0) REQUIRE(slots <= 2 * used);
}

/** A walk comes by all chunks in their order, and then says so as often as it is asked. */
void CompareWalk(const TxPool& pool) IBD_REQUIRES(pool.mutex)
{
    ChunkWalk walk(pool.Chunks());
    for (const PoolChunk* chunk : pool.Chunks()) REQUIRE(walk.Next() == chunk);
    for (int i = 0; i < 100; ++i) REQUIRE(walk.Next() == nullptr);
}

void Compare(const TxPool& pool, const SlowPool& slow) IBD_REQUIRES(pool.mutex)
{
    REQUIRE(pool.Size() == slow.txs.size());
    int64_t vsize = 0;
    Amount fees = 0;
    for (const PoolTx& tx : slow.txs) {
        vsize += tx.vsize;
        fees += tx.fee;
    }
    REQUIRE(pool.VirtualBytes() == vsize);
    REQUIRE(pool.Fees() == fees);
    CompareMemory(pool, slow);
    CompareLinks(pool, slow);
    CompareClusters(pool, slow);
    std::set<Txid> before;
    for (const PoolTx* tx : pool.InOrder()) {
        for (const PoolTx* parent : tx->parents) REQUIRE(before.count(parent->Id()) == 1);
        before.insert(tx->Id());
    }
    REQUIRE(before.size() == slow.txs.size());
    CompareWalk(pool);
}

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

/** Counts the events, and keeps the ids that should be in the pool. */
class Listener final : public PoolEvents {
public:
    void TxAdded(const PoolTx& tx, uint64_t sequence) override
    {
        CHECK(ids.insert(tx.Id()).second);
        CHECK(sequence == last + 1);
        last = sequence;
    }
    void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) override
    {
        CHECK(ids.erase(tx.Id()) == 1);
        CHECK(sequence == last + 1);
        last = sequence;
        ++removed[reason];
    }
    std::set<Txid> ids;
    uint64_t last = 0;
    std::map<RemovalReason, size_t> removed;
};

/** One pool and its model, changed in the same way. */
class Pools {
public:
    explicit Pools(uint64_t seed) : m_rng(seed), pool(Limits()) { pool.AddListener(listener); }

    static PoolLimits Limits()
    {
        PoolLimits limits;
        limits.max_bytes = 40'000; // some 30 transactions
        limits.cluster_count = 7;
        limits.cluster_vsize = 1'500;
        return limits;
    }

    void Step() IBD_REQUIRES(pool.mutex)
    {
        switch (m_rng() % 16) {
        case 0: return Replace();
        case 1: return Replace();
        case 2: return AddPackage();
        case 3: return Remove();
        case 4: return ConfirmSome();
        case 5: return Reorganise();
        case 6: return Prioritise();
        case 7: return m_rng() % 4 == 0 ? Expire() : Prioritise();
        case 8: return Evict();
        default: return Add();
        }
    }

private:
    const PoolTx& Pick() { return slow.txs[m_rng() % slow.txs.size()]; }

    PoolTx Make(std::vector<OutPoint> from)
    {
        if (from.empty()) from.push_back(Name(m_next++));
        PoolTx tx{.tx = Spending(from, {1, 2, static_cast<Amount>(m_next++)}).Freeze(),
                  .fee = static_cast<Amount>(m_rng() % (m_rng() % 2 == 0 ? 3 : 1000)),
                  .weight = static_cast<int64_t>(4 + m_rng() % (m_rng() % 2 == 0 ? 3 : 2000)),
                  .time = static_cast<int64_t>(m_rng() % 1000)};
        tx.vsize = (tx.weight + 3) / 4;
        if (const auto it = m_deltas.find(tx.Id()); it != m_deltas.end()) tx.delta = it->second;
        return tx;
    }
    bool IsSpent(const OutPoint& outpoint, const std::vector<PoolTx>& also = {}) const
    {
        const auto spends = [&](const PoolTx& tx) {
            return std::any_of((*tx.tx)->inputs.begin(), (*tx.tx)->inputs.end(),
                               [&](const InputView& input) { return input.Prevout() == outpoint; });
        };
        return std::any_of(slow.txs.begin(), slow.txs.end(), spends) ||
               std::any_of(also.begin(), also.end(), spends);
    }
    /** Spends new names and unspent outputs of the pool and of `also`. */
    PoolTx MakeNew(const std::vector<PoolTx>& also = {})
    {
        std::vector<OutPoint> from;
        std::vector<Txid> ids;
        for (const PoolTx& tx : slow.txs) ids.push_back(tx.Id());
        for (const PoolTx& tx : also) ids.insert(ids.end(), 3, tx.Id());
        for (uint64_t i = 0, count = 1 + m_rng() % 3; i < count; ++i) {
            OutPoint outpoint = Name(m_next++);
            if (!ids.empty() && m_rng() % 2 == 0) {
                outpoint = {ids[m_rng() % ids.size()], static_cast<uint32_t>(m_rng() % 3)};
            }
            const bool twice = std::find(from.begin(), from.end(), outpoint) != from.end();
            if (!twice && !IsSpent(outpoint, also)) from.push_back(outpoint);
        }
        return Make(std::move(from));
    }
    void AddAll(const std::vector<PoolTx>& txs) IBD_REQUIRES(pool.mutex)
    {
        SlowPool after = slow;
        PoolChange change(pool);
        for (const PoolTx& tx : txs) {
            change.Add(tx);
            after.txs.push_back(tx);
        }
        const bool fits = after.Fits(pool.Limits());
        REQUIRE(change.Fits() == fits);
        if (!fits) return; // the change is dropped
        change.Apply();
        slow = std::move(after);
    }
    void Add() IBD_REQUIRES(pool.mutex) { AddAll({MakeNew()}); }
    void AddPackage() IBD_REQUIRES(pool.mutex)
    {
        std::vector<PoolTx> txs;
        for (uint64_t i = 0, count = 2 + m_rng() % 3; i < count; ++i) txs.push_back(MakeNew(txs));
        AddAll(txs);
    }
    void Remove() IBD_REQUIRES(pool.mutex)
    {
        if (slow.txs.empty()) return;
        const Txid id = Pick().Id();
        slow.RemoveWithDescendants(id);
        CHECK(RemoveWithDescendants(pool, id, RemovalReason::kReorg) > 0);
        CHECK(RemoveWithDescendants(pool, id, RemovalReason::kReorg) == 0);
    }
    /** A transaction that spends what one or two others spend. */
    void Replace() IBD_REQUIRES(pool.mutex)
    {
        if (slow.txs.empty()) return;
        std::vector<OutPoint> from{(*Pick().tx)->inputs[0].Prevout()};
        const OutPoint other = (*Pick().tx)->inputs[0].Prevout();
        if (m_rng() % 2 == 0 && other != from[0]) from.push_back(other);
        const PoolTx tx = Make(from);
        SlowPool after = slow;
        PoolChange change(pool);
        for (const PoolTx& old : slow.txs) {
            if (!Conflict(*old.tx, *tx.tx)) continue;
            change.RemoveWithDescendants(*pool.Find(old.Id()), RemovalReason::kReplaced);
            after.RemoveWithDescendants(old.Id());
        }
        // It may not spend what it replaces.
        if (std::any_of(from.begin(), from.end(), [&](const OutPoint& outpoint) {
                return slow.Find(outpoint.txid) && !after.Find(outpoint.txid);
            })) {
            return;
        }
        after.txs.push_back(tx);
        change.Add(tx);
        REQUIRE(change.Fits() == after.Fits(pool.Limits()));
        if (!change.Fits()) return;
        // Where no rate is negative, clusters that stay as they are do not matter.
        const std::vector<FeeSize> before_diagram = slow.Diagram(), diagram = after.Diagram();
        const auto order = change.CompareWithPool();
        if (before_diagram.back().fee >= 0 && diagram.back().fee >= 0) {
            REQUIRE((order == CompareDiagrams(diagram, before_diagram)));
        }
        if (order > 0) {
            change.Apply();
            slow = std::move(after);
        }
    }
    void ConfirmSome() IBD_REQUIRES(pool.mutex)
    {
        if (slow.txs.empty()) return;
        // One of the pool without its parents, and a stranger that spends what another does.
        const PoolTx& conflicted = Pick();
        const OutPoint taken = (*conflicted.tx)->inputs[0].Prevout();
        m_mined = {Pick(), Make({taken})};
        if (Conflict(*m_mined[0].tx, *m_mined[1].tx)) m_mined.pop_back();
        std::vector<TransactionRef> txs;
        for (const PoolTx& tx : m_mined) txs.push_back(tx.tx);
        const Bytes raw = BlockOf(txs);
        BlockView block;
        Must(block.Parse(raw));
        Confirm(pool, block, 1, 0);
        for (const PoolTx& tx : m_mined) slow.Erase(tx.Id());
        for (const PoolTx& tx : m_mined) {
            for (const PoolTx& other : std::vector<PoolTx>(slow.txs)) {
                if (!Conflict(*other.tx, *tx.tx)) continue;
                m_deltas.erase(other.Id());
                slow.RemoveWithDescendants(other.Id());
            }
            m_deltas.erase(tx.Id());
        }
    }
    /** The last block is taken back; clusters may become too large. */
    void Reorganise() IBD_REQUIRES(pool.mutex)
    {
        SlowPool after = slow;
        PoolChange change(pool);
        for (PoolTx tx : std::exchange(m_mined, {})) {
            const bool conflicts =
                std::any_of(after.txs.begin(), after.txs.end(),
                            [&](const PoolTx& other) { return Conflict(*other.tx, *tx.tx); });
            if (conflicts || after.Find(tx.Id())) continue;
            tx.delta = 0;
            change.Add(tx);
            after.txs.push_back(tx);
        }
        const bool fits = after.Fits(pool.Limits());
        REQUIRE(change.Fits() == fits);
        change.DropExcess(RemovalReason::kSizeLimit);
        pool.mutex.unlock();
        pool.gate.Close();
        change.ApplyInSteps(1 + m_rng() % 8);
        pool.gate.Open();
        pool.mutex.lock();
        const std::vector<PoolTx> all = after.txs;
        std::erase_if(after.txs, [&](const PoolTx& tx)
                                     IBD_NO_THREAD_CHECK { return pool.Find(tx.Id()) == nullptr; });
        REQUIRE((after.txs.size() == all.size()) == fits);
        REQUIRE(after.Fits(pool.Limits()));
        for (const PoolTx& tx : all) {
            if (after.Find(tx.Id())) continue;
            for (const Txid& id : SlowPool{all}.WithDescendants({tx.Id()})) {
                REQUIRE(!after.Find(id));
            }
        }
        slow = std::move(after);
    }
    void Prioritise() IBD_REQUIRES(pool.mutex)
    {
        if (slow.txs.empty()) return;
        PoolTx& tx = slow.txs[m_rng() % slow.txs.size()];
        const Amount delta = static_cast<Amount>(m_rng() % 500) - 250;
        tx.delta += delta;
        m_deltas[tx.Id()] = tx.delta;
        if (tx.delta == 0) m_deltas.erase(tx.Id());
        CHECK(ibd::Prioritise(pool, tx.Id(), delta) == tx.delta);
        CHECK(pool.DeltaOf(tx.Id()) == tx.delta);
    }
    void Expire() IBD_REQUIRES(pool.mutex)
    {
        const auto before = static_cast<int64_t>(m_rng() % 100);
        for (const PoolTx& tx : std::vector<PoolTx>(slow.txs)) {
            if (tx.time < before) slow.RemoveWithDescendants(tx.Id());
        }
        ibd::Expire(pool, before);
    }
    void Evict() IBD_REQUIRES(pool.mutex)
    {
        while (pool.MemoryUsage() > pool.Limits().max_bytes) {
            const std::vector<FeeSize> diagram = slow.Diagram();
            const PoolChunk worst = **pool.Chunks().rbegin();
            REQUIRE((CompareRates(worst.sum, diagram.back()) == 0));
            for (const PoolTx* tx : worst.Txs()) slow.Erase(tx->Id());
            const size_t size = slow.txs.size();
            // One chunk at a time, as Trim() does them.
            PoolChange change(pool);
            for (const PoolTx* tx : worst.Txs()) change.Remove(*tx, RemovalReason::kSizeLimit);
            change.Apply();
            REQUIRE(pool.Size() == size);
        }
        CHECK(Trim(pool) == 0);
    }

    Rng m_rng;
    uint32_t m_next = 0;
    std::map<Txid, Amount> m_deltas;
    std::vector<PoolTx> m_mined;

public:
    TxPool pool;
    SlowPool slow;
    Listener listener;
};

} // namespace

TEST_CASE("the array of slots doubles when full and shrinks when half empty", "[mempool]")
{
    PoolSlots slots;
    CHECK(slots.Bytes() == 0);
    slots.Grow(1);
    const size_t one = slots.Bytes();
    const auto count = [&] { return slots.Bytes() / one; };
    for (size_t txs = 2; txs <= 9; ++txs) slots.Grow(txs);
    CHECK(count() == 16);
    slots.Shrink(8);
    CHECK(count() == 16);
    slots.Shrink(7);
    CHECK(count() == 7);
    slots.Grow(8);
    CHECK(count() == 14);
    for (size_t txs = 7; txs > 0; --txs) slots.Shrink(txs);
    CHECK(count() == 2);
    slots.Shrink(0);
    CHECK(count() == 2);
    slots.Grow(1);
    CHECK(count() == 2);
}

TEST_CASE("the pool agrees with its slow model", "[mempool]")
{
    // A long run: IBD_POOL_STEPS=1000000 build/bin/unit_mempool "the pool agrees*"
    const char* const text = std::getenv("IBD_POOL_STEPS");
    const uint64_t steps = text ? std::strtoull(text, nullptr, 10) : 3'000;
    constexpr uint64_t kStepsOfSeed = 500;
    std::map<RemovalReason, size_t> removed;
    for (uint64_t seed = 1; seed <= std::max<uint64_t>(1, steps / kStepsOfSeed); ++seed) {
        Pools pools(seed);
        const Lock lock(pools.pool.mutex);
        uint64_t updates = 0;
        for (uint64_t step = 0; step < kStepsOfSeed; ++step) {
            CAPTURE(seed, step);
            pools.Step();
            Compare(pools.pool, pools.slow);
            REQUIRE(pools.pool.Updates() >= updates);
            REQUIRE(pools.listener.ids.size() == pools.slow.txs.size());
            REQUIRE(pools.pool.Sequence() == pools.listener.last + 1);
            updates = pools.pool.Updates();
        }
        for (const auto& [reason, count] : pools.listener.removed) removed[reason] += count;
    }
    for (const RemovalReason reason :
         {RemovalReason::kExpiry, RemovalReason::kSizeLimit, RemovalReason::kReorg,
          RemovalReason::kBlock, RemovalReason::kConflict, RemovalReason::kReplaced}) {
        CAPTURE(NameOf(reason));
        CHECK(removed[reason] > 0);
    }
}

namespace {

/** Two transactions of one tag in a table with this key; they spend different outputs. */
std::array<TransactionRef, 2> OfOneTag(SipKey key)
{
    const auto make = [](uint32_t time) {
        MutableTransaction tx = Spending({Name(time % 2)}, {1});
        tx.lock_time = time;
        return tx.Freeze();
    };
    std::unordered_map<uint32_t, uint32_t> times;
    for (uint32_t time = 0;; ++time) {
        const TransactionRef tx = make(time);
        const auto tag = static_cast<uint32_t>(HashHasher(key)(tx->Id()));
        const auto [it, is_new] = times.emplace(tag, time);
        if (!is_new && it->second % 2 != time % 2) return {make(it->second), tx};
    }
}

void CheckFindAll(const TxPool& pool, const std::vector<TransactionRef>& asked)
    IBD_REQUIRES(pool.mutex)
{
    std::vector<TxView> views;
    for (const TransactionRef& tx : asked) views.push_back(tx->View());
    const std::vector<const PoolTx*> found = pool.FindAll(views);
    REQUIRE(found.size() == asked.size());
    for (size_t i = 0; i < asked.size(); ++i) CHECK(found[i] == pool.Find(asked[i]->Id()));
}

} // namespace

TEST_CASE("many transactions are found as one by one", "[mempool]")
{
    Rng rng(36);
    TxPool pool{PoolLimits()};
    const Lock lock(pool.mutex);
    CheckFindAll(pool, {});
    std::vector<TransactionRef> all;
    for (uint32_t n = 0; n < 300; ++n) {
        PoolTx tx{.tx = Spending({Name(n)}, {1}).Freeze(), .fee = 500, .vsize = 100, .weight = 400};
        all.push_back(tx.tx);
        if (n % 3 != 0) AddTx(pool, std::move(tx));
        if (n % 10 != 0) continue;
        std::shuffle(all.begin(), all.end(), rng);
        const auto some = static_cast<ptrdiff_t>(rng() % (all.size() + 1));
        CheckFindAll(pool, {all.begin(), all.begin() + some});
    }
    CheckFindAll(pool, all);
    CompareWalk(pool); // over more chunks than it keeps
}

TEST_CASE("of transactions with equal tags the one is found that was named", "[mempool]")
{
    constexpr SipKey kKey{3, 6};
    std::array<TransactionRef, 2> pair = OfOneTag(kKey);
    for (int round = 0; round < 2; ++round, std::swap(pair[0], pair[1])) {
        TxPool pool(PoolLimits(), kKey);
        const Lock lock(pool.mutex);
        const auto add = [&](const TransactionRef& tx) IBD_NO_THREAD_CHECK {
            AddTx(pool, {.tx = tx, .fee = 500, .vsize = 100, .weight = 400});
        };
        add(pair[0]);
        REQUIRE_FALSE(pool.Find(pair[1]->Id()));
        CheckFindAll(pool, {pair[0], pair[1], pair[1]});
        add(pair[1]);
        REQUIRE(pool.Find(pair[1]->Id()));
        CheckFindAll(pool, {pair[1], pair[0], pair[1]});
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
    for (const PoolTx& tx : {parent, child, other}) AddTx(pool, tx);
    REQUIRE(pool.Chunks().size() == 2);
    CHECK(pool.InOrder() == std::vector<const PoolTx*>{pool.Find(parent.Id()),
                                                       pool.Find(child.Id()),
                                                       pool.Find(other.Id())});
    // A wish of the user turns that over.
    CHECK(Prioritise(pool, other.Id(), 1'000) == 1'000);
    CHECK(pool.InOrder().front() == pool.Find(other.Id()));
    CHECK(Prioritise(pool, other.Id(), -1'000) == 0);
    CHECK(pool.Deltas().empty());
    CHECK(pool.InOrder().back() == pool.Find(other.Id()));
}

TEST_CASE("a transaction that would join full clusters is refused after few steps", "[mempool]")
{
    constexpr uint32_t kClusters = 50;
    TxPool pool{PoolLimits()};
    const Lock lock(pool.mutex);
    const auto make = [](const std::vector<OutPoint>& spent) {
        PoolTx tx;
        tx.tx = Spending(spent, {1'000}).Freeze();
        tx.fee = 500;
        tx.vsize = 100;
        tx.weight = 400;
        return tx;
    };
    std::vector<OutPoint> ends;
    for (uint32_t i = 0; i < kClusters; ++i) {
        OutPoint next = Name(i);
        for (size_t count = 0; count < kMaxClusterTxs; ++count) {
            PoolTx tx = make({next});
            next = {tx.Id(), 0};
            AddTx(pool, std::move(tx));
        }
        ends.push_back(next);
    }
    PoolChange change(pool);
    change.Add(make(ends));
    CHECK_FALSE(change.Fits());
    uint64_t last = 0;
    const std::vector<const PoolTx*> all = pool.InOrder();
    for (const PoolTx* tx : all) last = std::max(last, tx->visit);
    const auto visited =
        std::count_if(all.begin(), all.end(), [&](const PoolTx* tx) { return tx->visit == last; });
    CHECK(visited <= static_cast<int>(kMaxClusterTxs)); // of 3,200
}

TEST_CASE("a modified fee stays within its bounds", "[mempool]")
{
    TxPool pool{PoolLimits()};
    const Lock lock(pool.mutex);
    const PoolTx tx{.tx = Spending({Name(1)}, {1}).Freeze(), .fee = 7, .vsize = 1, .weight = 4};
    AddTx(pool, tx);
    constexpr Amount kMost = std::numeric_limits<Amount>::max();
    CHECK(Prioritise(pool, tx.Id(), kMost) == kMost);
    CHECK(Prioritise(pool, tx.Id(), kMost) == kMost);
    CHECK(pool.Find(tx.Id())->ModifiedFee() == kMaxModifiedFee);
    CHECK(Prioritise(pool, tx.Id(), std::numeric_limits<Amount>::min()) == -1);
    CHECK(pool.Find(tx.Id())->ModifiedFee() == 6);
}

TEST_CASE("the least fee rises with evictions and falls after blocks", "[mempool]")
{
    constexpr int64_t kHour = 3'600;
    RollingFee fee(100);
    CHECK(fee.Rate(0, 100, 100) == 0);
    fee.Evicted(900);
    fee.Evicted(500);                                  // lower: changes nothing
    CHECK(fee.Rate(1'000 * kHour, 100, 100) == 1'000); // no block came
    fee.BlockConnected(1'000 * kHour);
    CHECK(fee.Rate(1'000 * kHour + 10, 100, 100) == 1'000);
    CHECK(fee.Rate(1'012 * kHour, 100, 100) == 500); // half in 12 hours
    CHECK(fee.Rate(1'018 * kHour, 49, 100) == 250);  // in 6 while it is half empty
    CHECK(fee.Rate(1'021 * kHour, 24, 100) == 125);  // in 3
    CHECK(fee.Rate(1'023 * kHour, 24, 100) == 100);  // not below a step
    CHECK(fee.Rate(1'030 * kHour, 24, 100) == 0);    // until it is below half a step
    CHECK(fee.Rate(1'031 * kHour, 24, 100) == 0);
}

} // namespace ibd::test
