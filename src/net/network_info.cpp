// See network_impl.h: information for the user, and eviction.
#include "net/network_impl.h"
#include "net/peer/eviction.h"

#include <algorithm>
#include <limits>

namespace ibd {

std::vector<PeerInfo> PeerNetwork::Impl::Peers()
{
    std::vector<PeerInfo> out = m_peers.Info();
    for (PeerInfo& info : out) {
        Channel::Counts counts = m_connections.CountsByType(info.connection.id);
        info.sent_by_type = std::move(counts.sent);
        info.received_by_type = std::move(counts.received);
        info.mapped_as = m_options.groups.MappedAs(info.connection.address.address);
    }
    return out;
}

PeerNetwork::Totals PeerNetwork::Impl::TotalTraffic()
{
    Totals out;
    out.sent = m_connections.BytesSent();
    out.received = m_connections.BytesReceived();
    const int64_t now = NowSeconds();
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
UploadMeter PeerNetwork::Impl::UploadNow(int64_t now) const
{
    UploadMeter meter = m_upload;
    meter.Update(m_connections.BytesSent(), now);
    return meter;
}

bool PeerNetwork::Impl::MayUploadHistory() const
{
    const int64_t now = NowSeconds();
    return UploadNow(now).ServesHistorical(now);
}

bool PeerNetwork::Impl::MayUpload() const { return !UploadNow(NowSeconds()).IsReached(); }

/** Evicts an inbound peer; false: all are protected. */
bool PeerNetwork::Impl::EvictInbound()
{
    std::vector<EvictionCandidate> candidates;
    for (const PeerInfo& info : m_peers.Info()) {
        const Link& link = m_links.at(info.connection.id);
        if (link.closing) continue;
        EvictionCandidate candidate;
        candidate.id = info.connection.id;
        candidate.connected = info.connected;
        candidate.ping_shortest =
            info.ping_shortest < 0 ? std::numeric_limits<int64_t>::max() : info.ping_shortest;
        candidate.last_block = info.last_block;
        candidate.last_tx = info.last_transaction;
        candidate.relevant_services = info.has_desirable_services;
        candidate.relays_txs = info.relays_txs;
        candidate.bloom_filter = info.bloom_filter;
        candidate.group = link.group;
        candidate.prefer_evict = link.prefer_evict;
        candidate.is_local = link.peer.address.address.IsLocal();
        candidate.network = link.peer.Network();
        candidate.noban = (link.peer.permissions & kPermitNoBan) == kPermitNoBan;
        candidate.inbound = link.peer.kind == ConnectionKind::kInbound;
        candidates.push_back(candidate);
    }
    const auto chosen = SelectToEvict(std::move(candidates));
    if (!chosen) return false;
    return Disconnect(*chosen, "selected inbound connection for eviction");
}

void PeerNetwork::Impl::BansChanged()
{
    if (m_at.save_bans) m_at.save_bans(m_bans.Banned(NowSeconds()));
}

} // namespace ibd
