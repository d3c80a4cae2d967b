// See compact_forms.h.
#include "net/peer/compact_forms.h"

namespace ibd {

const BlockView* CompactForms::Load(const HeaderNode& node)
{
    if (m_node == &node) return &m_view;
    m_node = nullptr;
    auto raw = m_at.blocks.ReadBlock(node);
    if (!raw) {
        m_at.log.Error("Cannot load block from disk: {}", raw.Message());
        return nullptr;
    }
    m_raw = std::move(*raw);
    m_ids.clear();
    m_compact.clear();
    if (!m_view.Parse(m_raw)) return nullptr;
    m_node = &node;
    return &m_view;
}

const std::vector<Wtxid>& CompactForms::WitnessIds()
{
    if (m_ids.empty()) ComputeWitnessHashes(m_view, m_ids);
    return m_ids;
}

bool CompactForms::Send(Peer& peer, const HeaderNode& node)
{
    if (!Load(node)) return false;
    if (m_compact.empty()) {
        m_compact = Encode(MakeCompactBlock(m_view, WitnessIds(), m_peers.Random64()));
    }
    m_peers.SendRaw(peer, {std::string(CompactBlockMessage::kType), m_compact});
    return true;
}

} // namespace ibd
