// Unspent outputs of the chain and the pool together, for calls and REST.
#pragma once

#include "mempool/tx_pool.h"
#include "rpc/chain_context.h"

#include <span>

namespace ibd {

/** The height that Core returns for outputs of unconfirmed transactions. */
inline constexpr uint32_t kPoolHeight = 0x7fffffff;

/** The pool's information about an output: made or spent there; empty if neither. */
struct PoolCoin {
    std::optional<Coin> coin;
    bool spent = false;
};

/** The states of all outpoints at the same moment. */
std::vector<PoolCoin> LookInPool(const TxPool& pool, std::span<const OutPoint> outpoints);

/** The unspent output; nothing: spent or unknown. `pool`: the state of the output in the pool;
 *  empty if the pool is not included. */
Found<Coin> UnspentCoin(const CoinsGuard& coins, const PoolCoin& pool, const OutPoint& outpoint);

} // namespace ibd
