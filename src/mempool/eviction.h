// What goes when the pool is full.
#pragma once

#include "mempool/tx_pool.h"

namespace ibd {

/** Removes what pays least until all take at most -maxmempool; the best rate that was removed,
 *  satoshi for 1,000 virtual bytes. Time n log n in the pool, if anything must go. */
Amount Trim(TxPool& pool) IBD_REQUIRES(pool.mutex);

} // namespace ibd
