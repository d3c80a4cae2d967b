// Memory of the pool as Bitcoin Core v31 counts it, so that both keep the same transactions under
// one -maxmempool. The figures are sizes of Core's structures, derived from getmempoolinfo.usage of
// pools with one kind of transaction (test/interop/test_core_full_pool.py). For small transactions
// this pool really takes 1.5 times as much (doc/develop/mempool.md). Pure; any thread.
#pragma once

#include "primitives/tx_view.h"

#include <cstddef>

namespace ibd {

/** Bytes of a transaction that shares no cluster. */
size_t PoolMemoryOf(const TxView& tx);

/** The correction of that sum for clusters of several transactions. `clusters`: their number,
 *  `txs`: the number of their transactions. */
int64_t PoolMemoryOfClusters(size_t clusters, size_t txs);

/** An array with a slot for each transaction of the pool. It doubles when it is full, and shrinks
 * to its content when less than half of it is used. */
class PoolSlots {
public:
    /** The pool has `txs` transactions, one more than before. */
    void Grow(size_t txs);
    /** The pool has `txs` transactions, one less than before. */
    void Shrink(size_t txs);
    size_t Bytes() const;

private:
    size_t m_slots = 0;
};

} // namespace ibd
