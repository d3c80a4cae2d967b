// See coins_stats.h.
#include "storage/coins_stats.h"

#include "script/coin_stats.h"

namespace ibd {

void CoinsStatsBuilder::Add(const OutPoint& outpoint, Coin coin)
{
    if (!m_tx.empty() && !(outpoint.txid == m_txid)) CloseTx();
    m_txid = outpoint.txid;
    m_tx.emplace(outpoint.vout, std::move(coin));
}

CoinsStats CoinsStatsBuilder::Finish()
{
    if (!m_tx.empty()) CloseTx();
    if (m_kind == CoinsHashKind::kSerialized3) m_stats.hash = Uint256(Sha256Of(m_sha.Finalize()));
    if (m_kind == CoinsHashKind::kMuHash) {
        m_stats.hash = Uint256(m_muhash.Take().Finalize());
    }
    return m_stats;
}

void CoinsStatsBuilder::CloseTx()
{
    ++m_stats.transactions;
    for (const auto& [vout, coin] : m_tx) {
        ++m_stats.outputs;
        m_stats.total += coin.value;
        m_stats.bogo_size += BogoSize(coin.script);
        HashCoin(vout, coin);
    }
    m_tx.clear();
}

void CoinsStatsBuilder::HashCoin(uint32_t vout, const Coin& coin)
{
    if (m_kind == CoinsHashKind::kNone) return;
    m_bytes.clear();
    Writer writer(m_bytes);
    WriteHashedCoin(writer, {m_txid, vout}, coin);
    if (m_kind == CoinsHashKind::kSerialized3) m_sha.Write(m_bytes);
    if (m_kind == CoinsHashKind::kMuHash) m_muhash.Insert(m_bytes);
}

} // namespace ibd
