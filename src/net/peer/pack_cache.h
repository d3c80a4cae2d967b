// PackCache: the last packed batches of blocks, so that a batch is not compressed for each peer.
// PackBudget: the processor's time that may be spent on compressing. Owned by PackedServing, and
// another budget by TxBatcher; one thread.
#pragma once

#include "primitives/uint256.h"
#include "util/bytes.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>

namespace ibd {

class PackCache {
public:
    static constexpr size_t kMaxBytes = 16'000'000; //!< of all batches

    /** Null: unknown. Valid until the next Keep(). */
    const Bytes* Find(const BlockHash& first, size_t blocks);
    /** Drops the batches that were not used for the longest time; those of more than kMaxBytes are
     *  not kept. */
    void Keep(const BlockHash& first, size_t blocks, Bytes batch);
    size_t Size() const { return m_bytes; }

private:
    using Key = std::pair<BlockHash, size_t>;
    struct Entry {
        Key key;
        Bytes batch;
    };
    std::list<Entry> m_entries; //!< the last used one first
    std::map<Key, std::list<Entry>::iterator> m_places;
    size_t m_bytes = 0;
};

/** Times in microseconds. Starts with all that can be saved up, so that a first small batch does
 *  not send the next ones out plain. */
class PackBudget {
public:
    static constexpr int64_t kMost = 1'000'000; //!< that can be saved up, at 100 %

    /** `percent`: of one core. */
    explicit PackBudget(int64_t percent) : m_percent(percent) {}

    /** `now`: of a clock that does not go back. */
    bool Allows(int64_t now)
    {
        if (m_last == 0) m_last = now;
        m_balance = std::min(m_balance + (now - m_last) * m_percent, kMost * m_percent);
        m_last = now;
        return m_balance >= 0 && m_percent > 0;
    }
    void Spend(int64_t micros) { m_balance -= micros * 100; }

private:
    const int64_t m_percent;
    int64_t m_balance = kMost * m_percent; //!< hundredths of microseconds
    int64_t m_last = 0;
};

} // namespace ibd
