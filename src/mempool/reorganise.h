// After a reorganisation: transactions of disconnected blocks come back into the pool as far as
// they are valid, and transactions of the pool that the new chain makes invalid leave it. Called
// with the chain's coins held and under the pool's mutex.
#pragma once

#include "mempool/tx_acceptance.h"

namespace ibd {

struct DisconnectedTxs {
    std::vector<TransactionRef> txs; //!< that may come back, parents first
    std::vector<Txid> lost;          //!< that do not: coinbases, and those beyond a bound
    int32_t fork_height = 0;         //!< last block that stayed
};

/** One change for all. Clusters that become too large lose what pays least. Time: the clusters of
 *  the returned transactions, and a look at each transaction of the pool, without its coins unless
 *  it depends on a disconnected block or a coinbase. */
Result<> Reorganise(const TxAcceptance& rules, const DisconnectedTxs& disconnected,
                    const CoinsAtTip& at, TxPool& pool, int64_t now) IBD_REQUIRES(pool.mutex);

} // namespace ibd
