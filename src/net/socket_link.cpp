// See socket_link.h.
#include "net/socket_link.h"

namespace ibd {

void SocketLink::Send(PeerId peer, OutgoingMessage message)
{
    m_connections.Send(peer, std::move(message));
}

void SocketLink::Disconnect(PeerId peer)
{
    m_state.peers.SetClosing(peer);
    m_connections.Disconnect(peer);
}

void SocketLink::UpdateUpload()
{
    m_upload.Update(m_connections.BytesSent(), m_state.NowSeconds());
}

TrafficTotals SocketLink::Totals()
{
    TrafficTotals out;
    out.sent = m_connections.BytesSent();
    out.received = m_connections.BytesReceived();
    const int64_t now = m_state.NowSeconds();
    m_upload.Update(out.sent, now);
    out.upload.timeframe = UploadMeter::kTimeframe;
    out.upload.target = m_upload.Target();
    out.upload.reached = m_upload.IsReached();
    out.upload.serves_historical = m_upload.ServesHistorical(now);
    out.upload.bytes_left = m_upload.BytesLeft();
    out.upload.seconds_left = m_upload.SecondsLeft(now);
    return out;
}

// Uses the bytes really sent so far, not the count at the last tick.
UploadMeter SocketLink::UploadNow(int64_t now) const
{
    UploadMeter meter = m_upload;
    meter.Update(m_connections.BytesSent(), now);
    return meter;
}

bool SocketLink::MayUploadHistory() const
{
    const int64_t now = m_state.NowSeconds();
    return UploadNow(now).ServesHistorical(now);
}

bool SocketLink::MayUpload() const { return !UploadNow(m_state.NowSeconds()).IsReached(); }

} // namespace ibd
