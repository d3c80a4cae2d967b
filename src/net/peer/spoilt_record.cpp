// See spoilt_record.h.
#include "net/peer/spoilt_record.h"

namespace ibd {

void SpoiltRecord::Connected(Peer& peer)
{
    Shared& blocks = m_blocks[peer];
    blocks = std::make_shared<Both>();
    if (!peer.Is(ConnectionKind::kManual)) return;
    const std::string address = peer.connection.address.ToString();
    const auto known = m_by_named.find(address);
    if (known != m_by_named.end()) {
        blocks = known->second;
    } else if (m_by_named.size() < kMaxNamed) {
        m_by_named.emplace(address, blocks);
    }
}

void SpoiltRecord::Disconnected(const Peer& peer)
{
    if (!peer.Is(ConnectionKind::kManual)) return;
    m_departed.emplace_back(peer.Id(), m_blocks[peer]);
    if (m_departed.size() > kMaxDeparted) m_departed.pop_front();
}

SpoiltRecord::Both* SpoiltRecord::Find(PeerId id)
{
    if (Peer* const peer = m_peers.Find(id)) return m_blocks[*peer].get();
    const auto found = std::find_if(m_departed.begin(), m_departed.end(),
                                    [id](const auto& entry) { return entry.first == id; });
    return found == m_departed.end() ? nullptr : found->second.get();
}

void SpoiltRecord::Note(PeerId id, const HeaderNode& node, const char* how, bool with_coins)
{
    Both* const both = Find(id);
    if (!both) return;
    SpoiltBlocks& spoilt = (*both)[with_coins];
    if (!spoilt.Add(node)) return;
    const Peer* const peer = m_peers.Find(id);
    if (peer && !peer->Is(ConnectionKind::kManual)) return;
    m_peers.At().log.Warning("What {} sent for block {} ({}) {}: another peer has to send it{}",
                             peer ? m_peers.NameOf(*peer) : fmt::format("peer={}", id),
                             node.hash.ToHex(), node.height, how,
                             spoilt.IsFull() ? ", and this one is asked for no more blocks" : "");
}

} // namespace ibd
