// The caches of verified signatures and scripts: bounded, lossy, never wrong.
#include "script/verification_cache.h"

#include "support/testdata.h"

#include <thread>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

Hash32 RandomDigest()
{
    const Bytes bytes = RandomBytes(32);
    Hash32 out;
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

CacheSalt RandomSalt() { return RandomDigest(); }

} // namespace

TEST_CASE("what was inserted is found until it is taken or pushed out")
{
    DigestCache cache(1 << 16);
    CHECK(cache.Capacity() == (1 << 16) / 32);
    const Hash32 one = RandomDigest(), other = RandomDigest();
    CHECK(cache.Empty());
    CHECK_FALSE(cache.Contains(one, false));
    cache.Insert(one);
    CHECK_FALSE(cache.Empty());
    CHECK(cache.Contains(one, false));
    CHECK(cache.Contains(one, false));
    CHECK_FALSE(cache.Contains(other, false));
    CHECK(cache.Contains(one, true));
    CHECK_FALSE(cache.Contains(one, false));
    CHECK(cache.Hits() == 3);
    cache.Insert(Hash32{});
    CHECK_FALSE(cache.Contains(Hash32{}, false));
}

TEST_CASE("a full cache keeps as many as it has room for, the new ones among them")
{
    DigestCache cache(8 << 10);
    std::vector<Hash32> all;
    for (size_t i = 0; i < cache.Capacity() * 20; ++i) {
        all.push_back(RandomDigest());
        cache.Insert(all.back());
        REQUIRE(cache.Contains(all.back(), false));
    }
    size_t there = 0;
    for (const Hash32& digest : all) there += cache.Contains(digest, true) ? 1 : 0;
    CHECK(there == cache.Capacity());
    for (const Hash32& digest : all) REQUIRE_FALSE(cache.Contains(digest, false));
}

TEST_CASE("a cache without room keeps nothing")
{
    DigestCache cache(100);
    const Hash32 one = RandomDigest();
    cache.Insert(one);
    CHECK(cache.Capacity() == 0);
    CHECK_FALSE(cache.Contains(one, false));
}

TEST_CASE("many threads at once")
{
    DigestCache cache(16 << 20); // so large that no bucket will have more than its eight
    std::vector<Hash32> all(4000);
    for (Hash32& digest : all) digest = RandomDigest();
    std::atomic<size_t> missed{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (size_t i = t; i < all.size(); i += 2) cache.Insert(all[i]);
            for (size_t i = t; i < all.size(); i += 2) {
                if (!cache.Contains(all[i], false)) ++missed;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(missed == 0);
}

TEST_CASE("keys differ by kind, flags, salt and every part")
{
    const CacheSalt salt = RandomSalt();
    const SignatureCache signatures(0, salt);
    const ScriptCache scripts(0, salt);
    const Hash32 hash = RandomDigest();
    const Bytes key = RandomBytes(32), signature = RandomBytes(64);
    const Hash32 ecdsa = signatures.EcdsaKey(hash, key, signature);
    CHECK(ecdsa == SignatureCache(0, salt).EcdsaKey(hash, key, signature));
    CHECK(ecdsa != signatures.SchnorrKey(hash, key, signature));
    CHECK(ecdsa != SignatureCache(0, RandomSalt()).EcdsaKey(hash, key, signature));
    for (size_t byte = 0; byte < 128; ++byte) {
        Hash32 h = hash;
        Bytes k = key, s = signature;
        (byte < 32 ? h[byte] : byte < 64 ? k[byte - 32] : s[byte - 64]) ^= 1;
        REQUIRE(signatures.EcdsaKey(h, k, s) != ecdsa);
    }
    const Wtxid tx(hash);
    const Hash32 plain = scripts.Key(tx, kVerifyP2sh);
    for (int bit = 0; bit < 32; ++bit) {
        REQUIRE(scripts.Key(tx, kVerifyP2sh ^ 1U << bit) != plain);
    }
    CHECK(scripts.Key(Wtxid(RandomDigest()), kVerifyP2sh) != plain);
    CHECK(ScriptCache(0, RandomSalt()).Key(tx, kVerifyP2sh) != plain);
}
