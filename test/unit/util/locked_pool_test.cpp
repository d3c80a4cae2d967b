#include "util/locked_pool.h"
#include "util/secret.h"

#include "sim/rng.h"
#include "support/catch.h"
#include "support/testdata.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace ibd::test {

namespace {

/** The operations on pages of the heap. */
struct Machine {
    static constexpr size_t kPage = 4096;

    size_t limit = SIZE_MAX; //!< bytes that may be locked
    size_t most = SIZE_MAX;  //!< bytes there are
    size_t given = 0;
    bool wiped = true; //!< all returned memory
};

class TestPages final : public PageSource {
public:
    explicit TestPages(Machine& machine) : m_machine(machine) {}
    size_t PageSize() const override { return Machine::kPage; }
    void* Get(size_t size, bool& locked) override
    {
        CHECK(size % Machine::kPage == 0);
        if (size > m_machine.most - m_machine.given) return nullptr;
        m_machine.given += size;
        locked = m_machine.given <= m_machine.limit;
        return std::calloc(1, size);
    }
    void Put(void* pages, size_t size) override
    {
        m_machine.given -= size;
        const char* const bytes = static_cast<const char*>(pages);
        m_machine.wiped &= std::all_of(bytes, bytes + size, [](char c) { return c == 0; });
        std::free(pages);
    }
    size_t Limit() const override { return m_machine.limit; }

private:
    Machine& m_machine;
};

std::unique_ptr<LockedPool> PoolOn(Machine& machine)
{
    return std::make_unique<LockedPool>(std::make_unique<TestPages>(machine));
}

void CheckSums(const LockedPoolStats& stats)
{
    CHECK(stats.used + stats.free == stats.total);
    CHECK(stats.locked <= stats.total);
    CHECK((stats.used == 0) == (stats.chunks_used == 0));
    CHECK((stats.free == 0) == (stats.chunks_free == 0));
}

} // namespace

TEST_CASE("chunks are cut from free memory and grow together again")
{
    ChunkMap chunks(160);
    size_t a = 0, b = 0, c = 0, d = 0;
    REQUIRE(chunks.Take(1, a));
    REQUIRE(chunks.Take(17, b));
    REQUIRE(chunks.Take(16, c));
    CHECK(chunks.Used() == 16 + 32 + 16);
    CHECK(chunks.Free() == 96);
    CHECK(chunks.ChunksUsed() == 3);
    CHECK(chunks.ChunksFree() == 1);
    CHECK_FALSE(chunks.Take(97, d));
    REQUIRE(chunks.Take(96, d));
    CHECK(chunks.Free() == 0);
    CHECK(chunks.ChunksFree() == 0);
    size_t none = 0;
    CHECK_FALSE(chunks.Take(1, none));

    CHECK(chunks.GiveBack(a) == 16);
    CHECK(chunks.GiveBack(c) == 16);
    CHECK(chunks.ChunksFree() == 2); // b lies between them
    CHECK_FALSE(chunks.Take(64, none));
    CHECK(chunks.GiveBack(b) == 32);
    CHECK(chunks.ChunksFree() == 1);
    REQUIRE(chunks.Take(64, a));
    CHECK(chunks.GiveBack(d) == 96);
    CHECK(chunks.GiveBack(a) == 64);
    CHECK(chunks.Used() == 0);
    CHECK(chunks.ChunksFree() == 1);
    CHECK(chunks.Free() == 160);
    CHECK_FALSE(chunks.Take(SIZE_MAX, none));
}

TEST_CASE("the smallest free chunk that is large enough is taken")
{
    ChunkMap chunks(1024);
    size_t at[6] = {};
    const size_t sizes[6] = {128, 16, 64, 16, 256, 16};
    for (size_t i = 0; i < 6; ++i) REQUIRE(chunks.Take(sizes[i], at[i]));
    for (const size_t i : {0, 2, 4}) chunks.GiveBack(at[i]);
    size_t found = 0;
    REQUIRE(chunks.Take(50, found));
    CHECK(found == at[2]);
    REQUIRE(chunks.Take(200, found));
    CHECK(found == at[4]);
    REQUIRE(chunks.Take(100, found));
    CHECK(found == at[0]);
}

