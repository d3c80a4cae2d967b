// OrphanPool: the life of an orphan, its bounds, and that no peer can push out another's.
#include "net/peer/orphan_pool.h"

#include "sim/model_pool.h"

#include <random>

#include "support/catch.h"

namespace ibd {

namespace {

using sim::MakeModelTx;

class Kit {
public:
    /** An orphan whose parent does not exist. */
    TransactionRef Orphan(size_t inputs = 1, size_t padding = 0)
    {
        std::vector<OutPoint> spent;
        for (size_t i = 0; i < inputs; ++i) {
            Txid parent;
            parent.data()[0] = 0xaa;
            const uint64_t n = ++m_made;
            std::memcpy(parent.data() + 1, &n, sizeof n);
            spent.push_back({parent, 0});
        }
        return MakeModelTx(spent, 1'000, {}, 2, padding);
    }

    std::mt19937_64 rng{11};
    std::unique_ptr<Logger> log = MakeNullLogger();
    OrphanPool pool{*log, [this](uint64_t below) { return rng() % below; }};

private:
    uint64_t m_made = 0;
};

std::vector<OutPoint> Outputs(const TransactionRef& tx) { return {{tx->Id(), 0}}; }

/** Orphans that spend each other's and a few parents' outputs, also several of one parent, and a
 *  plain record of the announcements. */
class Family {
public:
    explicit Family(Kit& kit) : m_kit(kit)
    {
        for (uint32_t i = 0; i < 6; ++i) parents.push_back(MakeModelTx({sim::ModelCoin(i)}, i));
        for (int i = 0; i < 150; ++i) {
            std::vector<OutPoint> spent;
            for (uint64_t left = 1 + Random(4); left > 0; --left) {
                const TransactionRef& parent = Random(5) == 0 && !orphans.empty()
                                                   ? orphans[Random(orphans.size())]
                                                   : parents[Random(parents.size())];
                const OutPoint output{parent->Id(), static_cast<uint32_t>(Random(4))};
                if (std::count(spent.begin(), spent.end(), output) == 0) spent.push_back(output);
            }
            orphans.push_back(MakeModelTx(spent, i, {}, 2, Random(30'000)));
        }
    }
    uint64_t Random(uint64_t below) { return m_kit.rng() % below; }
    void Add(const TransactionRef& tx, PeerId peer)
    {
        const bool was = m_kit.pool.IsOf(tx->WitnessId(), peer);
        m_kit.pool.Add(tx, peer);
        if (!was) m_announced[{peer, tx}] = ++m_steps;
    }
    /** By a look at each orphan. `ready`: those of the peer that are to be tried again. */
    std::vector<TransactionRef> ChildrenFrom(const Txid& parent, PeerId peer,
                                             const std::set<TransactionRef>& ready) const
    {
        std::map<std::pair<bool, int>, TransactionRef> found;
        for (const OrphanPool::Orphan& orphan : m_kit.pool.All()) {
            const auto& inputs = (*orphan.tx)->inputs;
            const bool spends = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
                return input.Prevout().txid == parent;
            });
            if (!spends || !orphan.peers.contains(peer)) continue;
            found[{ready.contains(orphan.tx), m_announced.at({peer, orphan.tx})}] = orphan.tx;
        }
        std::vector<TransactionRef> out;
        for (auto it = found.rbegin(); it != found.rend(); ++it) out.push_back(it->second);
        return out;
    }
    std::set<TransactionRef> TakeAllReady(PeerId peer)
    {
        std::set<TransactionRef> out;
        while (const TransactionRef tx = m_kit.pool.TakeReady(peer)) out.insert(tx);
        return out;
    }

    std::vector<TransactionRef> parents;
    std::vector<TransactionRef> orphans;

private:
    Kit& m_kit;
    std::map<std::pair<PeerId, TransactionRef>, int> m_announced;
    int m_steps = 0;
};

} // namespace

TEST_CASE("an orphan is kept until its last announcer goes", "[relay]")
{
    Kit kit;
    const TransactionRef orphan = kit.Orphan();
    kit.pool.Add(orphan, 1);
    kit.pool.Add(orphan, 2);
    kit.pool.Add(orphan, 2);
    REQUIRE(kit.pool.All().size() == 1);
    CHECK(kit.pool.All()[0].peers == std::set<PeerId>{1, 2});
    CHECK(kit.pool.Latency() == 2);
    kit.pool.Disconnected(1);
    CHECK(kit.pool.IsOf(orphan->WitnessId(), 2));
    CHECK_FALSE(kit.pool.IsOf(orphan->WitnessId(), 1));
    kit.pool.Disconnected(2);
    CHECK(kit.pool.Count() == 0);
    CHECK(kit.pool.Weight() == 0);
}

TEST_CASE("a parent brings its orphans back, each in the turn of one announcer", "[relay]")
{
    Kit kit;
    const TransactionRef parent = MakeModelTx({sim::ModelCoin(1)}, 0);
    const TransactionRef child = MakeModelTx(Outputs(parent), 1'000);
    kit.pool.Add(child, 1);
    kit.pool.Add(child, 2);
    kit.pool.Add(kit.Orphan(), 1);
    kit.pool.ParentCame(parent->View());
    REQUIRE(kit.pool.HasReady(1) != kit.pool.HasReady(2));
    const PeerId peer = kit.pool.HasReady(1) ? 1 : 2;
    CHECK(kit.pool.TakeReady(peer) == child);
    CHECK_FALSE(kit.pool.HasReady(peer));
    CHECK(kit.pool.ChildrenFrom(parent->Id(), 1) == std::vector{child});
    CHECK(kit.pool.ChildrenFrom(parent->Id(), 3).empty());
    const std::vector<OutPoint> spent = Outputs(parent);
    kit.pool.EraseSpenders(spent);
    CHECK_FALSE(kit.pool.Has(child->WitnessId()));
    CHECK(kit.pool.Count() == 1);
}

TEST_CASE("too heavy orphans are not kept", "[relay]")
{
    Kit kit;
    kit.pool.Add(kit.Orphan(1, 100'000), 1);
    CHECK(kit.pool.Count() == 0);
    kit.pool.Add(kit.Orphan(1, 90'000), 1);
    CHECK(kit.pool.Count() == 1);
}

TEST_CASE("no peer can push out the orphans of another", "[relay]")
{
    Kit kit;
    const TransactionRef honest = kit.Orphan(20, 10'000);
    kit.pool.Add(honest, 1);
    SECTION("by their number")
    {
        for (int i = 0; i < 4'000; ++i) kit.pool.Add(kit.Orphan(), 2 + i % 3);
        CHECK(kit.pool.Latency() == OrphanPool::kMaxLatency);
    }
    SECTION("by their inputs")
    {
        for (int i = 0; i < 60; ++i) kit.pool.Add(kit.Orphan(900), 2);
        CHECK(kit.pool.Latency() <= OrphanPool::kMaxLatency);
    }
    SECTION("by their weight")
    {
        for (int i = 0; i < 60; ++i) kit.pool.Add(kit.Orphan(1, 90'000), 2 + i % 3);
        CHECK(kit.pool.Weight() <= 4 * OrphanPool::kWeightOfPeer);
        CHECK(kit.pool.Weight() > 3 * OrphanPool::kWeightOfPeer);
    }
    SECTION("by announcing them, too")
    {
        kit.pool.Add(honest, 2);
        for (int i = 0; i < 4'000; ++i) kit.pool.Add(kit.Orphan(), 2);
    }
    CHECK(kit.pool.IsOf(honest->WitnessId(), 1));
}

TEST_CASE("the totals of orphans equal the sums over the orphans", "[relay]")
{
    Kit kit;
    std::vector<TransactionRef> txs;
    for (int i = 0; i < 200; ++i) txs.push_back(kit.Orphan(1 + kit.rng() % 30, kit.rng() % 20'000));
    for (int step = 0; step < 10'000; ++step) {
        const TransactionRef& tx = txs[kit.rng() % txs.size()];
        const auto peer = static_cast<PeerId>(kit.rng() % 6);
        switch (kit.rng() % 12) {
        case 0: kit.pool.Erase(tx->WitnessId()); break;
        case 1:
            if (kit.rng() % 10 == 0) kit.pool.Disconnected(peer);
            break;
        case 2: {
            const OutPoint spent = (*tx)->inputs[0].Prevout();
            kit.pool.EraseSpenders({&spent, 1});
            break;
        }
        case 3: (void)kit.pool.TakeReady(peer); break;
        default: kit.pool.Add(tx, peer);
        }
        int64_t weight = 0;
        int64_t latency = 0;
        std::map<PeerId, int64_t> of_peers;
        for (const OrphanPool::Orphan& orphan : kit.pool.All()) {
            weight += (*orphan.tx)->Weight();
            latency += static_cast<int64_t>((*orphan.tx)->inputs.size() / 10 + orphan.peers.size());
            for (const PeerId other : orphan.peers) of_peers[other] += (*orphan.tx)->Weight();
        }
        REQUIRE(kit.pool.Weight() == weight);
        REQUIRE(kit.pool.Latency() == latency);
        for (PeerId other = 0; other < 6; ++other) {
            REQUIRE(kit.pool.WeightOf(other) == of_peers[other]);
        }
        REQUIRE(weight <= OrphanPool::kWeightOfPeer *
                              static_cast<int64_t>(std::max<size_t>(of_peers.size(), 1)));
        REQUIRE(latency <= OrphanPool::kMaxLatency);
    }
}

TEST_CASE("the children of a parent are those that a look at each orphan finds", "[relay]")
{
    Kit kit;
    Family family(kit);
    const auto compare = [&] {
        const auto peer = static_cast<PeerId>(family.Random(5));
        const auto& txs = family.Random(3) == 0 ? family.orphans : family.parents;
        const Txid parent = txs[family.Random(txs.size())]->Id();
        const std::vector<TransactionRef> found = kit.pool.ChildrenFrom(parent, peer);
        REQUIRE(found == family.ChildrenFrom(parent, peer, family.TakeAllReady(peer)));
        return found.size();
    };
    size_t several = 0;
    for (int step = 0; step < 10'000; ++step) {
        const TransactionRef& tx = family.orphans[family.Random(family.orphans.size())];
        switch (family.Random(20)) {
        case 0: kit.pool.Erase(tx->WitnessId()); break;
        case 1:
            if (family.Random(20) == 0) kit.pool.Disconnected(static_cast<PeerId>(step % 5));
            break;
        case 2: kit.pool.ParentCame(family.parents[family.Random(6)]->View()); break;
        case 3:
        case 4: several += compare() > 1 ? 1 : 0; break;
        default: family.Add(tx, static_cast<PeerId>(family.Random(5)));
        }
    }
    CHECK(several > 100);
}

} // namespace ibd
