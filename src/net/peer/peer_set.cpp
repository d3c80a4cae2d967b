// See peer_set.h.
#include "net/peer/peer_set.h"

#include "crypto/random_key.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr int kLimitedConnectDepth = 144; //!< blocks behind the tip, to accept a limited peer

} // namespace

const char* ConnectionKindName(ConnectionKind kind)
{
    switch (kind) {
    case ConnectionKind::kInbound: return "inbound";
    case ConnectionKind::kOutboundFullRelay: return "outbound-full-relay";
    case ConnectionKind::kManual: return "manual";
    case ConnectionKind::kFeeler: return "feeler";
    case ConnectionKind::kBlockRelay: return "block-relay-only";
    case ConnectionKind::kAddrFetch: return "addr-fetch";
    case ConnectionKind::kPrivateBroadcast: return "private-broadcast";
    }
    return "";
}

bool IsAncestor(const HeaderNode& node, const HeaderNode& tip)
{
    return tip.Ancestor(node.height) == &node;
}

PeerSet::PeerSet(PeerSurroundings surroundings, PeerOptions options)
    : m_at(std::move(surroundings)), m_options(std::move(options))
{
}

uint64_t PeerSet::Random64() const { return ibd::Random64(m_at.env); }

size_t PeerSet::AddSlot(std::function<std::unique_ptr<PeerSlot>()> make)
{
    CHECK(m_peers.empty());
    m_slots.push_back(std::move(make));
    return m_slots.size() - 1;
}

Peer& PeerSet::Add(NewPeer connection)
{
    auto peer = std::make_unique<Peer>(std::move(connection));
    peer->connected = NowSeconds();
    peer->our_services = m_options.services;
    if (m_at.lacks_history && *m_at.lacks_history) peer->our_services &= ~uint64_t{kNodeNetwork};
    if (peer->IsInbound() && peer->Permits(kPermitBloomFilter)) peer->our_services |= kNodeBloom;
    for (const auto& make : m_slots) peer->slots.push_back(make());
    const auto [position, inserted] = m_peers.emplace(peer->Id(), std::move(peer));
    CHECK(inserted);
    return *position->second;
}

Peer* PeerSet::Find(PeerId id)
{
    const auto found = m_peers.find(id);
    return found == m_peers.end() ? nullptr : found->second.get();
}

size_t PeerSet::CountEstablished(ConnectionKind kind) const
{
    return static_cast<size_t>(
        std::count_if(m_peers.begin(), m_peers.end(), [&](const auto& entry) {
            const Peer& peer = *entry.second;
            return peer.established && !peer.closing && peer.Is(kind);
        }));
}

std::string PeerSet::NameOf(const Peer& peer) const
{
    if (!m_options.log_addresses) return fmt::format("peer={}", peer.Id());
    return fmt::format("peer={}, peeraddr={}", peer.Id(), peer.connection.address.ToString());
}

bool PeerSet::SendFeature(Peer& peer, std::string_view id, Bytes data)
{
    const bool brief = peer.Is(ConnectionKind::kFeeler) || peer.Is(ConnectionKind::kAddrFetch);
    if (brief || peer.common_version < kFeatureVersion) return false;
    Send(peer, FeatureMessage{std::string(id), std::move(data)});
    return true;
}

void PeerSet::SendRaw(Peer& peer, OutgoingMessage message)
{
    if (peer.closing) return;
    m_at.log.Debug(LogCategory::kNet, "sending {} ({} bytes) peer={}", message.type,
                   message.payload.size(), peer.Id());
    if (m_at.capture) {
        m_at.capture->Keep(peer.connection.address, false, message.type, message.payload, Now());
    }
    m_at.link.Send(peer.Id(), std::move(message));
}

/** As in Core, without the peer and with the exception's type mangled. */
void PeerSet::LogRefused(std::string_view type, size_t size, const std::string& why) const
{
    m_at.log.Debug(LogCategory::kNet,
                   "ProcessMessages({}, {} bytes): Exception '{}: iostream error' "
                   "(NSt8ios_base7failureB5cxx11E) caught",
                   type, size, why);
}

void PeerSet::LogUnknown(const Peer& peer, std::string_view type) const
{
    m_at.log.Debug(LogCategory::kNet, "Unknown message type \"{}\" from peer={}",
                   SafeCharacters(type), peer.Id());
}

void PeerSet::Drop(Peer& peer, const std::string& why, bool always_log)
{
    if (always_log) {
        m_at.log.Info("{}, disconnecting {}", why, NameOf(peer));
    } else {
        m_at.log.Debug(LogCategory::kNet, "{}, disconnecting {}", why, NameOf(peer));
    }
    Close(peer);
}

void PeerSet::Close(Peer& peer)
{
    if (std::exchange(peer.closing, true)) return;
    for (const ReceivedMessage& message : peer.unread) {
        m_at.link.Consumed(peer.Id(), message.payload.size());
    }
    peer.unread.clear();
    for (PeerTopic* const topic : TopicsOf(peer)) topic->Closed(peer);
    m_at.link.Disconnect(peer.Id());
}

void PeerSet::Misbehaving(Peer& peer, const std::string& why) const
{
    peer.misbehaved = true;
    m_at.log.Debug(LogCategory::kNet, "Misbehaving: peer={}: {}", peer.Id(), why);
}

bool PeerSet::MaySendTxs(const Peer& peer) const
{
    if (peer.Is(ConnectionKind::kBlockRelay) || peer.Is(ConnectionKind::kFeeler)) return false;
    return !m_options.blocks_only || peer.Permits(kPermitRelay);
}

bool PeerSet::IsActive(const HeaderNode& node) const
{
    return IsAncestor(node, m_at.chain.Tip());
}

uint64_t PeerSet::DesirableServices(uint64_t services) const
{
    const int64_t spacing = m_at.params.consensus.pow_target_spacing;
    const int64_t behind = (NowSeconds() - int64_t{m_at.chain.Tip().time}) / spacing;
    if ((services & kNodeNetworkLimited) && behind < kLimitedConnectDepth) {
        return kNodeNetworkLimited | kNodeWitness;
    }
    return kNodeNetwork | kNodeWitness;
}

} // namespace ibd
