// See outbound_plan.h.
#include "net/peer/outbound_plan.h"

#include "net/address/services.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kSecond = 1'000'000; //!< microseconds

bool IsPrivate(const NetAddress& address)
{
    return address.IsPrivacyNetwork() || address.Is(AddressNetwork::kCjdns);
}

bool MayKnowOthers(uint64_t services) { return services & (kNodeNetwork | kNodeNetworkLimited); }

} // namespace

bool IsBadPort(uint16_t port)
{
    static constexpr uint16_t kPorts[] = {
        1,    7,    9,    11,   13,   15,   17,   19,   20,    21,   22,   23,   25,   37,   42,
        43,   53,   69,   77,   79,   87,   95,   101,  102,   103,  104,  109,  110,  111,  113,
        115,  117,  119,  123,  135,  137,  139,  143,  161,   179,  389,  427,  465,  512,  513,
        514,  515,  526,  530,  531,  532,  540,  548,  554,   556,  563,  587,  601,  636,  989,
        990,  993,  995,  1719, 1720, 1723, 2049, 3306, 3389,  3659, 4045, 5060, 5061, 5432, 5900,
        6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080, 27017};
    return std::binary_search(std::begin(kPorts), std::end(kPorts), port);
}

OutboundLimits::OutboundLimits(int connections)
    : full_relay(std::min(kFullRelay, connections)),
      block_relay(std::min(kBlockRelay, connections - full_relay)),
      all(std::min(full_relay + block_relay + kFeelers, connections)),
      inbound(std::max(0, connections - full_relay - block_relay - kFeelers))
{
}

OutboundPlan::OutboundPlan(OutboundSurroundings surroundings, OutboundLimits limits,
                           std::vector<PeerAddress> anchors, const Hash32& seed, int64_t now)
    : m_at(std::move(surroundings)), m_limits(limits), m_anchors(std::move(anchors)),
      m_chance(seed), m_next_feeler(now + Delay(kFeelerInterval)),
      m_next_extra_block(now + Delay(kExtraBlockInterval)),
      m_next_extra_network(now + Delay(kExtraNetworkInterval))
{
}

int64_t OutboundPlan::Delay(int64_t mean)
{
    const double chance = static_cast<double>(m_chance.U64() >> 11) * 0x1p-53;
    return static_cast<int64_t>(-std::log1p(-chance) * static_cast<double>(mean));
}

// Inbound peers do not count: an attacker can have as many as there are slots.
OutboundPlan::Counts OutboundPlan::Count(const OutboundView& view) const
{
    Counts out;
    for (const OutboundPeer& peer : view.peers) {
        const bool full = peer.kind == ConnectionKind::kOutboundFullRelay;
        const bool block = peer.kind == ConnectionKind::kBlockRelay;
        const bool manual = peer.kind == ConnectionKind::kManual;
        out.full_relay += full;
        out.block_relay += block;
        if (full || manual) ++out.by_network[peer.address.Network()];
        if (!full && !block && !manual) continue;
        if (IsPrivate(peer.address)) {
            ++out.private_networks;
        } else {
            out.groups.insert(m_at.groups.GroupOf(peer.address));
        }
    }
    return out;
}

std::optional<OutboundPlan::Aim> OutboundPlan::ChooseAim(const OutboundView& view,
                                                         const Counts& counts)
{
    const int blocks = m_limits.block_relay + view.extra_block_relay;
    if (!m_anchors.empty() && counts.block_relay < m_limits.block_relay) {
        return Aim{ConnectionKind::kBlockRelay, true, {}};
    }
    if (counts.full_relay < m_limits.full_relay) return Aim{};
    if (counts.block_relay < blocks) return Aim{ConnectionKind::kBlockRelay, false, {}};
    if (view.try_another) return Aim{};
    if (view.synced && view.now > m_next_extra_block) {
        m_next_extra_block = view.now + Delay(kExtraBlockInterval);
        return Aim{ConnectionKind::kBlockRelay, false, {}};
    }
    if (view.now > m_next_feeler) {
        m_next_feeler = view.now + Delay(kFeelerInterval);
        return Aim{ConnectionKind::kFeeler, false, {}};
    }
    const bool usual = m_limits.full_relay == OutboundLimits::kFullRelay;
    if (usual && counts.full_relay == m_limits.full_relay && view.now > m_next_extra_network) {
        if (const auto network = MissingNetwork(counts)) {
            m_next_extra_network = view.now + Delay(kExtraNetworkInterval);
            return Aim{ConnectionKind::kOutboundFullRelay, false, network};
        }
    }
    return std::nullopt;
}

/** A reachable network with known addresses but without a peer. */
std::optional<AddressNetwork> OutboundPlan::MissingNetwork(const Counts& counts)
{
    std::vector<AddressNetwork> missing;
    for (const auto network : {AddressNetwork::kIpv4, AddressNetwork::kIpv6, AddressNetwork::kOnion,
                               AddressNetwork::kI2p, AddressNetwork::kCjdns}) {
        if (m_at.reachable.Contains(network) && !counts.by_network.contains(network) &&
            m_at.addresses.Size(network) != 0) {
            missing.push_back(network);
        }
    }
    if (missing.empty()) return std::nullopt;
    return missing[m_chance.Below(missing.size())];
}