TEST_CASE("a pool under chance: nothing overlaps, sums fit, and all of it is wiped in the end")
{
    sim::Rng& random = TestRng();
    for (int round = 0; round < 20; ++round) {
        Machine machine;
        auto pool = PoolOn(machine);
        struct Piece {
            unsigned char* begin;
            size_t size;
            unsigned char fill;
        };
        std::vector<Piece> pieces;
        size_t asked = 0;
        const size_t most_bytes = size_t{1} << random.Below(15);
        for (int step = 0; step < 2000; ++step) {
            if (pieces.empty() || random.Below(100) < 55) {
                const size_t size = 1 + random.Below(most_bytes);
                auto* const begin = static_cast<unsigned char*>(pool->Allocate(size));
                CHECK(reinterpret_cast<uintptr_t>(begin) % ChunkMap::kAlignment == 0);
                const auto fill = static_cast<unsigned char>(1 + random.Below(255));
                std::memset(begin, fill, size);
                pieces.push_back({begin, size, fill});
                asked += size;
            } else {
                const size_t i = random.Below(pieces.size());
                const Piece piece = pieces[i];
                pieces[i] = pieces.back();
                pieces.pop_back();
                // Later writes have not reached it.
                REQUIRE(std::all_of(piece.begin, piece.begin + piece.size,
                                    [&](unsigned char c) { return c == piece.fill; }));
                pool->Free(piece.begin);
                asked -= piece.size;
            }
            const LockedPoolStats stats = pool->Stats();
            REQUIRE(stats.chunks_used == pieces.size());
            REQUIRE(stats.used >= asked);
            REQUIRE(stats.used < asked + pieces.size() * ChunkMap::kAlignment + 1);
            REQUIRE(stats.used + stats.free == stats.total);
            REQUIRE(stats.locked == stats.total);
        }
        for (const Piece& piece : pieces) pool->Free(piece.begin);
        const LockedPoolStats stats = pool->Stats();
        CheckSums(stats);
        CHECK(stats.used == 0);
        CHECK(stats.chunks_free == stats.total / LockedPool::kArenaSize);
        pool.reset();
        CHECK(machine.wiped);
        CHECK(machine.given == 0);
    }
}

TEST_CASE("what may be locked decides the first arena, and what may not is used all the same")
{
    Machine machine;
    machine.limit = 64 << 10;
    const auto pool = PoolOn(machine);
    CheckSums(pool->Stats());
    CHECK(pool->Stats().total == 0);
    void* const small = pool->Allocate(32);
    CHECK(pool->Stats().total == 64 << 10);
    CHECK(pool->Stats().locked == 64 << 10);
    void* const large = pool->Allocate(64 << 10); // does not fit any more
    CHECK(pool->Stats().total == (64 << 10) + LockedPool::kArenaSize);
    CHECK(pool->Stats().locked == 64 << 10);
    CheckSums(pool->Stats());
    pool->Free(large);
    pool->Free(small);

    Machine strict; // ulimit -l 0
    strict.limit = 0;
    const auto unlocked = PoolOn(strict);
    void* const secret = unlocked->Allocate(32);
    CHECK(unlocked->Stats().locked == 0);
    CHECK(unlocked->Stats().total == Machine::kPage);
    unlocked->Free(secret);
}

TEST_CASE("a secret that is larger than an arena has its own, and no memory is said as ever")
{
    Machine machine;
    const auto pool = PoolOn(machine);
    void* const large = pool->Allocate(LockedPool::kArenaSize + 1);
    std::memset(large, 1, LockedPool::kArenaSize + 1);
    CHECK(pool->Stats().total == LockedPool::kArenaSize + Machine::kPage);
    pool->Free(large);
    CHECK(pool->Allocate(0) == nullptr);
    pool->Free(nullptr);
    CHECK_THROWS_AS(pool->Allocate(SIZE_MAX), std::bad_alloc);
    machine.most = machine.given;
    CHECK_THROWS_AS(pool->Allocate(2 * LockedPool::kArenaSize), std::bad_alloc);
    CheckSums(pool->Stats()); // and the pool continues
    void* const small = pool->Allocate(16);
    CHECK(small != nullptr);
    pool->Free(small);
}

TEST_CASE("a secret is wiped when it is freed, before the memory is anybody else's")
{
    Machine machine;
    const auto pool = PoolOn(machine);
    auto* const first = static_cast<unsigned char*>(pool->Allocate(64));
    std::memset(first, 0xaa, 64);
    pool->Free(first);
    auto* const second = static_cast<unsigned char*>(pool->Allocate(64));
    REQUIRE(second == first);
    CHECK(std::all_of(second, second + 64, [](unsigned char c) { return c == 0; }));
    pool->Free(second);
}

TEST_CASE("the system's pages are zeros that can be written, whether they may be locked or not")
{
    LockedPool pool;
    auto* const memory = static_cast<unsigned char*>(pool.Allocate(1000));
    CHECK(std::all_of(memory, memory + 1000, [](unsigned char c) { return c == 0; }));
    std::memset(memory, 1, 1000);
    const LockedPoolStats stats = pool.Stats();
    CheckSums(stats);
    CHECK(stats.used == 1008);
    CHECK(stats.total > 0);
    CHECK((stats.locked == 0 || stats.locked == stats.total));
    pool.Free(memory);
}

TEST_CASE("secrets are values whose bytes lie in the pool of the process")
{
    const auto in_pool = [] { return LockedPool::OfProcess().Stats().chunks_used; };
    const size_t before = in_pool();
    {
        SecretArray<32> key;
        CHECK(key == std::array<uint8_t, 32>{});
        key.begin()[3] = 7;
        SecretArray<32> copy = key;
        CHECK(copy == key);
        copy.begin()[3] = 8;
        CHECK_FALSE(copy == key);
        key = copy;
        CHECK(copy == key);
        CHECK(in_pool() == before + 2);
        SecretText text({"user", ":", "password"});
        CHECK(text.View() == "user:password");
        SecretText moved = std::move(text);
        CHECK(text.IsEmpty());
        CHECK(moved.View() == "user:password");
        CHECK(in_pool() == before + 3);
        moved = SecretText({});
        CHECK(moved.View().empty());
        CHECK(in_pool() == before + 2);
    }
    CHECK(in_pool() == before);
}

} // namespace ibd::test
