// The common changes of the pool: by blocks, age, size, and requests of the user.
#pragma once

#include "mempool/tx_pool.h"

namespace ibd {

/** Adds a transaction that is not in the pool and does not conflict with it, within the limits of
 *  its cluster (else CHECK). */
void AddTx(TxPool& pool, PoolTx tx) IBD_REQUIRES(pool.mutex);
/** Removes it with all descendants; returns their number. */
size_t RemoveWithDescendants(TxPool& pool, const Txid& id, RemovalReason reason)
    IBD_REQUIRES(pool.mutex);
/** Removes the transactions that a block confirms, and their conflicts. `now`: seconds since 1970.
 */
void Confirm(TxPool& pool, const BlockView& block, int32_t height, int64_t now)
    IBD_REQUIRES(pool.mutex);
/** Removes transactions older than `time` and their descendants; returns their number. */
size_t Expire(TxPool& pool, int64_t time) IBD_REQUIRES(pool.mutex);
/** Removes the chunks with the lowest rates, at most `most`, until the pool fits into -maxmempool;
 *  returns the number of removed transactions. */
size_t Trim(TxPool& pool, size_t most = SIZE_MAX) IBD_REQUIRES(pool.mutex);
/** Adds to the modified fee of a transaction, which need not be in the pool yet. Returns the sum of
 *  all its fee deltas. */
Amount Prioritise(TxPool& pool, const Txid& id, Amount delta) IBD_REQUIRES(pool.mutex);

} // namespace ibd
