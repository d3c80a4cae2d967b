// CoinTable and CoinsCache against plain maps under random operations.
#include "fixture.h"
#include "util/sanitized.h"

#include <malloc.h>

namespace ibd::test {

namespace {

constexpr SipKey kKey{7, 9};

OutPoint Name(uint64_t n)
{
    OutPoint outpoint;
    WriteLE64(outpoint.txid.data(), n % 97 * 0x9e3779b97f4a7c15);
    outpoint.vout = static_cast<uint32_t>(n / 97);
    return outpoint;
}

Coin RandomCoin(sim::Rng& rng)
{
    const size_t sizes[] = {0, 1, 22, 25, 35, 36, 37, 67, 500};
    return {static_cast<Amount>(rng() % kMaxMoney), ScriptBytes(RandomBytes(sizes[rng() % 9])),
            static_cast<uint32_t>(1 + rng() % 1000), (rng() & 1) != 0};
}

using Model = std::map<OutPoint, Coin>;

Model Contents(const CoinsDb& db)
{
    Model model;
    for (CoinsCursor cursor = db.Cursor(); cursor.Valid(); cursor.Next()) {
        model.emplace(cursor.Key(), Must(cursor.Value()));
    }
    return model;
}

BlockHash Best(uint64_t n)
{
    BlockHash hash;
    WriteLE64(hash.data(), n + 1);
    return hash;
}

std::unique_ptr<CoinsDb> OpenCoins(Env& env, const Path& directory)
{
    CoinsDbOptions options;
    options.directory = directory;
    options.batch_bytes = 500; // many batches to a flush
    return Must(CoinsDb::Open(env, *MakeNullLogger(), options));
}

} // namespace

TEST_CASE("the coin table behaves as a map")
{
    CoinTable table{OutPointHasher(kKey)};
    std::map<OutPoint, uint32_t> model;
    auto& rng = TestRng();
    for (int step = 0; step < 200'000; ++step) {
        // Grows for a while, shrinks for a while, so that erased entries are used again.
        const bool growing = step / 20'000 % 2 == 0;
        const OutPoint name = Name(rng() % 5000);
        const CoinTable::Place place = table.Find(name);
        REQUIRE((place.entry != nullptr) == model.contains(name));
        if (place.entry) {
            REQUIRE(place.entry->outpoint == name);
            REQUIRE(place.entry->coin.height == model[name]);
            if (rng() % 10 < (growing ? 2 : 8)) {
                table.Erase(place);
                model.erase(name);
            }
        } else if (rng() % 10 < (growing ? 8 : 2)) {
            const auto mark = static_cast<uint32_t>(rng());
            table.Insert(place, name).coin.height = mark;
            model[name] = mark;
        }
        REQUIRE(table.Size() == model.size());
    }
    std::map<OutPoint, uint32_t> listed;
    table.ForEach([&](const CoinTable::Entry& e) { listed.emplace(e.outpoint, e.coin.height); });
    CHECK((listed == model));
    table.EraseIf([](const CoinTable::Entry& e) { return e.coin.height % 2 == 0; });
    std::erase_if(model, [](const auto& item) { return item.second % 2 == 0; });
    CHECK(table.Size() == model.size());
    for (const auto& [name, mark] : model) REQUIRE(table.Find(name).entry);
    table.Clear();
    CHECK(table.Size() == 0);
    CHECK(!table.Find(Name(1)).entry);
}

TEST_CASE("keys that collide are distinguished")
{
    // With a table of a few slots every search runs into others' entries.
    CoinTable table{OutPointHasher({0, 0})};
    for (uint64_t n = 0; n < 700; ++n) table.Insert(table.Find(Name(n)), Name(n));
    for (uint64_t n = 0; n < 700; n += 2) table.Erase(table.Find(Name(n)));
    for (uint64_t n = 0; n < 700; ++n)
        CHECK((table.Find(Name(n)).entry != nullptr) == (n % 2 == 1));
}

TEST_CASE("a coins cache over a database behaves as a map")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto db = OpenCoins(*env, dir.Get());
    const CoinsDbReader base(*db);
    CoinsCache cache(base, OutPointHasher(kKey));
    ThreadPool pool("test", 2);
    Model model;
    auto& rng = TestRng();
    int kept = 0; //!< flushes that kept coins
    for (uint64_t step = 0; step < 60'000; ++step) {
        const OutPoint name = Name(rng() % 700);
        const auto known = model.find(name);
        switch (rng() % 8) {
        case 0:
        case 1: // an id that is new, or must be taken for new
            if (known == model.end()) {
                model[name] = RandomCoin(rng);
                cache.Add(name, model[name], rng() % 2 == 0);
            }
            break;
        case 2: // a repeat
            model[name] = RandomCoin(rng);
            cache.Add(name, model[name], true);
            break;
        case 3:
        case 4: {
            Coin spent;
            REQUIRE(Must(cache.Spend(name, &spent)) == (known != model.end()));
            if (known != model.end()) {
                REQUIRE(spent == known->second);
                model.erase(known);
            }
            break;
        }
        case 5: {
            const Coin* coin = Must(cache.Get(name));
            REQUIRE((coin != nullptr) == (known != model.end()));
            if (coin) REQUIRE(*coin == known->second);
            break;
        }
        case 6: {
            const auto coin = Must(cache.Read(name));
            REQUIRE(coin.has_value() == (known != model.end()));
            if (coin) REQUIRE(*coin == known->second);
            break;
        }
        case 7: {
            std::vector<OutPoint> wanted;
            for (int i = 0; i < 40; ++i) wanted.push_back(Name(rng() % 700));
            if (rng() % 20 == 0) Must(cache.Prefetch(wanted, pool));
            break;
        }
        }
        if (rng() % 3000 == 0) {
            const bool forget = rng() % 2 == 0;
            Must(forget ? cache.Flush(*db, Best(step)) : cache.Sync(*db, Best(step)));
            REQUIRE((Contents(*db) == model));
            REQUIRE(Must(db->BestBlock()) == Best(step));
            if (forget || model.empty()) REQUIRE(cache.Size() == 0);
            if (!forget && cache.Size() > 0) ++kept; // none had to be cached
        }
    }
    CHECK(kept > 0);
    Must(cache.Flush(*db, Best(0)));
    CHECK((Contents(*db) == model));
}

