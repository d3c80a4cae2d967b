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
    /** An orphan with a parent that nobody has. */
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

TEST_CASE("the totals of orphans are those of what is there", "[relay]")
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

} // namespace ibd
