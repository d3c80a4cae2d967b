// Eviction from a full pool.
#pragma once

#include "mempool/tx_pool.h"

namespace ibd {

/** Removes the transactions that pay least until the pool fits into -maxmempool. Returns the
 *  highest removed rate, satoshi for 1,000 virtual bytes. Time n log n in the pool, if any must be
 *  removed. */
Amount Trim(TxPool& pool) IBD_REQUIRES(pool.mutex);

} // namespace ibd
