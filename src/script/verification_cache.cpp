// See verification_cache.h.
#include "script/verification_cache.h"

#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <cstdlib>

namespace ibd {

namespace {

constexpr Hash32 kFree{};

Sha256 Salted(const CacheSalt& salt, uint8_t purpose)
{
    CacheSalt padding{};
    padding[0] = purpose; // fills a whole block, so that its midstate can be kept
    return Sha256().Write(salt).Write(padding);
}

} // namespace

void DigestCache::Release::operator()(Bucket* memory) const { std::free(memory); }

// calloc: untouched pages take no memory.
DigestCache::DigestCache(size_t bytes)
    : m_buckets(bytes / sizeof(Bucket)),
      m_entries(static_cast<Bucket*>(m_buckets ? std::calloc(m_buckets, sizeof(Bucket)) : nullptr))
{
    CHECK(m_buckets == 0 || m_entries);
}

size_t DigestCache::BucketOf(const Hash32& digest) const
{
    return static_cast<size_t>(ReadLE64(digest.data()) % m_buckets);
}

void DigestCache::Prefetch(const Hash32& digest) const
{
    if (m_buckets == 0) return;
    const Bucket& bucket = m_entries[BucketOf(digest)];
    for (size_t i = 0; i < kWays; i += 2) __builtin_prefetch(&bucket[i]); // two fill a line
}

bool DigestCache::Contains(const Hash32& digest, bool take)
{
    if (m_buckets == 0 || Empty() || digest == kFree) return false;
    const size_t at = BucketOf(digest);
    Stripe& stripe = m_stripes[at % kStripes];
    const Lock lock(stripe.mutex);
    Bucket& bucket = m_entries[at];
    const auto found = std::find(bucket.begin(), bucket.end(), digest);
    if (found == bucket.end()) return false;
    ++stripe.hits;
    if (take) *found = kFree;
    return true;
}

void DigestCache::Insert(const Hash32& digest)
{
    if (m_buckets == 0 || digest == kFree) return;
    const size_t at = BucketOf(digest);
    const Lock lock(m_stripes[at % kStripes].mutex);
    if (Empty()) m_used.store(true, std::memory_order_relaxed);
    Bucket& bucket = m_entries[at];
    if (std::find(bucket.begin(), bucket.end(), digest) != bucket.end()) return;
    auto place = std::find(bucket.begin(), bucket.end(), kFree);
    // Any place may be overwritten, because digests are random.
    if (place == bucket.end()) place = bucket.begin() + digest[31] % kWays;
    *place = digest;
}

uint64_t DigestCache::Hits() const
{
    uint64_t sum = 0;
    for (Stripe& stripe : m_stripes) {
        const Lock lock(stripe.mutex);
        sum += stripe.hits;
    }
    return sum;
}

SignatureCache::SignatureCache(size_t bytes, const CacheSalt& salt)
    : m_ecdsa(Salted(salt, 'E')), m_schnorr(Salted(salt, 'S')), m_entries(bytes)
{
}

Hash32 SignatureCache::EcdsaKey(const Hash32& hash, ByteSpan public_key, ByteSpan signature) const
{
    return Sha256(m_ecdsa).Write(hash).Write(public_key).Write(signature).Finalize();
}

Hash32 SignatureCache::SchnorrKey(const Hash32& hash, ByteSpan public_key, ByteSpan signature) const
{
    return Sha256(m_schnorr).Write(hash).Write(public_key).Write(signature).Finalize();
}

ScriptCache::ScriptCache(size_t bytes, const CacheSalt& salt)
    : m_salted(Salted(salt, 'T')), m_entries(bytes)
{
}

Hash32 ScriptCache::Key(const Wtxid& tx, ScriptFlags flags) const
{
    std::array<uint8_t, 4> number;
    WriteLE32(number.data(), flags);
    return Sha256(m_salted).Write(tx.Span()).Write(number).Finalize();
}

} // namespace ibd
