// See network_impl.h: peers named by the user, by -connect, -addnode or the RPC call: connects to
// them again and again.
#include "net/network_impl.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kStep = kSecond / 2; //!< between two attempts
constexpr int64_t kRetryAdded = 60 * kSecond;
constexpr int64_t kLookForAdded = 2 * kSecond;
constexpr int kMostSteps = 10; //!< pause after each of -connect, after this many rounds

} // namespace

bool PeerNetwork::Impl::AddNode(const std::string& name, bool v2)
{
    const auto endpoint_of = [&](const std::string& text) {
        return Endpoint::Parse(text, DefaultPort(text));
    };
    const auto endpoint = endpoint_of(name);
    for (const Added& other : m_added) {
        if (other.name == name || (endpoint && endpoint == endpoint_of(other.name))) return false;
    }
    if (m_added.size() >= kMaxAddedNodes) return false;
    m_added.push_back({name, v2});
    return true;
}

bool PeerNetwork::Impl::RemoveNode(const std::string& name)
{
    return std::erase_if(m_added, [&](const Added& added) { return added.name == name; }) > 0;
}

std::vector<PeerNetwork::AddedNode> PeerNetwork::Impl::AddedNodes() const
{
    std::vector<AddedNode> out;
    for (const Added& added : m_added) {
        AddedNode node;
        node.name = added.name;
        node.v2 = added.v2;
        const auto endpoint = Endpoint::Parse(added.name, DefaultPort(added.name));
        for (const auto& [id, link] : m_links) {
            const bool is_it = endpoint && endpoint->address.IsValid()
                                   ? link.peer.address == *endpoint
                                   : link.peer.name == added.name;
            if (!is_it) continue;
            node.connected = true;
            node.address = link.peer.address;
            node.inbound = link.peer.kind == ConnectionKind::kInbound;
        }
        out.push_back(std::move(node));
    }
    return out;
}

void PeerNetwork::Impl::TickNamed(int64_t now)
{
    if (now >= m_next_added) CallNextAdded(now);
    if (!m_options.connect.empty() && now >= m_next_connect) CallNextOfConnect(now);
}

/** Works in rounds over the peers that are not connected at the start of the round. */
void PeerNetwork::Impl::CallNextAdded(int64_t now)
{
    if (m_added_round.empty()) {
        for (const AddedNode& node : AddedNodes()) {
            if (!node.connected) m_added_round.push_back({node.name, node.v2});
        }
        if (m_added_round.empty()) {
            m_next_added = now + kLookForAdded;
            return;
        }
    }
    m_next_added = now + kStep;
    const auto is_added = [](const auto& entry) { return entry.second.added; };
    const auto taken = std::count_if(m_links.begin(), m_links.end(), is_added) +
                       std::count_if(m_calls.begin(), m_calls.end(),
                                     [&](const auto& entry) { return entry.second.call.added; });
    if (taken >= kMaxAdded) {
        m_added_round.clear();
        return;
    }
    Call call;
    call.destination = m_added_round.front().name;
    call.v2 = m_added_round.front().v2;
    call.added = true;
    m_added_round.pop_front();
    (void)Connect(std::move(call));
    if (m_added_round.empty()) m_next_added = now + kRetryAdded;
}

void PeerNetwork::Impl::CallNextOfConnect(int64_t now)
{
    Call call;
    call.destination = m_options.connect[m_connect_position];
    call.v2 = (m_options.peers.services & kNodeP2pV2) != 0;
    (void)Connect(std::move(call));
    m_next_connect = now + std::min(m_connect_round, kMostSteps) * kStep;
    if (++m_connect_position < m_options.connect.size()) return;
    m_connect_position = 0;
    m_connect_round = std::min(m_connect_round + 1, kMostSteps);
    m_next_connect += kStep;
}

} // namespace ibd
