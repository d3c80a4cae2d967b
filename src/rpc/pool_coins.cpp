// See pool_coins.h.
#include "rpc/pool_coins.h"

namespace ibd {

std::vector<PoolCoin> LookInPool(const TxPool& pool, std::span<const OutPoint> outpoints)
{
    const Lock lock(pool.mutex);
    std::vector<PoolCoin> out;
    for (const OutPoint& outpoint : outpoints) {
        PoolCoin& one = out.emplace_back();
        one.spent = pool.Spender(outpoint) != nullptr;
        const PoolTx* const tx = pool.Find(outpoint.txid);
        if (!tx || outpoint.vout >= (*tx->tx)->outputs.size()) continue;
        const OutputView& output = (*tx->tx)->outputs[outpoint.vout];
        one.coin.emplace();
        one.coin->value = output.value;
        one.coin->script = output.script_pubkey;
        one.coin->height = kPoolHeight;
    }
    return out;
}

Found<Coin> UnspentCoin(const CoinsGuard& coins, const PoolCoin& pool, const OutPoint& outpoint)
{
    if (pool.spent) return std::nullopt;
    if (pool.coin) return pool.coin;
    return coins.Cache().Read(outpoint);
}

} // namespace ibd
