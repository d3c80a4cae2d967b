// See tx_reconciliation.h.
#include "net/peer/tx_reconciliation.h"

namespace ibd {

/** Offers it where transactions are relayed in both directions. */
void TxReconciliation::Negotiate(Peer& peer)
{
    const PeerOptions& options = m_peers.Options();
    if (!options.reconciles || options.blocks_only) return;
    if (peer.common_version < kWtxidRelayVersion) return;
    if (!peer.wants_txs || peer.Is(ConnectionKind::kAddrFetch)) return;
    m_at.log.Debug(LogCategory::kTxReconciliation, "Pre-register peer={}", peer.Id());
    m_stages[peer] = Stage::kOffered;
    m_peers.Send(peer, SendTxReconciliationMessage{kVersion, m_peers.Random64()});
}

void TxReconciliation::Handle(Peer& peer, ReceivedMessage& message)
{
    if (!m_peers.Options().reconciles) {
        m_at.log.Debug(LogCategory::kNet,
                       "sendtxrcncl from peer={} ignored, as our node does not have "
                       "txreconciliation enabled",
                       peer.Id());
        return;
    }
    if (peer.established) return m_peers.Drop(peer, "sendtxrcncl received after verack");
    if (!m_peers.MaySendTxs(peer)) {
        return m_peers.Drop(peer, "sendtxrcncl received to which we indicated no tx relay");
    }
    if (!peer.wants_txs) {
        return m_peers.Drop(peer, "sendtxrcncl received which indicated no tx relay to us");
    }
    const auto offer = m_peers.Read<SendTxReconciliationMessage>(message.payload);
    if (offer) Agree(peer, offer->version);
}

/** A higher version than ours includes ours. */
void TxReconciliation::Agree(Peer& peer, uint32_t version)
{
    switch (m_stages[peer]) {
    case Stage::kNone:
        m_at.log.Debug(LogCategory::kNet, "Ignore unexpected txreconciliation signal from peer={}",
                       peer.Id());
        return;
    case Stage::kAgreed:
        return m_peers.Drop(peer, "txreconciliation protocol violation (sendtxrcncl received from "
                                  "already registered peer)");
    case Stage::kOffered:
        if (version == 0) return m_peers.Drop(peer, "txreconciliation protocol violation");
        m_at.log.Debug(LogCategory::kTxReconciliation, "Register peer={} (inbound={})", peer.Id(),
                       int{peer.IsInbound()});
        m_stages[peer] = Stage::kAgreed;
        return;
    }
}

/** It needs announcements by wtxid, which cannot be agreed on any more. */
void TxReconciliation::Established(Peer& peer)
{
    if (!peer.wtxid_relay || m_stages[peer] != Stage::kAgreed) Forget(peer);
}

void TxReconciliation::Forget(Peer& peer)
{
    if (std::exchange(m_stages[peer], Stage::kNone) == Stage::kNone) return;
    m_at.log.Debug(LogCategory::kTxReconciliation, "Forget txreconciliation state of peer={}",
                   peer.Id());
}

} // namespace ibd