std::optional<OutboundChoice> OutboundPlan::Next(const OutboundView& view)
{
    const Counts counts = Count(view);
    const auto aim = ChooseAim(view, counts);
    if (!aim) return std::nullopt;
    m_at.addresses.ResolveCollisions(view.now / kSecond);
    OutboundChoice out;
    out.kind = aim->kind;
    std::optional<PeerAddress> address;
    if (aim->anchor) address = TakeAnchor(counts);
    if (!address) address = ChooseAddress(view, *aim, counts);
    if (!address) return std::nullopt;
    out.address = *address;
    const std::string text = out.address.endpoint.ToString();
    if (aim->kind == ConnectionKind::kFeeler) {
        m_at.log.Debug(LogCategory::kNet, "Making feeler connection to {}", text);
    }
    if (aim->network) {
        m_at.log.Debug(LogCategory::kNet, "Making network specific connection to {} on {}.", text,
                       AddressNetworkName(*aim->network));
    }
    // With a single group the cause may be our own connection.
    const int distinct = static_cast<int>(counts.groups.size()) + counts.private_networks;
    const int automatic = m_limits.inbound + m_limits.all;
    out.count_failure = distinct >= std::min(automatic - 1, 2);
    return out;
}

std::optional<PeerAddress> OutboundPlan::TakeAnchor(const Counts& counts)
{
    while (!m_anchors.empty()) {
        const PeerAddress anchor = m_anchors.back();
        m_anchors.pop_back();
        const NetAddress& address = anchor.endpoint.address;
        if (!address.IsValid() || m_at.is_local(address)) continue;
        if (!m_at.reachable.Contains(address.Network())) continue;
        if (!m_at.is_desirable(anchor.services)) continue;
        if (counts.groups.contains(m_at.groups.GroupOf(address))) continue;
        m_at.log.Debug(LogCategory::kNet, "Trying to make an anchor connection to {}",
                       anchor.endpoint.ToString());
        return anchor;
    }
    return std::nullopt;
}

std::optional<AddrMan::Choice> OutboundPlan::Draw(const OutboundView& view, const Aim& aim)
{
    const int64_t now = view.now / kSecond;
    if (aim.kind != ConnectionKind::kFeeler) {
        const NetworkSet networks = aim.network ? NetworkSet{*aim.network} : m_at.reachable;
        return m_at.addresses.Select(false, networks, now);
    }
    if (auto choice = m_at.addresses.SelectTriedCollision()) {
        const Endpoint& endpoint = choice->address.endpoint;
        const bool connected =
            std::any_of(view.peers.begin(), view.peers.end(),
                        [&](const OutboundPeer& peer) { return peer.address == endpoint.address; });
        if (!connected) return choice;
        // A connected address is known to work.
        (void)m_at.addresses.Good(endpoint, now);
    }
    return m_at.addresses.Select(true, m_at.reachable, now);
}

std::optional<PeerAddress> OutboundPlan::ChooseAddress(const OutboundView& view, const Aim& aim,
                                                       const Counts& counts)
{
    for (int tries = 1; tries <= kMaxTries; ++tries) {
        const auto choice = Draw(view, aim);
        if (!choice) return std::nullopt;
        const NetAddress& address = choice->address.endpoint.address;
        const bool feeler = aim.kind == ConnectionKind::kFeeler;
        if (!feeler && counts.groups.contains(m_at.groups.GroupOf(address))) continue;
        if (!address.IsValid() || m_at.is_local(address)) return std::nullopt;
        if (Fits(*choice, aim, tries, view.now / kSecond)) return choice->address;
    }
    return std::nullopt;
}

bool OutboundPlan::Fits(const AddrMan::Choice& choice, const Aim& aim, int tries, int64_t now) const
{
    const PeerAddress& address = choice.address;
    const NetAddress& host = address.endpoint.address;
    if (!m_at.reachable.Contains(host.Network())) return false;
    if (now - choice.last_try < kLately && tries < kTriesForOld) return false;
    const bool feeler = aim.kind == ConnectionKind::kFeeler;
    if (feeler ? !MayKnowOthers(address.services) : !m_at.is_desirable(address.services)) {
        return false;
    }
    const bool ip = host.Is(AddressNetwork::kIpv4) || host.Is(AddressNetwork::kIpv6);
    if (tries < kTriesForPorts && ip && IsBadPort(address.endpoint.port)) return false;
    if (!m_at.is_added(address.endpoint)) return true;
    m_at.log.Debug(LogCategory::kNet,
                   "Not making automatic {}{} connection to {} peer selected for manual (addnode) "
                   "connection{}",
                   aim.network ? "network-specific " : "", ConnectionKindName(aim.kind),
                   AddressNetworkName(host.Network()),
                   m_at.log_addresses ? ": " + address.endpoint.ToString() : "");
    return false;
}

} // namespace ibd
