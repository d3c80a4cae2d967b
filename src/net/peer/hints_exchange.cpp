// See hints_exchange.h.
#include "net/peer/hints_exchange.h"

namespace ibd {

/** Inbound peers are not trusted, so they are not asked. */
void HintsExchange::Negotiate(Peer& peer)
{
    if (!m_downloader || peer.IsInbound()) return;
    m_states[peer].asked = m_peers.SendFeature(peer, kHintsFeature, {kHintsFeatureVersion});
}

bool HintsExchange::TakeFeature(Peer& peer, const FeatureMessage& feature)
{
    if (!m_at.hints || !feature.Is(kHintsFeature, kHintsFeatureVersion)) return false;
    m_states[peer].wanted = true;
    return true;
}

void HintsExchange::Established(Peer& peer)
{
    State& state = m_states[peer];
    if (!state.wanted) return;
    HintsMessage message;
    message.list.items = m_at.hints->Offers();
    for (const HintsOffer& offer : message.list.items) {
        state.quota += kMaxHintsUploads * offer.size;
    }
    if (!message.list.items.empty()) m_peers.Send(peer, message);
}

void HintsExchange::Handle(Peer& peer, ReceivedMessage& message)
{
    const State& state = m_states[peer];
    if (message.type == GetHintsMessage::kType && state.wanted) {
        HandleRequest(peer, message.payload);
    } else if (message.type == HintsMessage::kType && state.asked) {
        HandleOffers(peer, message.payload);
    } else if (message.type == HintsDataMessage::kType && state.asked) {
        HandleData(peer, message.payload);
    } else {
        m_peers.LogUnknown(peer, message.type); // not agreed upon
    }
}

void HintsExchange::HandleOffers(Peer& peer, ByteSpan payload)
{
    auto message = m_peers.Read<HintsMessage>(payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return m_peers.Misbehaving(peer,
                                   fmt::format("hints message size = {}", message->list.Count()));
    }
    if (!m_downloader || std::exchange(m_states[peer].offered, true)) return;
    for (const HintsOffer& offer : message->list.items) {
        m_at.log.Debug(LogCategory::kNet, "hints offered: {} up to block {} ({}), {} bytes peer={}",
                       offer.id.ToHex(), offer.terminal.ToHex(), offer.height, offer.size,
                       peer.Id());
    }
    m_downloader->Offered(peer.Id(), GroupOf(peer), std::move(message->list.items));
}

/** Each peer named by the user counts as a group of its own, wherever it is. */
Bytes HintsExchange::GroupOf(const Peer& peer) const
{
    const Endpoint& address = peer.connection.address;
    if (!peer.Is(ConnectionKind::kManual)) return m_at.link.GroupOf(address.address);
    const std::string named = "manual " + address.ToString();
    return Bytes(named.begin(), named.end());
}

void HintsExchange::HandleRequest(Peer& peer, ByteSpan payload)
{
    const auto message = m_peers.Read<GetHintsMessage>(payload);
    if (!message) return;
    State& state = m_states[peer];
    if (state.requests.size() >= kMaxHintsRequests) {
        return m_peers.Misbehaving(peer, "too many requests for hints");
    }
    state.requests.push_back(message->part);
    Serve(peer);
}

void HintsExchange::Serve(Peer& peer)
{
    State& state = m_states[peer];
    if (peer.closing || state.requests.empty() || m_at.link.SendPaused(peer.Id())) return;
    const HintsPart part = state.requests.front();
    state.requests.pop_front();
    Bytes bytes;
    if (peer.Permits(kPermitDownload) || m_at.link.MayUploadHistory()) {
        auto data = m_at.hints->Read(part);
        if (!data) {
            m_at.log.Debug(LogCategory::kNet, "hints not served: {} peer={}", data.Message(),
                           peer.Id());
        } else if (data->size() <= state.quota) {
            state.quota -= data->size();
            bytes = std::move(*data);
        }
    }
    m_peers.Send(peer, HintsDataMessage{part, bytes});
}

PeerTopic::Unserved HintsExchange::UnservedOf(const Peer& peer) const
{
    return m_states[peer].requests.empty() ? Unserved::kNone : Unserved::kReady;
}

void HintsExchange::HandleData(Peer& peer, ByteSpan payload)
{
    if (!m_downloader) return;
    const auto message = m_peers.Read<HintsDataMessage>(payload);
    if (!message) return;
    if (const auto wrong = m_downloader->Received(peer.Id(), *message, m_peers.Now())) {
        return PunishPeer(peer, *wrong);
    }
    StartRound();
}

/** Sends the requests that are due. */
void HintsExchange::StartRound()
{
    if (!m_downloader) return;
    for (const HintsDownloader::Request& request : m_downloader->Work(m_peers.Now())) {
        if (Peer* const peer = m_peers.Find(request.peer)) m_peers.Send(*peer, request.message);
    }
}

void HintsExchange::Next(const std::string& why)
{
    if (m_downloader) m_downloader->Next(why, m_peers.Now());
}

void HintsExchange::Punish(const Uint256& id)
{
    if (!m_downloader) return;
    for (const PeerId peer : m_downloader->WhoOffered(id)) {
        PunishPeer(*m_peers.Find(peer), "wrong hints");
    }
}

/** Disconnects the peer, even if the user named it. */
void HintsExchange::PunishPeer(Peer& peer, const std::string& why)
{
    if (peer.Is(ConnectionKind::kManual)) return m_peers.Drop(peer, why, true);
    m_peers.Misbehaving(peer, why);
}

bool HintsExchange::IsAsked(const Peer& peer) const
{
    return m_downloader && m_downloader->IsAsked(peer.Id());
}

void HintsExchange::Leave(const Peer& peer)
{
    if (m_downloader) m_downloader->Disconnected(peer.Id());
}

} // namespace ibd
