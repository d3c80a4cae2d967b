// See private_peers.h.
#include "net/private_peers.h"

namespace ibd {

namespace {

constexpr ConnectionKind kKind = ConnectionKind::kPrivateBroadcast;

} // namespace

/** One attempt at a time. */
void PrivatePeers::Tick(int64_t now)
{
    if (m_relay.Missing() == 0 || now < m_next || !m_state.MayConnect() || IsFull()) return;
    const auto way = ChooseWay();
    if (!way) {
        m_next = now + kWithoutNetwork;
        m_at.log.Warning(
            "Unable to open -privatebroadcast connections: neither Tor nor I2P is reachable");
        return;
    }
    const auto address = ChooseAddress(way->network);
    if (address) return Call(*way, *address);
    m_next = now + kAfterBadAddresses;
    m_at.log.Debug(LogCategory::kPrivateBroadcast,
                   "Connections needed but addrman keeps returning bad addresses, will retry");
}

bool PrivatePeers::IsFull() const
{
    const auto most = static_cast<size_t>(m_state.options.MaxPrivatePeers());
    return m_calls.CountOf(kKind) != 0 || m_state.peers.CountOf(kKind) >= most;
}

/** A proxy for onion addresses need not be Tor. Once it has connected us to an onion service it
 *  must be Tor, so IPv4 and IPv6 are safe through it too. */
std::optional<PrivatePeers::Way> PrivatePeers::ChooseWay()
{
    using enum AddressNetwork;
    const NetworkWays& ways = m_state.ways;
    std::vector<Way> found;
    if (ways.reachable.Contains(kOnion)) {
        found.push_back({kOnion, {}});
        const auto tor = ways.proxies.find(kOnion);
        for (const AddressNetwork network : {kIpv4, kIpv6}) {
            if (!m_relay.TorWorks() || tor == ways.proxies.end()) break;
            if (ways.reachable.Contains(network)) found.push_back({network, tor->second});
        }
    }
    if (ways.reachable.Contains(kI2p)) found.push_back({kI2p, {}});
    if (found.empty()) return std::nullopt;
    return found[m_state.chance.Below(found.size())];
}

std::optional<PeerAddress> PrivatePeers::ChooseAddress(AddressNetwork network) const
{
    for (int i = 0; i < kMaxTries; ++i) {
        const auto choice =
            m_addresses.Others().Select(false, NetworkSet{network}, m_state.NowSeconds());
        if (!choice) return std::nullopt;
        const NetAddress& address = choice->address.endpoint.address;
        if (address.IsValid() && !m_addresses.Own().Contains(address)) return choice->address;
    }
    return std::nullopt;
}

void PrivatePeers::Call(const Way& way, const PeerAddress& address)
{
    std::string target = address.endpoint.ToString();
    if (way.proxy) target += " through the proxy at " + way.proxy->ToString();
    OutboundCall call;
    call.kind = kKind;
    call.address = address;
    call.count_failure = true;
    call.v2 = (address.services & m_state.options.peers.services & kNodeP2pV2) != 0;
    call.proxy = way.proxy;
    call.ended = [this, target](bool ok) {
        if (!ok) Failed(target);
    };
    if (!m_calls.Connect(std::move(call))) Failed(target);
}

void PrivatePeers::Failed(const std::string& target)
{
    m_next = m_at.env.MonotonicMicros() + kAfterFailure;
    const size_t missing = m_relay.Missing();
    if (missing == 0) {
        m_at.log.Debug(LogCategory::kPrivateBroadcast,
                       "Failed to connect to {}, will not retry, no more connections needed",
                       target);
    } else {
        m_at.log.Debug(LogCategory::kPrivateBroadcast,
                       "Failed to connect to {}, will retry to a different address; remaining "
                       "connections to open: {}",
                       target, missing);
    }
}

} // namespace ibd
