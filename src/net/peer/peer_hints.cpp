// See peer_manager.h: hints in both directions. Only peers with the feature in the handshake
// receive these messages.
#include "net/peer/peer_manager.h"

namespace ibd {

void PeerManager::FetchHints(HintsGoal& goal, int64_t offer_time)
{
    m_hints.emplace(goal, offer_time);
}

/** Part of the handshake. Inbound peers are not trusted and so not asked. */
void PeerManager::AskForHints(Peer& peer)
{
    const bool brief = peer.Is(ConnectionKind::kFeeler) || peer.Is(ConnectionKind::kAddrFetch);
    if (!m_hints || peer.IsInbound() || brief || peer.common_version < kFeatureVersion) return;
    Send(peer, FeatureMessage{std::string(kHintsFeature), {kHintsFeatureVersion}});
    peer.hints.asked = true;
}

/** Returns whether it was this feature. */
bool PeerManager::TakeHintsFeature(Peer& peer, const FeatureMessage& feature)
{
    if (!m_at.hints || feature.id != kHintsFeature) return false;
    if (feature.data.empty() || feature.data[0] != kHintsFeatureVersion) return false;
    peer.hints.wanted = true;
    return true;
}

void PeerManager::OfferHints(Peer& peer)
{
    if (!peer.hints.wanted) return;
    HintsMessage message;
    message.list.items = m_at.hints->Offers();
    for (const HintsOffer& offer : message.list.items) {
        peer.hints.quota += kMaxHintsUploads * offer.size;
    }
    if (!message.list.items.empty()) Send(peer, message);
}

/** Returns whether it was a message of the agreed feature. */
bool PeerManager::HandleHintsMessage(Peer& peer, const ReceivedMessage& message)
{
    if (message.type == GetHintsMessage::kType && peer.hints.wanted) {
        HandleGetHints(peer, message.payload);
    } else if (message.type == HintsMessage::kType && peer.hints.asked) {
        HandleHints(peer, message.payload);
    } else if (message.type == HintsDataMessage::kType && peer.hints.asked) {
        HandleHintsData(peer, message.payload);
    } else {
        return false;
    }
    return true;
}

void PeerManager::HandleHints(Peer& peer, ByteSpan payload)
{
    auto message = Read<HintsMessage>(peer, payload);
    if (!message) return;
    if (message->list.TooMany()) {
        return Misbehaving(peer, fmt::format("hints message size = {}", message->list.Count()));
    }
    if (!m_hints || std::exchange(peer.hints.offered, true)) return;
    for (const HintsOffer& offer : message->list.items) {
        m_at.log.Debug(LogCategory::kNet, "hints offered: {} up to block {} ({}), {} bytes peer={}",
                       offer.id.ToHex(), offer.terminal.ToHex(), offer.height, offer.size,
                       peer.Id());
    }
    // Each peer named by the user counts as a group of its own, wherever it is.
    const Endpoint& address = peer.connection.address;
    Bytes group = m_at.link.GroupOf(address.address);
    if (peer.Is(ConnectionKind::kManual)) {
        const std::string named = "manual " + address.ToString();
        group.assign(named.begin(), named.end());
    }
    m_hints->Offered(peer.Id(), std::move(group), std::move(message->list.items));
}

void PeerManager::HandleGetHints(Peer& peer, ByteSpan payload)
{
    const auto message = Read<GetHintsMessage>(peer, payload);
    if (!message) return;
    if (peer.hints.requests.size() >= kMaxHintsRequests) {
        return Misbehaving(peer, "too many requests for hints");
    }
    peer.hints.requests.push_back(message->part);
    ServeHints(peer);
}

/** Serves one request, so that other peers get their turn. */
void PeerManager::ServeHints(Peer& peer)
{
    if (peer.closing || peer.hints.requests.empty() || m_at.link.SendPaused(peer.Id())) return;
    const HintsPart part = peer.hints.requests.front();
    peer.hints.requests.pop_front();
    Bytes bytes;
    if (peer.Permits(kPermitDownload) || m_at.link.MayUploadHistory()) {
        auto data = m_at.hints->Read(part);
        if (!data) {
            m_at.log.Debug(LogCategory::kNet, "hints not served: {} peer={}", data.Message(),
                           peer.Id());
        } else if (data->size() <= peer.hints.quota) {
            peer.hints.quota -= data->size();
            bytes = std::move(*data);
        }
    }
    Send(peer, HintsDataMessage{part, bytes});
}

void PeerManager::HandleHintsData(Peer& peer, ByteSpan payload)
{
    if (!m_hints) return;
    const auto message = Read<HintsDataMessage>(peer, payload);
    if (!message) return;
    if (const auto wrong = m_hints->Received(peer.Id(), *message, Now())) {
        return WrongHints(peer, *wrong);
    }
    MaintainHints();
}

void PeerManager::MaintainHints()
{
    if (!m_hints) return;
    for (const HintsDownloader::Request& request : m_hints->Work(Now())) {
        if (Peer* const peer = Find(request.peer)) Send(*peer, request.message);
    }
}

/** Disconnects the peer, even if the user named it. */
void PeerManager::WrongHints(Peer& peer, const std::string& why)
{
    if (peer.Is(ConnectionKind::kManual)) return Drop(peer, why, true);
    Misbehaving(peer, why);
}

void PeerManager::PunishForHints(const Uint256& id)
{
    if (!m_hints) return;
    for (const PeerId peer : m_hints->WhoOffered(id)) WrongHints(*Find(peer), "wrong hints");
}

} // namespace ibd
