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

    void Insert(ByteSpan element) { Add(m_inserted, element); }
    void Remove(ByteSpan element) { Add(m_removed, element); }

    /** The hash of all elements; then the batch is that of the empty set. */
    MuHash3072 Take();

private:
    struct Waiting {
        Bytes bytes;
        std::vector<size_t> ends; //!< of each element in `bytes`
    };

    void Add(Waiting& waiting, ByteSpan element);
    /** Moves the elements that wait into the hash. */
    void Flush(Waiting& waiting);

    Waiting m_inserted, m_removed;
    MuHash3072 m_hash;
};

} // namespace ibd
