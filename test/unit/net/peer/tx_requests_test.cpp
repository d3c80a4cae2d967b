// TxRequests: each rule by itself, and random operations against a plain model of the rules.
#include "net/peer/tx_requests.h"

#include "net/peer/rolling_filter.h"

#include <random>

#include "support/catch.h"

namespace ibd {

namespace {

TxKey Key(uint8_t n, bool is_wtxid = true)
{
    TxKey key{{}, is_wtxid};
    key.hash.data()[0] = n;
    return key;
}

std::vector<TxKey> Requestable(TxRequests& requests, PeerId peer, int64_t now)
{
    std::vector<TxRequests::Expired> expired;
    return requests.Requestable(peer, now, expired);
}

/** The rules, by a look at everything. */
class Model {
public:
    struct Entry {
        TxKey key;
        bool preferred = false;
        bool done = false;
        bool requested = false;
        int64_t time = 0;
    };

    void Announced(PeerId peer, const TxKey& key, bool preferred, int64_t time)
    {
        entries.try_emplace({key.hash, peer}, Entry{key, preferred, false, false, time});
    }
    /** The hash must be requested from one of these peers; empty: from no peer. */
    std::set<PeerId> MayBeAsked(const Uint256& hash, int64_t now) const
    {
        std::set<PeerId> all, preferred;
        for (const auto& [id, entry] : entries) {
            if (id.first != hash || entry.done) continue;
            if (entry.requested) return {};
            if (entry.time > now) continue;
            (entry.preferred ? preferred : all).insert(id.second);
        }
        return preferred.empty() ? all : preferred;
    }
    void Expire(int64_t now)
    {
        for (auto& [id, entry] : entries) {
            if (entry.requested && entry.time <= now) {
                entry.requested = false;
                entry.done = true;
            }
        }
        ForgetDone();
    }
    void Answered(PeerId peer, const Uint256& hash)
    {
        const auto found = entries.find({hash, peer});
        if (found == entries.end()) return;
        found->second.done = true;
        found->second.requested = false;
        ForgetDone();
    }
    void ForgetDone()
    {
        std::set<Uint256> alive;
        for (const auto& [id, entry] : entries) {
            if (!entry.done) alive.insert(id.first);
        }
        std::erase_if(entries, [&](const auto& one) { return !alive.contains(one.first.first); });
    }

    std::map<std::pair<Uint256, PeerId>, Entry> entries;
};

} // namespace

TEST_CASE("a transaction is requested from one peer at a time, preferred ones first", "[relay]")
{
    TxRequests requests({1, 2});
    requests.Announced(1, Key(7), false, 100);
    requests.Announced(2, Key(7), true, 200);
    CHECK(Requestable(requests, 1, 99).empty());
    // The time of the preferred peer is not reached.
    CHECK(Requestable(requests, 1, 150) == std::vector{Key(7)});
    CHECK(Requestable(requests, 1, 200).empty());
    REQUIRE(Requestable(requests, 2, 200) == std::vector{Key(7)});
    requests.Requested(2, Key(7).hash, 260);
    CHECK(requests.InFlight(2) == 1);
    CHECK(Requestable(requests, 1, 259).empty());
    std::vector<TxRequests::Expired> expired;
    CHECK(requests.Requestable(1, 260, expired) == std::vector{Key(7)});
    REQUIRE(expired.size() == 1);
    CHECK((expired[0].peer == 2 && expired[0].key == Key(7)));
    // A peer is asked once, even if it announces again.
    requests.Announced(2, Key(7), true, 0);
    CHECK(Requestable(requests, 2, 300).empty());
    requests.Requested(1, Key(7).hash, 400);
    requests.Answered(1, Key(7).hash);
    CHECK(requests.Size() == 0);
    CHECK(requests.CountOf(2) == 0);
}

TEST_CASE("a hash that is forgotten as a txid stays wanted as a wtxid", "[relay]")
{
    TxRequests requests({1, 2});
    requests.Announced(1, Key(7, false), true, 0);
    requests.Announced(2, Key(7, true), true, 0);
    requests.Announced(3, Key(7, false), true, 0);
    requests.Announced(3, Key(7, true), true, 0);
    requests.Announced(4, Key(7, true), true, 0);
    requests.Announced(4, Key(7, false), true, 0);
    std::vector<PeerId> peers;
    requests.AddCandidates(Key(7, false), peers);
    CHECK(peers == std::vector<PeerId>{1});
    requests.ForgetTxid(Key(7).hash);
    CHECK(requests.CountOf(1) == 0);
    CHECK(requests.Size() == 3);
    peers.clear();
    requests.AddCandidates(Key(7, true), peers);
    CHECK(peers == std::vector<PeerId>{2, 3, 4});
    size_t asked = 0;
    for (const PeerId peer : peers) asked += Requestable(requests, peer, 1).size();
    CHECK(asked == 1);
    requests.Announced(1, Key(8, false), true, 0);
    requests.ForgetTxid(Key(8).hash);
    CHECK(requests.Size() == 3);
}

TEST_CASE("no peer can choose to be asked first", "[relay]")
{
    std::map<PeerId, int> first;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        TxRequests requests({seed, ~seed});
        for (PeerId peer = 0; peer < 3; ++peer) requests.Announced(peer, Key(1), true, 0);
        for (PeerId peer = 0; peer < 3; ++peer) {
            first[peer] += static_cast<int>(Requestable(requests, peer, 1).size());
        }
    }
    for (PeerId peer = 0; peer < 3; ++peer) CHECK(first[peer] > 60);
}

