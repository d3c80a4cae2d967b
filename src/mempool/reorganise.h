// After a reorganisation: transactions of disconnected blocks come back into the pool as far as
// they are valid, and transactions of the pool that the new chain makes invalid leave it. The
// pool's gate is closed meanwhile, so the work is done without the pool's mutex, scripts without
// any lock; the change is applied in short steps under the mutex.
#pragma once

#include "mempool/tx_submission.h"

namespace ibd {

struct DisconnectedTxs {
    std::vector<TransactionRef> txs; //!< that may come back, parents first
    /** That do not, with the numbers of their outputs: coinbases, and those beyond a bound. */
    std::vector<std::pair<Txid, size_t>> lost;
    int32_t fork_height = 0;         //!< last block that stayed
};

/** One change for all. Clusters that become too large lose what pays least. `coins`: at `tip`, and
 *  no other thread moves them. Time: the scripts of the returned transactions, their clusters, and
 *  a check of each transaction of the pool; its coins are read only if it depends on a disconnected
 *  block or a coinbase. */
Result<> Reorganise(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                    const HeaderNode& tip, const TipCoins& coins, TxPool& pool, int64_t now)
    IBD_EXCLUDES(pool.mutex);

} // namespace ibd
