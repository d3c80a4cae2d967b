// See tx_batcher.h.
#include "net/peer/tx_batcher.h"

#include "net/wire/messages.h"
#include "net/wire/packed_blocks.h"
#include "packing/tx_batch.h"

namespace ibd {

void TxBatcher::Add(Peer& peer, Bytes tx)
{
    if (!m_feature.IsAgreed(peer)) return SendPlain(peer, std::move(tx));
    if (m_batch.size() == kMaxTxBatch || m_bytes + tx.size() > kMaxTxBatchBytes) Flush(peer);
    if (tx.size() > kMaxTxBatchBytes) return SendPlain(peer, std::move(tx));
    m_bytes += tx.size();
    m_batch.push_back(std::move(tx));
}

void TxBatcher::Flush(Peer& peer)
{
    if (m_batch.empty()) return;
    Bytes batch = Pack();
    if (!batch.empty()) {
        m_peers.SendRaw(peer, {std::string(PackedTxsMessage::kType), std::move(batch)});
    } else {
        for (Bytes& tx : m_batch) SendPlain(peer, std::move(tx));
    }
    m_batch.clear();
    m_bytes = 0;
}

void TxBatcher::SendPlain(Peer& peer, Bytes tx)
{
    m_peers.SendRaw(peer, {std::string(TxMessage::kType), std::move(tx)});
}

/** Empty: they go one by one. */
Bytes TxBatcher::Pack()
{
    Env& env = m_peers.At().env;
    const int64_t start = env.MonotonicMicros();
    if (!m_budget.Allows(start)) return {};
    auto batch = PackTxs(m_batch, m_peers.Options().pack_level);
    m_budget.Spend(env.MonotonicMicros() - start);
    if (batch) return std::move(*batch);
    m_peers.At().log.Warning("{}", batch.Message());
    return {};
}

} // namespace ibd
