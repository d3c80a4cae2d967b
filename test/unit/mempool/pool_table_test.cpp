// The tables of the pool against those of the standard library.
#include "kit.h"
#include "mempool/pool_table.h"

#include <algorithm>
#include <map>
#include <random>

namespace ibd::test {

namespace {

using Rng = std::mt19937_64;

/** A transaction that is nothing but a time and a key, its vsize. */
std::unique_ptr<PoolTx> Made(uint64_t key, int64_t time)
{
    auto tx = std::make_unique<PoolTx>();
    tx->vsize = static_cast<int64_t>(key);
    tx->time = time;
    tx->sequence = key;
    return tx;
}

const PoolTx* Find(const PoolTable& table, uint64_t hash, uint64_t key, uint32_t input)
{
    return table.Find(hash, [&](const PoolTx& tx, uint32_t of) {
        return tx.vsize == static_cast<int64_t>(key) && of == input;
    });
}

} // namespace

TEST_CASE("a table finds its entries, also where hashes collide", "[mempool]")
{
    const auto fullest = GENERATE(size_t{12}, size_t{11}, size_t{10}, size_t{15}, size_t{1});
    Rng rng(36);
    PoolTable table(fullest);
    struct Entry {
        std::unique_ptr<PoolTx> tx;
        uint64_t hash = 0;
        uint32_t input = 0;
    };
    std::map<uint64_t, Entry> model;
    CHECK(Find(table, 1, 1, 0) == nullptr);
    for (uint64_t step = 0; step < 20'000; ++step) {
        const bool grows = step / 2'000 % 2 == 0;
        if (model.empty() || (rng() % 4 != 0) == grows) {
            // Runs that cross the end of the array, equal tags, and hashes that differ above them.
            const uint64_t hash = rng() % 3 == 0 ? rng() : rng() % 8 + UINT32_MAX - 3;
            const auto input = static_cast<uint32_t>(rng() % 3);
            Entry& entry = model[step] = {Made(step, 0), hash, input};
            table.Prefetch(hash);
            table.Insert(hash, *entry.tx, input);
        } else {
            const auto it = std::next(model.begin(), static_cast<int64_t>(rng() % model.size()));
            table.Erase(it->second.hash, *it->second.tx, it->second.input);
            CHECK(Find(table, it->second.hash, it->first, it->second.input) == nullptr);
            model.erase(it);
        }
        if (step % 500 != 0) continue;
        const auto tag_of = [](uint64_t hash) { return static_cast<uint32_t>(hash); };
        std::vector<uint64_t> tags;
        for (uint32_t tag = UINT32_MAX - 8; tag != 16; ++tag) tags.push_back(tag);
        const std::vector<const PoolTx*> candidates = table.Candidates(tags);
        REQUIRE(candidates.size() == tags.size());
        for (size_t i = 0; i < tags.size(); ++i) {
            const PoolTx* const candidate = candidates[i];
            const auto tag = tag_of(tags[i]);
            const auto is_it = [&](const auto& item) {
                return tag_of(item.second.hash) == tag && item.second.tx.get() == candidate;
            };
            const auto has_tag = [&](const auto& item) { return tag_of(item.second.hash) == tag; };
            CHECK((candidate != nullptr) == std::any_of(model.begin(), model.end(), has_tag));
            CHECK((!candidate || std::any_of(model.begin(), model.end(), is_it)));
        }
        for (const auto& [key, entry] : model) {
            CHECK(Find(table, entry.hash, key, entry.input) == entry.tx.get());
            CHECK(Find(table, entry.hash, key, entry.input + 1) == nullptr);
            CHECK(Find(table, entry.hash + 1, key, entry.input) == nullptr);
        }
    }
}

TEST_CASE("tables with different shares of used slots never grow together", "[mempool]")
{
    const auto entry = Made(1, 0);
    std::vector<PoolTable> tables{PoolTable(12), PoolTable(11), PoolTable(10)};
    size_t growths = 0;
    for (uint64_t i = 0; i < 100'000; ++i) {
        size_t at_once = 0;
        for (PoolTable& table : tables) {
            const size_t before = table.Capacity();
            table.Insert(i * 0x9e3779b97f4a7c15 >> 32, *entry, static_cast<uint32_t>(i));
            at_once += table.Capacity() != before ? 1 : 0;
            REQUIRE(table.Capacity() > i + 1); // a search ends at a free slot
        }
        growths += at_once;
        if (i > 0) REQUIRE(at_once <= 1); // the first entry makes all of them
    }
    CHECK(growths > 30);
}

TEST_CASE("the store of transactions lists the old ones in the order of arrival", "[mempool]")
{
    Rng rng(36);
    PoolStore store;
    std::map<uint64_t, const PoolTx*> model;
    for (uint64_t step = 0; step < 5'000; ++step) {
        if (model.empty() || rng() % 3 != 0) {
            auto tx = Made(step, static_cast<int64_t>(rng() % 50 + step / 100));
            model[step] = tx.get();
            store.Add(std::move(tx));
        } else {
            const auto it = std::next(model.begin(), static_cast<int64_t>(rng() % model.size()));
            CHECK(store.Take(*it->second).get() == it->second);
            model.erase(it);
        }
        CHECK(store.Size() == model.size());
        const auto time = static_cast<int64_t>(rng() % 120);
        std::vector<const PoolTx*> old;
        for (const auto& [key, tx] : model) {
            if (tx->time < time) old.push_back(tx);
        }
        std::stable_sort(old.begin(), old.end(),
                         [](const PoolTx* a, const PoolTx* b) { return a->time < b->time; });
        CHECK(store.OlderThan(time) == old);
    }
    const auto places = store.Places();
    const auto used = std::count_if(places.begin(), places.end(),
                                    [](const auto& place) { return place.tx != nullptr; });
    CHECK(static_cast<size_t>(used) == model.size());
}

} // namespace ibd::test
