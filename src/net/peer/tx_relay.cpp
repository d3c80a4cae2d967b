// See tx_relay.h.
#include "net/peer/tx_relay.h"

namespace ibd {

void TxRelay::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == TxMessage::kType) {
        HandleTx(peer, message.payload);
    } else if (message.type == NotFoundMessage::kType) {
        (void)m_peers.IsReadable<NotFoundMessage>(message.payload);
    } else if (message.type == MempoolMessage::kType) {
        HandleMempool(peer);
    } else {
        HandleFeeFilter(peer, message.payload);
    }
}

void TxRelay::Describe(const Peer& peer, PeerInfo& info) const
{
    info.fee_filter = m_fee_filters[peer];
}

void TxRelay::HandleTx(Peer& peer, ByteSpan payload)
{
    const bool unwanted = peer.Is(ConnectionKind::kBlockRelay) ||
                          (m_peers.Options().blocks_only && !peer.Permits(kPermitRelay));
    if (unwanted) return m_peers.Drop(peer, "transaction sent in violation of protocol");
    if (!m_at.chain.IsInitialBlockDownload()) (void)m_peers.IsReadable<TxMessage>(payload);
}

void TxRelay::HandleMempool(Peer& peer)
{
    if (peer.Permits(kPermitMempool) || peer.Permits(kPermitNoBan)) return;
    if (!(peer.our_services & kNodeBloom)) {
        m_peers.Drop(peer, "mempool request with bloom filters disabled");
    } else if (!m_at.link.MayUpload()) {
        m_peers.Drop(peer, "mempool request with bandwidth limit reached");
    }
}

void TxRelay::HandleFeeFilter(Peer& peer, ByteSpan payload)
{
    const auto filter = m_peers.Read<FeeFilterMessage>(payload);
    if (filter && MoneyRange(filter->rate)) m_fee_filters[peer] = filter->rate;
}

} // namespace ibd
