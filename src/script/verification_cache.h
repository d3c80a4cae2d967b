// Caches of verified signatures, and of whole transactions under given flags. Owned by the node,
// shared by all verifying threads. Keys are SHA-256 over a secret salt, so that an attacker cannot
// target an entry. The sets are bounded and lossy: a new entry may displace an old one, and a miss
// only costs time. Memory is allocated as the sets fill.
#pragma once

#include "script/verify_flags.h"

#include "crypto/sha256.h"
#include "primitives/uint256.h"
#include "util/mutex.h"

#include <array>
#include <atomic>
#include <memory>

namespace ibd {

/** Random digests in buckets of eight; many locks guard the buckets. Any thread. */
class DigestCache {
public:
    /** At most `bytes` of entries; less than one bucket keeps nothing. */
    explicit DigestCache(size_t bytes);

    /** Whether the digest is in the set; `take` removes it. */
    bool Contains(const Hash32& digest, bool take);
    /** Prefetches the bucket that Contains() will read; call it some searches before. */
    void Prefetch(const Hash32& digest) const;
    /** Ignores an all-zero digest. A full bucket loses an entry. */
    void Insert(const Hash32& digest);

    /** Whether nothing was ever inserted, so that no lookup can hit. */
    bool Empty() const { return !m_used.load(std::memory_order_relaxed); }
    size_t Capacity() const { return m_buckets * kWays; } //!< entries
    uint64_t Hits() const;

private:
    static constexpr size_t kWays = 8;
    static constexpr size_t kStripes = 128;
    using Bucket = std::array<Hash32, kWays>;
    struct alignas(64) Stripe {
        Mutex mutex;
        uint64_t hits IBD_GUARDED_BY(mutex) = 0;
    };
    struct Release {
        void operator()(Bucket* memory) const;
    };

    size_t BucketOf(const Hash32& digest) const;

    const size_t m_buckets;
    const std::unique_ptr<Bucket[], Release> m_entries;
    mutable std::array<Stripe, kStripes> m_stripes; //!< of bucket i: i % kStripes
    std::atomic<bool> m_used{false};
};

using CacheSalt = std::array<uint8_t, 32>;

/** Valid signatures. Entries do not depend on script flags: flags decide whether a signature is
 *  checked, not whether it is valid for key and hash. */
class SignatureCache {
public:
    SignatureCache(size_t bytes, const CacheSalt& salt);

    Hash32 EcdsaKey(const Hash32& hash, ByteSpan public_key, ByteSpan signature) const;
    Hash32 SchnorrKey(const Hash32& hash, ByteSpan public_key, ByteSpan signature) const;
    DigestCache& Entries() { return m_entries; }

private:
    Sha256 m_ecdsa; //!< with the salt written
    Sha256 m_schnorr;
    DigestCache m_entries;
};

/** Transactions whose input scripts are all valid. The witness id stands for scripts and spent
 *  coins: it commits to the outpoints, and these to the transactions that made the coins. */
class ScriptCache {
public:
    ScriptCache(size_t bytes, const CacheSalt& salt);

    Hash32 Key(const Wtxid& tx, ScriptFlags flags) const;
    DigestCache& Entries() { return m_entries; }

private:
    Sha256 m_salted;
    DigestCache m_entries;
};

/** Both caches, each with half of the memory (-maxsigcachesize). */
struct VerificationCaches {
    VerificationCaches(size_t bytes, const CacheSalt& salt)
        : signatures(bytes / 2, salt), scripts(bytes / 2, salt)
    {
    }
    SignatureCache signatures;
    ScriptCache scripts;
};

/** The use of the signature cache by a verification. */
struct SignatureCacheUse {
    SignatureCache* cache = nullptr;
    bool keep = false; //!< insert verified signatures and leave found ones; false: remove found
                       //!< ones
};

} // namespace ibd
