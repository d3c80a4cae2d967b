// See connected_peers.h.
#include "net/connected_peers.h"

#include <algorithm>

namespace ibd {

const ConnectedPeer& ConnectedPeers::Add(ConnectedPeer peer)
{
    const PeerId id = m_next++;
    peer.peer.id = id;
    peer.group = SipHasher(m_key).Write(m_groups.GroupOf(peer.peer.address.address)).Finalize();
    return m_peers[id] = std::move(peer);
}

ConnectedPeer ConnectedPeers::Take(PeerId id)
{
    const auto found = m_peers.find(id);
    CHECK(found != m_peers.end());
    ConnectedPeer out = std::move(found->second);
    m_peers.erase(found);
    return out;
}

void ConnectedPeers::SetClosing(PeerId id)
{
    if (const auto found = m_peers.find(id); found != m_peers.end()) found->second.closing = true;
}

template <typename Condition>
size_t ConnectedPeers::Count(const Condition& condition) const
{
    return static_cast<size_t>(
        std::count_if(m_peers.begin(), m_peers.end(),
                      [&](const auto& entry) { return condition(entry.second); }));
}

bool ConnectedPeers::Has(const NetAddress& address) const
{
    return Count([&](const auto& peer) { return peer.peer.address.address == address; }) > 0;
}

bool ConnectedPeers::Has(const Endpoint& endpoint) const
{
    return Count([&](const auto& peer) { return peer.peer.address == endpoint; }) > 0;
}

bool ConnectedPeers::HasName(const std::string& name) const
{
    return Count([&](const auto& peer) { return peer.peer.name == name; }) > 0;
}

size_t ConnectedPeers::CountOf(ConnectionKind kind) const
{
    return Count([&](const auto& peer) { return peer.peer.kind == kind; });
}

size_t ConnectedPeers::CountAdded() const
{
    return Count([](const auto& peer) { return peer.added; });
}

PeerCounts ConnectedPeers::Counts() const
{
    const size_t in = CountOf(ConnectionKind::kInbound);
    return {in, m_peers.size() - in};
}

} // namespace ibd
