// Unspent outputs of the chain and the pool together, for calls and REST.
#pragma once

#include "mempool/tx_pool.h"
#include "rpc/chain_context.h"

#include <span>

namespace ibd {

/** Height of outputs that no block has yet, as Core gives it. */
inline constexpr uint32_t kPoolHeight = 0x7fffffff;

/** An output of the pool, or one that the pool spends; empty if neither. */
struct PoolCoin {
    std::optional<Coin> coin;
    bool spent = false;
};

/** All at one moment. */
std::vector<PoolCoin> LookInPool(const TxPool& pool, std::span<const OutPoint> outpoints);

/** The unspent output; nothing: spent or unknown. `pool`: the state of the output in the pool;
 *  empty if the pool is not asked. */
Found<Coin> UnspentCoin(const CoinsGuard& coins, const PoolCoin& pool, const OutPoint& outpoint);

} // namespace ibd
