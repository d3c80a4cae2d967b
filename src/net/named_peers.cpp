// See named_peers.h.
#include "net/named_peers.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kStep = kSecond / 2; //!< between two attempts
constexpr int64_t kRetryAdded = 60 * kSecond;
constexpr int64_t kLookForAdded = 2 * kSecond;
constexpr int kMostSteps = 10; //!< pause after each of -connect, after this many rounds

} // namespace

bool NamedPeers::Add(const std::string& name, bool v2)
{
    const auto endpoint_of = [&](const std::string& text) {
        return Endpoint::Parse(text, m_calls.DefaultPort(text));
    };
    const auto endpoint = endpoint_of(name);
    for (const Added& other : m_added) {
        if (other.name == name || (endpoint && endpoint == endpoint_of(other.name))) return false;
    }
    if (m_added.size() >= kMaxAddedNodes) return false;
    m_added.push_back({name, v2});
    return true;
}

bool NamedPeers::Remove(const std::string& name)
{
    return std::erase_if(m_added, [&](const Added& added) { return added.name == name; }) > 0;
}

std::vector<AddedNode> NamedPeers::List() const
{
    std::vector<AddedNode> out;
    for (const Added& added : m_added) {
        AddedNode node;
        node.name = added.name;
        node.v2 = added.v2;
        const auto endpoint = Endpoint::Parse(added.name, m_calls.DefaultPort(added.name));
        for (const auto& [id, link] : m_state.peers.All()) {
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

bool NamedPeers::Contains(const Endpoint& endpoint) const
{
    return std::any_of(m_added.begin(), m_added.end(), [&](const Added& added) {
        return added.name == endpoint.ToString() || added.name == endpoint.address.ToString();
    });
}

void NamedPeers::Tick(int64_t now)
{
    if (now >= m_next_added) CallNextAdded(now);
    if (!m_options.connect.empty() && now >= m_next_connect) CallNextOfConnect(now);
}

/** Works in rounds over the peers that are not connected at the start of the round. */
void NamedPeers::CallNextAdded(int64_t now)
{
    if (m_added_round.empty()) {
        for (const AddedNode& node : List()) {
            if (!node.connected) m_added_round.push_back({node.name, node.v2});
        }
        if (m_added_round.empty()) {
            m_next_added = now + kLookForAdded;
            return;
        }
    }
    m_next_added = now + kStep;
    if (m_state.peers.CountAdded() + m_calls.CountAdded() >= kMaxAdded) {
        m_added_round.clear();
        return;
    }
    OutboundCall call;
    call.destination = m_added_round.front().name;
    call.v2 = m_added_round.front().v2;
    call.added = true;
    m_added_round.pop_front();
    (void)m_calls.Connect(std::move(call));
    if (m_added_round.empty()) m_next_added = now + kRetryAdded;
}

void NamedPeers::CallNextOfConnect(int64_t now)
{
    OutboundCall call;
    call.destination = m_options.connect[m_connect_position];
    call.v2 = (m_options.peers.services & kNodeP2pV2) != 0;
    (void)m_calls.Connect(std::move(call));
    m_next_connect = now + std::min(m_connect_round, kMostSteps) * kStep;
    if (++m_connect_position < m_options.connect.size()) return;
    m_connect_position = 0;
    m_connect_round = std::min(m_connect_round + 1, kMostSteps);
    m_next_connect += kStep;
}

} // namespace ibd
