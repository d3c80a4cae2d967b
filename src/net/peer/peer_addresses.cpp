// See peer_manager.h: address gossip. Announced addresses are accepted at a bounded rate, stored,
// and relayed to one or two peers, the same ones for a day, so that repeated announcements have no
// effect.
#include "net/peer/peer_manager.h"

#include "crypto/siphash.h"

#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kSelfInterval = 24 * 60 * 60 * kSecond; //!< mean interval of announcing our own
                                                          //!< address
constexpr int64_t kSendInterval = 30 * kSecond;           //!< mean interval between addr messages
constexpr int64_t kFetchTimeout = 10 * kSendInterval / kSecond; //!< seconds
constexpr uint64_t kRelayPeriod = 24 * 60 * 60; //!< seconds with the same peers to relay to
constexpr double kTokensPerSecond = 0.1;
constexpr double kMaxTokens = static_cast<double>(kMaxAddresses);
constexpr int64_t kFresh = 10 * 60;               //!< seconds; older ones are not relayed
constexpr int64_t kAssumedAge = 5 * 24 * 60 * 60; //!< for implausible times
constexpr int64_t kMaxAhead = 10 * 60;            //!< seconds that a time may be in the future
constexpr uint32_t kNeverSeen = 100'000'000;
constexpr size_t kMaxToRelay = 10; //!< addresses in a message that is not an answer to getaddr
constexpr int64_t kHearsayPenalty = 2 * 60 * 60;

bool MayKnowOthers(uint64_t services) { return services & (kNodeNetwork | kNodeNetworkLimited); }

bool CanTell(const Peer& peer, const NetAddress& address)
{
    return peer.wants_addrv2 || address.FitsV1();
}

uint64_t HashOf(const Endpoint& endpoint)
{
    return SipHasher(SipKey{}).Write(endpoint.Key()).Finalize();
}

} // namespace

int64_t PeerManager::RandomDelay(int64_t mean)
{
    const double chance = static_cast<double>(Random64() >> 11) * 0x1p-53;
    return static_cast<int64_t>(-std::log1p(-chance) * static_cast<double>(mean));
}

/** Whether to exchange addresses with it: not where that would reveal connections. */
bool PeerManager::EnableGossip(Peer& peer)
{
    if (peer.Is(ConnectionKind::kBlockRelay) || peer.Is(ConnectionKind::kFeeler)) return false;
    if (!peer.gossip.known) {
        peer.gossip.known.emplace(Peer::Gossip::kKnown, SipKey{Random64(), Random64()});
    }
    return true;
}

/** For an outbound peer, after its version message. */
void PeerManager::StartGossip(Peer& peer)
{
    if (!m_at.addresses || peer.IsInbound()) return;
    if (EnableGossip(peer)) {
        Send(peer, GetAddrMessage{});
        peer.gossip.asked = true;
        peer.gossip.tokens += kMaxTokens;
    }
    m_at.addresses->Good(peer.connection.address);
}

void PeerManager::HandleGetAddr(Peer& peer)
{
    if (!peer.IsInbound()) {
        m_at.log.Debug(LogCategory::kNet, "Ignoring \"getaddr\" from {} connection. peer={}",
                       ConnectionKindName(peer.connection.kind), peer.Id());
        return;
    }
    if (std::exchange(peer.getaddr_received, true)) {
        m_at.log.Debug(LogCategory::kNet, "Ignoring repeated \"getaddr\". peer={}", peer.Id());
        return;
    }
    if (!m_at.addresses || !EnableGossip(peer)) return;
    peer.gossip.to_send.clear();
    for (const PeerAddress& address :
         m_at.addresses->Answer(peer.connection, peer.Permits(kPermitAddr))) {
        PushAddress(peer, address);
    }
}

void PeerManager::PushAddress(Peer& peer, const PeerAddress& address)
{
    const NetAddress& host = address.endpoint.address;
    if (!host.IsValid() || !CanTell(peer, host)) return;
    if (peer.gossip.known->Contains(address.endpoint.Key())) return;
    auto& list = peer.gossip.to_send;
    if (list.size() < kMaxAddresses) {
        list.push_back(address);
    } else {
        list[Random64() % list.size()] = address;
    }
}

void PeerManager::HandleAddresses(Peer& peer, const ReceivedMessage& message)
{
    BoundedList<PeerAddress, kMaxAddresses> list;
    if (message.type == AddrMessage::kType) {
        auto read = Read<AddrMessage>(peer, message.payload);
        if (!read) return;
        list = std::move(read->list);
    } else {
        auto read = Read<AddrV2Message>(peer, message.payload);
        if (!read) return;
        list = std::move(read->list);
    }
    if (!EnableGossip(peer)) {
        m_at.log.Debug(LogCategory::kNet, "ignoring {} message from {} peer={}", message.type,
                       ConnectionKindName(peer.connection.kind), peer.Id());
        return;
    }
    if (list.TooMany()) {
        return Misbehaving(peer, fmt::format("{} message size = {}", message.type, list.Count()));
    }
    TakeAddresses(peer, std::move(list.items));
}

