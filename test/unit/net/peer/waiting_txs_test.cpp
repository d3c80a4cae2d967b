// WaitingTxs: by rate and in turn, against a plain list; its queries to the pool, and the order of
// announcements.
#include "net/peer/waiting_txs.h"

#include "sim/model_pool.h"

#include <algorithm>
#include <random>

#include "support/catch.h"

namespace ibd {

using sim::MakeModelTx;
using sim::ModelCoin;

namespace {

Wtxid Id(uint64_t n)
{
    Wtxid id;
    id.data()[n % 32] = static_cast<uint8_t>(n + 1);
    id.data()[31 - n % 32] = static_cast<uint8_t>(n / 32);
    return id;
}

/** Plainly: a list that is searched and sorted. */
struct Plain {
    std::vector<std::pair<double, Wtxid>> list;

    auto Find(const Wtxid& id)
    {
        return std::find_if(list.begin(), list.end(),
                            [&](const auto& x) { return x.second == id; });
    }
    void Add(const Wtxid& id, double rate)
    {
        Erase(id);
        list.emplace_back(rate, id);
    }
    bool Erase(const Wtxid& id)
    {
        const auto found = Find(id);
        if (found == list.end()) return false;
        list.erase(found);
        return true;
    }
    std::vector<Wtxid> Best(size_t most)
    {
        std::sort(list.begin(), list.end(), std::greater<>());
        std::vector<Wtxid> out;
        for (size_t i = 0; i < std::min(most, list.size()); ++i) out.push_back(list[i].second);
        return out;
    }
};

/** A pool, and what waits for a peer. */
struct Scene {
    /** In the pool, and waiting. */
    TransactionRef Make(const std::vector<OutPoint>& spent, Amount fee)
    {
        const TransactionRef tx = MakeModelTx(spent, fee);
        pool.Add(tx);
        waiting.Come(tx->WitnessId(), pool.Find({tx->WitnessId(), true})->mining_rate);
        return tx;
    }
    TransactionRef Make(Amount fee) { return Make({ModelCoin(++m_coins)}, fee); }
    TransactionRef Child(const TransactionRef& parent, Amount fee)
    {
        return Make({{parent->Id(), 0}}, fee);
    }
    std::vector<TransactionRef> Announce(size_t most)
    {
        std::vector<TransactionRef> out;
        pool.asked = 0;
        waiting.Announce(pool, most, [&](const PeerPool::Entry& entry) {
            out.push_back(entry.tx);
            return true;
        });
        return out;
    }

