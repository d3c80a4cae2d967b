// RollingSet: remembers at least the last `size` things in bounded memory, as 64-bit hashes under a
// secret key; one of 2^40 other things gives a false positive. Owned by one thread.
#pragma once

#include "crypto/siphash.h"
#include "util/check.h"

#include <unordered_set>
#include <utility>

namespace ibd {

class RollingSet {
public:
    /** `size`: at least this number of the last things is remembered; at most twice as many are
     *  stored, with about 40 bytes each. */
    RollingSet(size_t size, SipKey key) : m_size(size), m_key(key) { CHECK(size > 0); }

    void Insert(ByteSpan thing)
    {
        // The older generation is dropped when the younger is full.
        if (m_young.size() == m_size) m_old = std::exchange(m_young, {});
        m_young.insert(HashOf(thing));
    }
    bool Contains(ByteSpan thing) const
    {
        const uint64_t hash = HashOf(thing);
        return m_young.contains(hash) || m_old.contains(hash);
    }
    void Clear() { m_young = m_old = {}; }

private:
    uint64_t HashOf(ByteSpan thing) const { return SipHasher(m_key).Write(thing).Finalize(); }

    size_t m_size;
    SipKey m_key;
    std::unordered_set<uint64_t> m_young, m_old;
};

} // namespace ibd
