// PoolView: the coins of the chain together with the outputs of the pool, as a change would leave
// it. Used under the pool's mutex. Outputs of the pool count as created in the next block. Coins
// that the pool spends are included (TxPool::Spender).
#pragma once

#include "mempool/pool_change.h"
#include "storage/coins_reader.h"
#include "util/found.h"

namespace ibd {

class PoolView final : public CoinsReader {
public:
    /** All arguments outlive it. */
    PoolView(const CoinsReader& chain, const PoolChange& change, int next_height)
        : m_chain(chain), m_change(change), m_next_height(next_height)
    {
    }

    Found<Coin> Read(const OutPoint& outpoint) const override
    {
        const PoolTx* const tx = m_change.Find(outpoint.txid);
        if (!tx) return m_chain.Read(outpoint);
        const auto outputs = (*tx->tx)->outputs;
        if (outpoint.vout >= outputs.size()) return std::optional<Coin>();
        Coin coin;
        coin.value = outputs[outpoint.vout].value;
        coin.script = outputs[outpoint.vout].script_pubkey;
        coin.height = static_cast<uint32_t>(m_next_height);
        return std::optional<Coin>(std::move(coin));
    }
    bool IsInMemory(const OutPoint& outpoint) const override
    {
        const PoolTx* const tx = m_change.Find(outpoint.txid);
        return tx ? outpoint.vout < (*tx->tx)->outputs.size() : m_chain.IsInMemory(outpoint);
    }

private:
    const CoinsReader& m_chain;
    const PoolChange& m_change;
    const int m_next_height;
};

} // namespace ibd
