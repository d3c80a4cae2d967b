// See tip_download.h.
#include "booster/tip_download.h"

#include <algorithm>

namespace ibd {

namespace {

/** The largest block, with the overhead of a queue entry. */
constexpr size_t kRoomForBlock = 4'000'000 + sizeof(PeerBlock);

} // namespace

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
        // Missing blocks below the tip are those of the history.
        const bool needless = node.HasData() || reader.Active().Contains(&node);
        if ((needless && !lost) || node.Failed()) return true;
    }
    return m_intake.Holds(node);
}

const HeaderNode* TipDownload::NextLost(int32_t after) const
{
    const HeaderNode* lost = m_chain.NextLost(after);
    while (lost && m_intake.Holds(*lost)) lost = m_chain.NextLost(lost->height);
    const HeaderNode* const old = NextOld(after);
    if (!lost || !old) return lost ? lost : old;
    return lost->height < old->height ? lost : old;
}

int32_t TipDownload::WindowEnd() const
{
    const HeaderNode* const tip = m_chain.Tip();
    return (tip ? tip->height : 0) + kDownloadWindow;
}

void TipDownload::SetHistory(const DownloadGoal* goal, BlockSink* sink)
{
    const Lock lock(m_mutex);
    m_history = goal;
    m_history_sink = sink;
}

/** The next missing block of the history above height `after`, within the number of blocks of
 *  maximum size for which the sink has space. Null: there is none, or a block above the tip is
 *  missing, which has priority. */
const HeaderNode* TipDownload::NextOld(int32_t after) const
{
    const Lock lock(m_mutex);
    if (!m_history || NextMissing(-1)) return nullptr;
    const HeaderNode* node = nullptr;
    int32_t at = -1;
    for (size_t i = 1; i <= kMostOld && m_history_sink->HasRoom(i * kRoomForBlock); ++i) {
        node = m_history->NextMissing(at);
        if (!node || node->height > after) return node;
        at = node->height;
    }
    return nullptr;
}

bool TipDownload::Put(PeerBlock&& block)
{
    {
        const Lock lock(m_mutex);
        const bool old = m_history && !m_history->Have(*block.node);
        if (old) return m_history_sink->Put(std::move(block));
    }
    return m_intake.Put({block.node, block.peer, std::move(block.raw), block.via_compact});
}

std::vector<RefusedBlock> TipDownload::TakeRefused()
{
    std::vector<RefusedBlock> out;
    {
        const Lock lock(m_mutex);
        if (m_history_sink) out = m_history_sink->TakeRefused();
    }
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
