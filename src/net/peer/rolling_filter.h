// RollingFilter: remembers at least the last `size` ids, in two generations of a Bloom filter.
// About one of a million other ids gives a false positive. Owned by one thread. Memory: 7.2 bytes
// for each of `size` from the first insertion on (RollingSet needs 80, and is exact).
#pragma once

#include "crypto/siphash.h"
#include "util/check.h"

#include <utility>
#include <vector>

namespace ibd {

class RollingFilter {
public:
    RollingFilter(size_t size, SipKey key) : m_size(size), m_key(key) { CHECK(size > 0); }

    void Insert(ByteSpan id)
    {
        if (m_young.empty()) m_young.resize(Words());
        if (m_count == m_size) {
            // The older generation is dropped when the younger is full.
            m_old = std::exchange(m_young, std::vector<uint64_t>(Words()));
            m_count = 0;
        }
        ++m_count;
        const Places places(*this, id);
        for (unsigned i = 0; i < kFunctions; ++i) {
            const uint64_t bit = places.Bit(i);
            m_young[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
        }
    }
    bool Contains(ByteSpan id) const
    {
        if (m_young.empty()) return false;
        const Places places(*this, id);
        return Has(m_young, places) || (!m_old.empty() && Has(m_old, places));
    }
    void Clear()
    {
        m_young = m_old = {};
        m_count = 0;
    }

private:
    static constexpr unsigned kFunctions = 20;
    static constexpr size_t kBitsPerId = 29; //!< the optimum for that number of functions
    static constexpr size_t kWordBits = 64;

    size_t Words() const { return m_size * kBitsPerId / kWordBits + 1; }

    /** The bits of an id, by double hashing. The second hash is derived from the first, because one
     *  keyed hash suffices. */
    class Places {
    public:
        Places(const RollingFilter& filter, ByteSpan id)
            : m_first(SipHasher(filter.m_key).Write(id).Finalize()), m_step(Mixed(m_first) | 1),
              m_bits(filter.Words() * kWordBits)
        {
        }
        /** Multiplies instead of taking a remainder, which is slower: a peer can cause 50,000
         *  look-ups. */
        uint64_t Bit(unsigned function) const
        {
            __extension__ typedef unsigned __int128 Uint128;
            return static_cast<uint64_t>(Uint128{m_first + function * m_step} * m_bits >> 64);
        }

    private:
        /** Each bit of the result depends on all of `x`. */
        static uint64_t Mixed(uint64_t x)
        {
            x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
            x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
            return x ^ x >> 33;
        }

        uint64_t m_first;
        uint64_t m_step;
        uint64_t m_bits;
    };

    static bool Has(const std::vector<uint64_t>& words, const Places& places)
    {
        for (unsigned i = 0; i < kFunctions; ++i) {
            const uint64_t bit = places.Bit(i);
            if (!(words[bit / kWordBits] >> (bit % kWordBits) & 1)) return false;
        }
        return true;
    }

    size_t m_size;
    SipKey m_key;
    size_t m_count = 0; //!< in the younger generation
    std::vector<uint64_t> m_young, m_old;
};

} // namespace ibd
