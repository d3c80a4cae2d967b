// See address_gossip.h.
#include "net/peer/address_gossip.h"

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

uint64_t HashOf(const Endpoint& endpoint)
{
    return SipHasher(SipKey{}).Write(endpoint.Key()).Finalize();
}

} // namespace

void AddressGossip::Connected(Peer& peer) { m_states[peer].tokens_at = m_peers.Now(); }

/** BIP155 permits sendaddrv2 earlier, but some old nodes disconnect then. */
void AddressGossip::Negotiate(Peer& peer)
{
    if (peer.common_version >= kWtxidRelayVersion) m_peers.Send(peer, SendAddrV2Message{});
}

void AddressGossip::Handle(Peer& peer, ReceivedMessage& message)
{
    if (message.type == SendAddrV2Message::kType) return HandleSendAddrV2(peer);
    if (message.type == GetAddrMessage::kType) return HandleGetAddr(peer);
    HandleAddresses(peer, message);
}

void AddressGossip::HandleSendAddrV2(Peer& peer)
{
    if (peer.established) return m_peers.Drop(peer, "sendaddrv2 received after verack");
    m_states[peer].wants_v2 = true;
}

void AddressGossip::Disconnected(Peer& peer)
{
    const bool was_called = peer.established && !peer.IsInbound();
    if (m_at.addresses && was_called && !peer.Is(ConnectionKind::kBlockRelay)) {
        m_at.addresses->Connected(peer.connection.address);
    }
}

void AddressGossip::Describe(const Peer& peer, PeerInfo& info) const
{
    const State& state = m_states[peer];
    info.relays_addresses = state.known.has_value();
    info.addresses_processed = state.processed;
    info.addresses_limited = state.limited;
}

int64_t AddressGossip::RandomDelay(int64_t mean) const
{
    const double chance = static_cast<double>(m_peers.Random64() >> 11) * 0x1p-53;
    return static_cast<int64_t>(-std::log1p(-chance) * static_cast<double>(mean));
}

/** Whether to exchange addresses with it: not where that would reveal connections. */
bool AddressGossip::Enable(Peer& peer)
{
    if (peer.Is(ConnectionKind::kBlockRelay) || peer.Is(ConnectionKind::kFeeler)) return false;
    auto& known = m_states[peer].known;
    if (!known) known.emplace(State::kKnown, SipKey{m_peers.Random64(), m_peers.Random64()});
    return true;
}

/** For an outbound peer, after its version message. */
void AddressGossip::Greeted(Peer& peer)
{
    if (!m_at.addresses || peer.IsInbound()) return;
    if (Enable(peer)) {
        m_peers.Send(peer, GetAddrMessage{});
        m_states[peer].asked = true;
        m_states[peer].tokens += kMaxTokens;
    }
    m_at.addresses->Good(peer.connection.address);
}

void AddressGossip::HandleGetAddr(Peer& peer)
{
    if (!peer.IsInbound()) {
        m_at.log.Debug(LogCategory::kNet, "Ignoring \"getaddr\" from {} connection. peer={}",
                       ConnectionKindName(peer.connection.kind), peer.Id());
        return;
    }
    if (std::exchange(m_states[peer].has_asked, true)) {
        m_at.log.Debug(LogCategory::kNet, "Ignoring repeated \"getaddr\". peer={}", peer.Id());
        return;
    }
    if (!m_at.addresses || !Enable(peer)) return;
    m_states[peer].to_send.clear();
    for (const PeerAddress& address :
         m_at.addresses->Answer(peer.connection, peer.Permits(kPermitAddr))) {
        Push(peer, address);
    }
}

void AddressGossip::Push(Peer& peer, const PeerAddress& address)
{
    State& state = m_states[peer];
    const NetAddress& host = address.endpoint.address;
    if (!host.IsValid() || !CanTell(state, host)) return;
    if (state.known->Contains(address.endpoint.Key())) return;
    auto& list = state.to_send;
    if (list.size() < kMaxAddresses) {
        list.push_back(address);
    } else {
        list[m_peers.Random64() % list.size()] = address;
    }
}

void AddressGossip::HandleAddresses(Peer& peer, const ReceivedMessage& message)
{
    BoundedList<PeerAddress, kMaxAddresses> list;
    if (message.type == AddrMessage::kType) {
        auto read = m_peers.Read<AddrMessage>(message.payload);
        if (!read) return;
        list = std::move(read->list);
    } else {
        auto read = m_peers.Read<AddrV2Message>(message.payload);
        if (!read) return;
        list = std::move(read->list);
    }
    if (!Enable(peer)) {
        m_at.log.Debug(LogCategory::kNet, "ignoring {} message from {} peer={}", message.type,
                       ConnectionKindName(peer.connection.kind), peer.Id());
        return;
    }
    if (list.TooMany()) {
        return m_peers.Misbehaving(peer,
                                   fmt::format("{} message size = {}", message.type, list.Count()));
    }
    Take(peer, std::move(list.items));
}

/** Those since the last message. */
void AddressGossip::AddTokens(State& state) const
{
    const int64_t now = m_peers.Now();
    if (state.tokens < kMaxTokens) {
        const double seconds =
            std::max<double>(static_cast<double>(now - state.tokens_at) / kSecond, 0);
        state.tokens = std::min(state.tokens + seconds * kTokensPerSecond, kMaxTokens);
    }
    state.tokens_at = now;
}