void PeerManager::TakeAddresses(Peer& peer, std::vector<PeerAddress> list)
{
    Peer::Gossip& gossip = peer.gossip;
    const int64_t now = Now();
    if (gossip.tokens < kMaxTokens) {
        const double seconds =
            std::max<double>(static_cast<double>(now - gossip.tokens_at) / kSecond, 0);
        gossip.tokens = std::min(gossip.tokens + seconds * kTokensPerSecond, kMaxTokens);
    }
    gossip.tokens_at = now;
    // If there are too many, a random part counts.
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[Random64() % i]);
    const bool unlimited = peer.Permits(kPermitAddr);
    const bool may_relay = !gossip.asked && list.size() <= kMaxToRelay;
    const uint64_t processed = gossip.processed;
    const uint64_t limited = gossip.limited;
    std::vector<PeerAddress> kept;
    for (PeerAddress& address : list) {
        if (gossip.tokens >= 1) {
            gossip.tokens -= 1;
        } else if (!unlimited) {
            ++gossip.limited;
            continue;
        }
        if (TakeAddress(peer, address, may_relay)) kept.push_back(address);
    }
    m_at.log.Debug(LogCategory::kNet,
                   "Received addr: {} addresses ({} processed, {} rate-limited) from peer={}",
                   list.size(), gossip.processed - processed, gossip.limited - limited, peer.Id());
    if (m_at.addresses) {
        m_at.addresses->Heard(kept, peer.connection.address.address, kHearsayPenalty);
    }
    if (list.size() < kMaxAddresses) gossip.asked = false;
    // A single one may be its own announcement.
    if (peer.Is(ConnectionKind::kAddrFetch) && list.size() > 1) {
        Drop(peer, "addrfetch connection completed");
    }
}

/** Returns whether the address is worth keeping. */
bool PeerManager::TakeAddress(Peer& peer, PeerAddress& address, bool may_relay)
{
    const uint64_t services = address.services;
    if (!MayKnowOthers(services) && !IsDesirable(services)) return false;
    const int64_t now = NowSeconds();
    if (address.time <= kNeverSeen || address.time > now + kMaxAhead) {
        address.time = static_cast<uint32_t>(now - kAssumedAge);
    }
    peer.gossip.known->Insert(address.endpoint.Key());
    const NetAddress& host = address.endpoint.address;
    if (!m_at.addresses || m_at.addresses->IsUnwanted(host)) return false;
    ++peer.gossip.processed;
    const bool reachable = m_at.addresses->IsReachable(host);
    if (may_relay && address.time > now - kFresh && host.IsRoutable()) {
        RelayAddress(peer.Id(), address, reachable);
    }
    return reachable;
}

void PeerManager::RelayAddress(PeerId from, const PeerAddress& address, bool reachable)
{
    const NetAddress& host = address.endpoint.address;
    if (!reachable && !host.IsRelayable()) return;
    const uint64_t hash = HashOf(address.endpoint);
    // Each address changes its peers at its own time.
    const uint64_t period = (static_cast<uint64_t>(NowSeconds()) + hash) / kRelayPeriod;
    const SipHasher lot = SipHasher(m_relay_key).Write(hash).Write(period);
    const size_t most = reachable || (lot.Finalize() & 1) ? 2 : 1;
    std::vector<std::pair<uint64_t, Peer*>> chosen;
    for (const auto& [id, peer] : m_peers) {
        if (!peer->gossip.known || id == from || !CanTell(*peer, host)) continue;
        chosen.emplace_back(SipHasher(lot).Write(static_cast<uint64_t>(id)).Finalize(), peer.get());
    }
    const size_t count = std::min(most, chosen.size());
    std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count),
                      chosen.end(), std::greater<>());
    for (size_t i = 0; i < count; ++i) PushAddress(*chosen[i].second, address);
}

void PeerManager::SendAddresses(Peer& peer, const std::vector<PeerAddress>& list)
{
    if (peer.wants_addrv2) {
        AddrV2Message message;
        message.list.items = list;
        Send(peer, message);
    } else {
        AddrMessage message;
        message.list.items = list;
        Send(peer, message);
    }
}

/** Announces our address to the peer: the first time in a separate message that no limit can drop,
 *  then about once a day. */
void PeerManager::TellOfOurselves(Peer& peer)
{
    Peer::Gossip& gossip = peer.gossip;
    const int64_t now = Now();
    if (!m_at.addresses->Listens() || gossip.next_self >= now) return;
    if (m_at.chain.IsInitialBlockDownload()) return;
    const bool first = gossip.next_self == 0;
    if (!first) gossip.known->Clear();
    gossip.next_self = now + RandomDelay(kSelfInterval);
    const auto own = m_at.addresses->OwnAddressFor(peer.connection, peer.seen_as);
    if (!own) return;
    m_at.log.Debug(LogCategory::kNet, "Advertising address {} to peer={}", own->ToString(),
                   peer.Id());
    const PeerAddress address{*own, peer.our_services, static_cast<uint32_t>(NowSeconds())};
    if (!first) return PushAddress(peer, address);
    if (CanTell(peer, own->address)) SendAddresses(peer, {address});
}

void PeerManager::MaintainAddresses(Peer& peer)
{
    if (peer.Is(ConnectionKind::kAddrFetch) && NowSeconds() - peer.connected > kFetchTimeout) {
        return Drop(peer, "addrfetch connection timeout");
    }
    Peer::Gossip& gossip = peer.gossip;
    if (!m_at.addresses || !gossip.known) return;
    TellOfOurselves(peer);
    const int64_t now = Now();
    if (now <= gossip.next_send) return;
    gossip.next_send = now + RandomDelay(kSendInterval);
    std::erase_if(gossip.to_send, [&](const PeerAddress& address) {
        const Bytes key = address.endpoint.Key();
        if (gossip.known->Contains(key)) return true;
        gossip.known->Insert(key);
        return false;
    });
    if (gossip.to_send.empty()) return;
    SendAddresses(peer, std::exchange(gossip.to_send, {}));
}

} // namespace ibd
