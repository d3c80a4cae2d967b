// MuHashBatch: a MuHash3072 to which elements are added in any number, one after the other, and
// hashed and multiplied many at a time, in vector lanes. One thread. Memory: at most kMostBytes of
// elements that wait, or one larger element, twice; and the hashes of kMostElements.
#pragma once

#include "crypto/muhash.h"
#include "util/bytes.h"

#include <vector>

namespace ibd {

class MuHashBatch {
public:
    static constexpr size_t kMostElements = 512; //!< that wait
    static constexpr size_t kMostBytes = 64 << 10;

    void Insert(ByteSpan element)
    {
        if (!m_inserted.HasRoom(element)) m_hash.InsertHashed(m_inserted.Take());
        m_inserted.Add(element);
    }
    void Remove(ByteSpan element)
    {
        if (!m_removed.HasRoom(element)) m_hash.RemoveHashed(m_removed.Take());
        m_removed.Add(element);
    }

    /** The hash of all elements; then the batch is that of the empty set. */
    MuHash3072 Take();

private:
    class Waiting {
    public:
        bool HasRoom(ByteSpan element) const
        {
            return m_ends.size() < kMostElements && m_bytes.size() + element.size() <= kMostBytes;
        }
        void Add(ByteSpan element);
        /** The hashes of all, which wait no longer. */
        std::vector<Hash32> Take();

    private:
        Bytes m_bytes;
        std::vector<size_t> m_ends; //!< of each element in m_bytes
    };

    Waiting m_inserted, m_removed;
    MuHash3072 m_hash;
};

} // namespace ibd