void AddressGossip::Take(Peer& peer, std::vector<PeerAddress> list)
{
    State& state = m_states[peer];
    AddTokens(state);
    // If there are too many, a random part counts.
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[m_peers.Random64() % i]);
    const bool unlimited = peer.Permits(kPermitAddr);
    const bool may_relay = !state.asked && list.size() <= kMaxToRelay;
    const uint64_t processed = state.processed;
    const uint64_t limited = state.limited;
    std::vector<PeerAddress> kept;
    for (PeerAddress& address : list) {
        if (state.tokens >= 1) {
            state.tokens -= 1;
        } else if (!unlimited) {
            ++state.limited;
            continue;
        }
        if (TakeOne(peer, address, may_relay)) kept.push_back(address);
    }
    m_at.log.Debug(LogCategory::kNet,
                   "Received addr: {} addresses ({} processed, {} rate-limited) from peer={}",
                   list.size(), state.processed - processed, state.limited - limited, peer.Id());
    if (m_at.addresses) {
        m_at.addresses->Heard(kept, peer.connection.address.address, kHearsayPenalty);
    }
    if (list.size() < kMaxAddresses) state.asked = false;
    // A single one may be its own announcement.
    if (peer.Is(ConnectionKind::kAddrFetch) && list.size() > 1) {
        m_peers.Drop(peer, "addrfetch connection completed");
    }
}

/** Returns whether the address is worth keeping. */
bool AddressGossip::TakeOne(Peer& peer, PeerAddress& address, bool may_relay)
{
    const uint64_t services = address.services;
    if (!MayKnowOthers(services) && !m_peers.IsDesirable(services)) return false;
    const int64_t now = m_peers.NowSeconds();
    if (address.time <= kNeverSeen || address.time > now + kMaxAhead) {
        address.time = static_cast<uint32_t>(now - kAssumedAge);
    }
    State& state = m_states[peer];
    state.known->Insert(address.endpoint.Key());
    const NetAddress& host = address.endpoint.address;
    if (!m_at.addresses || m_at.addresses->IsUnwanted(host)) return false;
    ++state.processed;
    const bool reachable = m_at.addresses->IsReachable(host);
    if (may_relay && address.time > now - kFresh && host.IsRoutable()) {
        Relay(peer.Id(), address, reachable);
    }
    return reachable;
}

void AddressGossip::Relay(PeerId from, const PeerAddress& address, bool reachable)
{
    const NetAddress& host = address.endpoint.address;
    if (!reachable && !host.IsRelayable()) return;
    const uint64_t hash = HashOf(address.endpoint);
    // The peers of each address change at a time of its own.
    const uint64_t period = (static_cast<uint64_t>(m_peers.NowSeconds()) + hash) / kRelayPeriod;
    const SipHasher lot = SipHasher(m_relay_key).Write(hash).Write(period);
    const size_t most = reachable || (lot.Finalize() & 1) ? 2 : 1;
    std::vector<std::pair<uint64_t, Peer*>> chosen;
    for (const auto& [id, peer] : m_peers.All()) {
        const State& state = m_states[*peer];
        if (!state.known || id == from || !CanTell(state, host)) continue;
        chosen.emplace_back(SipHasher(lot).Write(static_cast<uint64_t>(id)).Finalize(), peer.get());
    }
    const size_t count = std::min(most, chosen.size());
    std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count),
                      chosen.end(), std::greater<>());
    for (size_t i = 0; i < count; ++i) Push(*chosen[i].second, address);
}

void AddressGossip::SendList(Peer& peer, const std::vector<PeerAddress>& list)
{
    if (m_states[peer].wants_v2) {
        AddrV2Message message;
        message.list.items = list;
        m_peers.Send(peer, message);
    } else {
        AddrMessage message;
        message.list.items = list;
        m_peers.Send(peer, message);
    }
}

/** Announces our address to the peer: the first time in a separate message that no limit can drop,
 *  then about once a day. */
void AddressGossip::TellOfOurselves(Peer& peer)
{
    State& state = m_states[peer];
    const int64_t now = m_peers.Now();
    if (!m_at.addresses->Listens() || state.next_self >= now) return;
    if (m_at.chain.IsInitialBlockDownload()) return;
    const bool first = state.next_self == 0;
    if (!first) state.known->Clear();
    state.next_self = now + RandomDelay(kSelfInterval);
    const auto own = m_at.addresses->OwnAddressFor(peer.connection, peer.seen_as);
    if (!own) return;
    m_at.log.Debug(LogCategory::kNet, "Advertising address {} to peer={}", own->ToString(),
                   peer.Id());
    const PeerAddress address{*own, peer.our_services, static_cast<uint32_t>(m_peers.NowSeconds())};
    if (!first) return Push(peer, address);
    if (CanTell(state, own->address)) SendList(peer, {address});
}

void AddressGossip::Maintain(Peer& peer)
{
    if (peer.Is(ConnectionKind::kAddrFetch) &&
        m_peers.NowSeconds() - peer.connected > kFetchTimeout) {
        return m_peers.Drop(peer, "addrfetch connection timeout");
    }
    State& state = m_states[peer];
    if (!m_at.addresses || !state.known) return;
    TellOfOurselves(peer);
    const int64_t now = m_peers.Now();
    if (now <= state.next_send) return;
    state.next_send = now + RandomDelay(kSendInterval);
    std::erase_if(state.to_send, [&](const PeerAddress& address) {
        const Bytes key = address.endpoint.Key();
        if (state.known->Contains(key)) return true;
        state.known->Insert(key);
        return false;
    });
    if (state.to_send.empty()) return;
    SendList(peer, std::exchange(state.to_send, {}));
}

} // namespace ibd