TEST_CASE("an overlay leaves the cache below as it is and lists what it changed")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto db = OpenCoins(*env, dir.Get());
    const CoinsDbReader base(*db);
    CoinsCache cache(base, OutPointHasher(kKey));
    auto& rng = TestRng();
    Model below;
    for (uint64_t n = 0; n < 500; ++n) {
        below[Name(n)] = RandomCoin(rng);
        cache.Add(Name(n), below[Name(n)], false);
        if (n == 250) Must(cache.Flush(*db, Best(1)));
    }
    CoinsCache overlay(cache, OutPointHasher({3, 4}));
    Model model = below;
    for (int step = 0; step < 5'000; ++step) {
        const OutPoint name = Name(rng() % 1000);
        if (model.contains(name)) {
            REQUIRE(Must(overlay.Spend(name)));
            model.erase(name);
        } else {
            model[name] = RandomCoin(rng);
            overlay.Add(name, model[name], true);
        }
    }
    Model patched = below;
    overlay.ForEachChange([&](const OutPoint& name, const Coin* coin) {
        if (coin) {
            patched[name] = *coin;
        } else {
            patched.erase(name);
        }
    });
    CHECK((patched == model));
    for (const auto& [name, coin] : below) REQUIRE(Must(cache.Read(name)) == coin);
}

TEST_CASE("the outpoints without an entry are those of a plain search, in their order")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto db = OpenCoins(*env, dir.Get());
    const CoinsDbReader base(*db);
    auto& rng = TestRng();
    {
        CoinsCache writer(base, OutPointHasher(kKey));
        for (uint64_t n = 0; n < 400; ++n) writer.Add(Name(n), RandomCoin(rng), false);
        Must(writer.Flush(*db, Best(1)));
    }
    CoinsCache cache(base, OutPointHasher(kKey));
    CHECK(cache.NotCached({}).empty());
    CHECK(cache.NotCached(std::vector{Name(1)}) == std::vector{Name(1)});
    std::set<OutPoint> held, fresh;
    for (int step = 0; step < 3'000; ++step) {
        const OutPoint name = Name(rng() % 600);
        const bool was_held = held.contains(name);
        if (rng() % 2 == 0) {
            if (Must(cache.Get(name))) held.insert(name);
        } else if (Must(cache.Spend(name))) {
            // A spent coin of the base stays as a spent entry until it is written.
            if (fresh.erase(name) != 0) {
                held.erase(name);
            } else {
                held.insert(name);
            }
        } else if (!was_held) {
            cache.Add(name, RandomCoin(rng), false);
            held.insert(name);
            fresh.insert(name);
        }
        if (step % 10 != 0) continue;
        std::vector<OutPoint> asked, expected;
        for (uint64_t i = rng() % 60; i > 0; --i) asked.push_back(Name(rng() % 700));
        for (const OutPoint& one : asked) {
            if (!held.contains(one)) expected.push_back(one);
        }
        cache.PrefetchPlaces(asked);
        REQUIRE(cache.NotCached(asked) == expected);
    }
    CHECK(held.size() > 100);
}

#if !IBD_SANITIZED // mallinfo2() does not count their allocations
TEST_CASE("the memory that a cache says it holds is what it holds")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto db = OpenCoins(*env, dir.Get());
    const CoinsDbReader base(*db);
    const auto held = [] {
        const struct mallinfo2 info = mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    };
    auto& rng = TestRng();
    for (const int count : {20'000, 100'000}) {
        const double before = held();
        CoinsCache cache(base, OutPointHasher(kKey));
        for (int n = 0; n < count; ++n) {
            cache.Add(Name(static_cast<uint64_t>(n)), RandomCoin(rng), false);
        }
        CHECK(static_cast<double>(cache.MemoryUsage()) == Approx(held() - before).epsilon(0.1));
        for (int n = 0; n < count; n += 2) {
            REQUIRE(Must(cache.Spend(Name(static_cast<uint64_t>(n)))));
        }
        CHECK(static_cast<double>(cache.MemoryUsage()) == Approx(held() - before).epsilon(0.1));
    }
}
#endif

} // namespace ibd::test