TEST_CASE("requests agree with a plain model", "[relay]")
{
    std::mt19937_64 rng(7);
    TxRequests requests({3, 4});
    Model model;
    int64_t now = 0;
    for (int step = 0; step < 20'000; ++step) {
        const auto peer = static_cast<PeerId>(rng() % 5);
        const TxKey key = Key(static_cast<uint8_t>(rng() % 12));
        now += static_cast<int64_t>(rng() % 3);
        switch (rng() % 8) {
        case 0:
        case 1:
        case 2: {
            const bool preferred = rng() % 2 == 0;
            const int64_t time = now + static_cast<int64_t>(rng() % 20);
            requests.Announced(peer, key, preferred, time);
            model.Announced(peer, key, preferred, time);
            break;
        }
        case 3:
            requests.Answered(peer, key.hash);
            model.Answered(peer, key.hash);
            break;
        case 4:
            if (rng() % 8 != 0) break;
            requests.Forget(key.hash);
            std::erase_if(model.entries,
                          [&](const auto& one) { return one.first.first == key.hash; });
            break;
        case 5:
            if (rng() % 16 != 0) break;
            requests.Disconnected(peer);
            std::erase_if(model.entries, [&](const auto& one) { return one.first.second == peer; });
            model.ForgetDone();
            break;
        default:
            for (const TxKey& ready : Requestable(requests, peer, now)) {
                model.Expire(now);
                CHECK(model.MayBeAsked(ready.hash, now).contains(peer));
                const int64_t expiry = now + 10;
                requests.Requested(peer, ready.hash, expiry);
                auto& entry = model.entries.at({ready.hash, peer});
                entry.requested = true;
                entry.time = expiry;
            }
        }
        // For each hash exactly one of the peers that may be asked is asked.
        std::map<Uint256, int> asked;
        for (PeerId other = 0; other < 5; ++other) {
            for (const TxKey& ready : Requestable(requests, other, now)) ++asked[ready.hash];
        }
        model.Expire(now);
        for (uint8_t n = 0; n < 12; ++n) {
            REQUIRE(asked[Key(n).hash] == int(!model.MayBeAsked(Key(n).hash, now).empty()));
        }
        REQUIRE(requests.Size() == model.entries.size());
    }
}

TEST_CASE("a rolling filter remembers the last ids and few others", "[relay]")
{
    RollingFilter filter(1'000, {5, 6});
    const auto id = [](uint32_t n) {
        Bytes out;
        Writer(out).U32(n);
        return out;
    };
    CHECK_FALSE(filter.Contains(id(1)));
    for (uint32_t n = 0; n < 10'000; ++n) {
        filter.Insert(id(n));
        REQUIRE(filter.Contains(id(n)));
        if (n >= 1'000) REQUIRE(filter.Contains(id(n - 999)));
    }
    int wrong = 0;
    for (uint32_t n = 20'000; n < 220'000; ++n) wrong += filter.Contains(id(n));
    CHECK(wrong < 5);
    int old = 0;
    for (uint32_t n = 0; n < 7'000; ++n) old += filter.Contains(id(n));
    CHECK(old < 5);
    filter.Clear();
    CHECK_FALSE(filter.Contains(id(9'999)));
}

} // namespace ibd
