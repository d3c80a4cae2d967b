// Updates the pool after a reorganisation: valid transactions of disconnected blocks return to the
// pool, and transactions that the new chain makes invalid leave it. The pool's gate is closed
// meanwhile, so the work is done without the pool's mutex, scripts without any lock; the change is
// applied in short steps under the mutex.
#pragma once

#include "mempool/tx_submission.h"

namespace ibd {

struct DisconnectedTxs {
    std::vector<TransactionRef> txs; //!< transactions that may return, parents first
    /** Transactions that do not return, with the numbers of their outputs: coinbases, and those
     *  beyond a bound. */
    std::vector<std::pair<Txid, size_t>> lost;
    int32_t fork_height = 0;         //!< last block that stayed
};

/** Makes one PoolChange. Clusters that become too large lose the transactions with the lowest
 *  rates. `coins`: at `tip`; no other thread may change them. Time: the scripts of the returned
 *  transactions, their clusters, and a check of each transaction of the pool; its coins are read
 *  only if it depends on a disconnected block or a coinbase. */
Result<> Reorganise(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                    const HeaderNode& tip, const TipCoins& coins, TxPool& pool, int64_t now)
    IBD_EXCLUDES(pool.mutex);

} // namespace ibd
