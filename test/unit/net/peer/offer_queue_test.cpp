// OfferQueue: peers have equal shares of the thread that checks. Costs of checks come from a seed.
#include "net/peer/offer_queue.h"
#include "sim/model_pool.h"

#include <random>

#include "support/catch.h"

namespace ibd::test {

namespace {

using Time = OfferQueue::Time;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr PeerId kAttackers = 100;
constexpr PeerId kHonest = kAttackers;

/** Transactions differ in size alone. */
TxOffer OfferOf(PeerId peer, size_t bytes)
{
    static std::map<size_t, TransactionRef> made;
    TransactionRef& tx = made[bytes];
    if (!tx) tx = sim::MakeModelTx({sim::ModelCoin(1)}, 1'000, {}, 2, bytes);
    return {.peer = peer, .txs = {tx}};
}

/** A queue, and the work of its thread. */
struct Crowd {
    OfferQueue queue;
    std::map<PeerId, Time> had = {};

    template <typename Cost>
    PeerId CheckOne(Cost cost)
    {
        const TxOffer offer = queue.Take();
        const Time took = cost(offer.peer);
        queue.Done(took);
        had[offer.peer] += took;
        return offer.peer;
    }
};

} // namespace

TEST_CASE("an honest transaction waits for few long checks of a hundred peers", "[offer_queue]")
{
    constexpr size_t kLong = 300'000;
    constexpr size_t kShort = 300;
    constexpr Time kLongCheck = milliseconds(200);
    std::mt19937_64 rng(1);
    Crowd crowd;
    const auto cost = [&](PeerId peer) -> Time {
        return peer == kHonest ? Time(microseconds(100)) : kLongCheck;
    };
    for (PeerId peer = 0; peer < kAttackers; ++peer) crowd.queue.Put(OfferOf(peer, kLong));
    for (int round = 0; round < 50; ++round) {
        crowd.queue.Put(OfferOf(kHonest, kShort));
        int waited = 0;
        for (PeerId peer = -1; peer != kHonest; ++waited) {
            peer = crowd.CheckOne(cost);
            if (peer != kHonest) crowd.queue.Put(OfferOf(peer, kLong));
        }
        CHECK(waited <= 2); // itself, and at most one long check: first come, first served has 101
        for (uint64_t i = rng() % 200; i > 0; --i) {
            crowd.queue.Put(OfferOf(crowd.CheckOne(cost), kLong));
        }
    }
}

TEST_CASE("short offers with long checks get ahead of others once", "[offer_queue]")
{
    constexpr size_t kShort = 300;
    Crowd crowd;
    const auto cost = [](PeerId peer) -> Time {
        return peer == kHonest ? Time(microseconds(100)) : Time(milliseconds(50));
    };
    for (PeerId peer = 0; peer < kAttackers; ++peer) crowd.queue.Put(OfferOf(peer, kShort));
    for (PeerId i = 0; i < kAttackers; ++i) crowd.queue.Put(OfferOf(crowd.CheckOne(cost), kShort));
    for (int round = 0; round < 20; ++round) {
        crowd.queue.Put(OfferOf(kHonest, kShort));
        int waited = 0;
        for (PeerId peer = -1; peer != kHonest; ++waited) {
            peer = crowd.CheckOne(cost);
            if (peer != kHonest) crowd.queue.Put(OfferOf(peer, kShort));
        }
        CHECK(waited <= 2);
    }
}

TEST_CASE("peers that always have an offer get the same time of the thread", "[offer_queue]")
{
    constexpr milliseconds kLongest{100};
    std::mt19937_64 rng(2);
    Crowd crowd;
    const auto cost = [&](PeerId peer) -> Time {
        return microseconds(1 + rng() % (static_cast<uint64_t>(peer % 5 + 1) * 20'000));
    };
    constexpr PeerId kPeers = 10;
    const auto size = [&] { return size_t{1} << (8 + rng() % 9); };
    for (PeerId peer = 0; peer < kPeers; ++peer) crowd.queue.Put(OfferOf(peer, size()));
    for (int i = 0; i < 5'000; ++i) crowd.queue.Put(OfferOf(crowd.CheckOne(cost), size()));
    const auto [least, most] =
        std::minmax_element(crowd.had.begin(), crowd.had.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    CHECK(crowd.had.size() == size_t{kPeers});
    CHECK(most->second - least->second <= 3 * kLongest);
}

TEST_CASE("peers that connect and disconnect exclude no other peer, and are forgotten",
          "[offer_queue]")
{
    constexpr size_t kShort = 300;
    OfferQueue queue;
    const auto check = [&](Time took) {
        const PeerId peer = queue.Take().peer;
        queue.Done(took);
        return peer;
    };
    // A peer that has used much.
    queue.Put(OfferOf(0, kShort));
    CHECK(check(milliseconds(100)) == 0);
    for (PeerId peer = 1; peer <= 50; ++peer) queue.Put(OfferOf(peer, kShort));
    queue.Put(OfferOf(0, kShort));
    int waited = 0;
    for (PeerId next = 51; check(milliseconds(10)) != 0; ++next, ++waited) {
        queue.Put(OfferOf(next, kShort)); // never seen before
    }
    CHECK(waited <= 600); // 50 peers have as much as it: 500 checks, and one of each
    for (PeerId peer = 1'000; peer < 10'000; ++peer) {
        queue.Put(OfferOf(peer, kShort));
        (void)check(milliseconds(10));
        REQUIRE(queue.Accounts() <= OfferQueue::kMaxAccounts);
    }
    while (!queue.IsEmpty()) (void)check(milliseconds(10));
    CHECK(queue.Accounts() <= 1);
    CHECK(queue.Bytes() == 0);
}

TEST_CASE("offers of one peer keep their order", "[offer_queue]")
{
    OfferQueue queue;
    const std::vector<size_t> sizes{9'000, 300, 5'000};
    for (const size_t size : sizes) queue.Put(OfferOf(7, size));
    size_t last = 0;
    for (const size_t size : sizes) {
        const size_t bytes = queue.Take().Bytes();
        CHECK(bytes >= size);
        CHECK(bytes < size + 200);
        queue.Done(microseconds(last++));
    }
    CHECK(queue.IsEmpty());
}

} // namespace ibd::test