    sim::ModelPool pool;
    WaitingTxs waiting;

private:
    uint32_t m_coins = 0;
};

constexpr size_t kMost = 70;

} // namespace

TEST_CASE("transactions wait by rate", "[waiting_txs]")
{
    std::mt19937_64 rng(5);
    WaitingTxs waiting;
    Plain plain;
    for (int step = 0; step < 20'000; ++step) {
        const Wtxid id = Id(rng() % 200);
        const auto rate = static_cast<double>(rng() % 20);
        switch (rng() % 10) {
        case 0: REQUIRE(waiting.Erase(id) == plain.Erase(id)); break;
        case 1: {
            const size_t most = rng() % 6;
            REQUIRE(waiting.Best(most) == plain.Best(most));
            break;
        }
        case 2:
            for (const Wtxid& next : waiting.Next(rng() % 4)) {
                REQUIRE(plain.Erase(next));
                waiting.Erase(next);
            }
            break;
        default: waiting.Add(id, rate); plain.Add(id, rate);
        }
        REQUIRE(waiting.Count() == plain.list.size());
        REQUIRE(waiting.Has(id) == (plain.Find(id) != plain.list.end()));
    }
    waiting.Clear();
    CHECK(waiting.Count() == 0);
    CHECK(waiting.Best(1).empty());
    CHECK(waiting.Next(1).empty());
}

TEST_CASE("each transaction has its turn, however many come and go", "[waiting_txs]")
{
    std::mt19937_64 rng(6);
    WaitingTxs waiting;
    for (uint64_t n = 0; n < 200; ++n) waiting.Add(Id(n), 1);
    std::set<Wtxid> had;
    // Two turns for each that comes: all those waiting at first have had one after 200 arrivals.
    for (uint64_t n = 200; n < 400; ++n) {
        waiting.Add(Id(n), 1);
        for (const Wtxid& id : waiting.Next(2)) {
            had.insert(id);
            waiting.Add(id, static_cast<double>(rng() % 9));
        }
    }
    for (uint64_t n = 0; n < 200; ++n) CHECK(had.contains(Id(n)));
}

TEST_CASE("an announcement asks about few transactions, however many wait", "[waiting_txs]")
{
    Scene scene;
    std::vector<TransactionRef> all;
    for (Amount fee = 1; fee <= 5'000; ++fee) all.push_back(scene.Make(fee));
    size_t told = 0;
    while (scene.waiting.Count() > 0) {
        const std::vector<TransactionRef> now = scene.Announce(kMost);
        // The best first: fees rose.
        for (const TransactionRef& tx : now) REQUIRE(tx == all[all.size() - ++told]);
        REQUIRE(scene.pool.asked <= kMost + 2 * WaitingTxs::kMoreAsked);
        scene.pool.asked = 0;
        scene.waiting.GiveTurns(scene.pool);
        REQUIRE(scene.pool.asked <= WaitingTxs::kMostTurns);
    }
    CHECK(told == all.size());
}

TEST_CASE("transactions that left the pool do not pile up", "[waiting_txs]")
{
    Scene scene;
    constexpr size_t kStay = 300;
    for (size_t i = 0; i < kStay; ++i) (void)scene.Make(1'000);
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 400; ++i) scene.pool.Remove(scene.Make(i));
        scene.waiting.GiveTurns(scene.pool);
        (void)scene.Announce(0);
        REQUIRE(scene.waiting.Count() <= 2 * (kStay + 400));
    }
}

TEST_CASE("what a transaction spends is announced before it", "[waiting_txs]")
{
    Scene scene;
    const TransactionRef parent = scene.Make(10);
    const TransactionRef child = scene.Child(parent, 20);
    std::vector<TransactionRef> others;
    for (int i = 0; i < 3'000; ++i) others.push_back(scene.Make(1'000));
    (void)scene.Announce(kMost);
    // A grandchild pays for all; the two wait with the rates of before.
    const TransactionRef rich = MakeModelTx({{child->Id(), 0}}, 1'000'000);
    scene.pool.Add(rich);
    for (const TransactionRef& tx : {parent, child, rich}) scene.pool.SetMiningRate(tx, 500);
    scene.waiting.Come(rich->WitnessId(), 500);
    SECTION("if there is room for all")
    {
        const std::vector<TransactionRef> told = scene.Announce(kMost);
        REQUIRE(told.size() == kMost);
        CHECK(std::vector(told.begin(), told.begin() + 3) == std::vector{parent, child, rich});
    }
    SECTION("if there is not")
    {
        CHECK(scene.Announce(2) == std::vector{parent, child});
        CHECK(scene.Announce(1) == std::vector{rich});
    }
    SECTION("unless it does not wait")
    {
        scene.waiting.Erase(parent->WitnessId());
        CHECK(scene.Announce(2) == std::vector{child, rich});
    }
}

TEST_CASE("rates that rise are noticed in turn", "[waiting_txs]")
{
    Scene scene;
    const TransactionRef late = scene.Make(10);
    for (int i = 0; i < 3'000; ++i) (void)scene.Make(1'000);
    (void)scene.Announce(0);
    scene.pool.SetMiningRate(late, 1e6);
    size_t rounds = 0;
    while (scene.waiting.Has(late->WitnessId())) {
        (void)scene.Announce(1);
        REQUIRE(++rounds <= 3'000 / WaitingTxs::kMoreAsked + 2);
    }
}

TEST_CASE("transactions that a peer does not want take no place", "[waiting_txs]")
{
    Scene scene;
    const TransactionRef wanted = scene.Make(10);
    for (int i = 0; i < 100; ++i) (void)scene.Make(1'000);
    std::vector<TransactionRef> told;
    scene.waiting.Announce(scene.pool, 1, [&](const PeerPool::Entry& entry) {
        if (entry.tx == wanted) told.push_back(entry.tx);
        return entry.tx == wanted;
    });
    CHECK(told == std::vector{wanted});
    CHECK(scene.waiting.Count() == 0);
}

} // namespace ibd
