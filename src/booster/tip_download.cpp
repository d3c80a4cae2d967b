// See tip_download.h.
#include "booster/tip_download.h"

#include <algorithm>

namespace ibd {

const HeaderNode* TipDownload::NextMissing(int32_t after) const
{
    const ChainReader reader = m_chain.Read();
    const HeaderNode* const best = reader.Tree().BestHeader();
    const HeaderNode* const fork = LastCommonAncestor(best, reader.Tip());
    const int32_t first = std::max(after, fork ? fork->height : -1) + 1;
    // One block beyond the window shows that the window ends there.
    const int32_t last = std::min(best->height, WindowEnd() + 1);
    for (int32_t height = first; height <= last; ++height) {
        const HeaderNode* const node = best->Ancestor(height);
        if (!node->HasData() && !m_intake.Holds(*node)) return node;
    }
    return nullptr;
}

bool TipDownload::Have(const HeaderNode& node) const
{
    const bool lost = m_chain.IsLost(node);
    {
        const ChainReader reader = m_chain.Read();
        if ((node.HasData() && !lost) || node.Failed()) return true;
    }
    return m_intake.Holds(node);
}

const HeaderNode* TipDownload::NextLost(int32_t after) const
{
    const HeaderNode* node = m_chain.NextLost(after);
    while (node && m_intake.Holds(*node)) node = m_chain.NextLost(node->height);
    return node;
}

int32_t TipDownload::WindowEnd() const
{
    const HeaderNode* const tip = m_chain.Tip();
    return (tip ? tip->height : 0) + kDownloadWindow;
}

bool TipDownload::Put(PeerBlock&& block)
{
    return m_intake.Put({block.node, block.peer, std::move(block.raw), block.via_compact});
}

std::vector<RefusedBlock> TipDownload::TakeRefused()
{
    std::vector<RefusedBlock> out;
    for (BlockIntake::Refused& refused : m_intake.TakeRefused()) {
        out.push_back({refused.node, refused.source, std::move(refused.why), refused.via_compact,
                       refused.bytes});
    }
    return out;
}

std::vector<TakenBlock> TipDownload::TakeTaken()
{
    std::vector<TakenBlock> out;
    for (const BlockIntake::Taken& taken : m_intake.TakeTaken()) {
        out.push_back({taken.node, taken.source, taken.connected});
    }
    return out;
}

} // namespace ibd
