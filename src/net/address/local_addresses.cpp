// See local_addresses.h.
#include "net/address/local_addresses.h"

#include "net/address/socket_address.h"

#include <ifaddrs.h>
#include <net/if.h>

namespace ibd {

namespace {

bool IsPrivacy(AddressNetwork network)
{
    return network == AddressNetwork::kOnion || network == AddressNetwork::kI2p;
}

} // namespace

bool LocalAddresses::Add(const Endpoint& endpoint, int score)
{
    const NetAddress& address = endpoint.address;
    if (!address.IsRoutable() || (!m_discover && score < kManual)) return false;
    // Others may reach us over a network without outbound connections (-onlynet).
    if (score < kManual && !m_reachable.Contains(address.Network())) return false;
    if (m_log_addresses) m_log.Info("AddLocal({},{})", endpoint.ToString(), score);
    const auto found = m_entries.find(address);
    if (found == m_entries.end()) {
        if (m_entries.size() >= kMax) return false;
        m_entries[address] = {endpoint.port, score};
    } else if (score >= found->second.score) {
        found->second = {endpoint.port, score + 1};
    }
    return true;
}

void LocalAddresses::Remove(const NetAddress& address)
{
    if (m_log_addresses) m_log.Info("RemoveLocal({})", address.ToString());
    m_entries.erase(address);
}

void LocalAddresses::Seen(const NetAddress& address)
{
    const auto found = m_entries.find(address);
    if (found == m_entries.end()) return;
    int& score = found->second.score;
    if (score < std::numeric_limits<int>::max()) ++score;
}

int LocalAddresses::ScoreOf(const NetAddress& address) const
{
    const auto found = m_entries.find(address);
    return found == m_entries.end() ? 0 : found->second.score;
}

std::optional<Endpoint> LocalAddresses::BestFor(const NetAddress& peer,
                                                AddressNetwork peer_network) const
{
    std::optional<Endpoint> best;
    std::pair<int, int> best_rank{-1, -1};
    for (const auto& [address, entry] : m_entries) {
        const bool is_private = address.IsPrivacyNetwork() || IsPrivacy(peer_network);
        if (is_private && address.Network() != peer_network) continue;
        const std::pair rank{address.ReachabilityFrom(peer), entry.score};
        if (rank <= best_rank) continue;
        best_rank = rank;
        best = Endpoint{address, entry.port};
    }
    return best;
}

std::vector<NetAddress> InterfaceAddresses()
{
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, ::freeifaddrs);
    std::vector<NetAddress> out;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
        if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP)) continue;
        if (entry->ifa_flags & IFF_LOOPBACK) continue;
        if (const auto endpoint = FromSocketAddress(entry->ifa_addr)) {
            out.push_back(endpoint->address);
        }
    }
    return out;
}

} // namespace ibd
