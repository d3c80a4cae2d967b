// See chain_view.h.
#include "validation/chain_view.h"

#include "chain/assume_valid.h"
#include "chain/verification_progress.h"

namespace ibd {

namespace {

constexpr size_t kNodesAtOnce = 4096; //!< under one headers lock

} // namespace

TipInfo ChainView::Current() const
{
    const HeaderNode* const tip = Tip();
    return tip ? TipInfo{tip->hash, tip->height} : TipInfo{};
}

int32_t ChainView::KnownHeightOf(const HeaderNode& top) const
{
    return KnownHeight(Read().Tree(), top, m_options.known_valid);
}

StoredBlock ChainView::Where(const HeaderNode& node) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return StoredBlock(node);
}

std::vector<StoredBlock> ChainView::Where(const std::vector<HeaderNode*>& path) const
{
    const SharedLock lock(m_tree.headers.mutex);
    std::vector<StoredBlock> places;
    places.reserve(path.size());
    for (const HeaderNode* node : path) places.emplace_back(*node);
    return places;
}

Result<Bytes> ChainView::ReadBlock(const HeaderNode& node) const
{
    return BlockArchive(m_stores.blocks).BlockAsVector(Where(node));
}

Result<BlockUndo> ChainView::ReadUndo(const HeaderNode& node) const
{
    return BlockArchive(m_stores.blocks).Undo(Where(node));
}

bool ChainView::IsStored(const BlockHash& hash) const
{
    const SharedLock lock(m_tree.headers.mutex);
    const HeaderNode* const node = m_tree.headers.tree.Find(hash);
    return node && node->HasData();
}

const HeaderNode* ChainView::NextLost(int32_t after) const
{
    const SharedLock lock(m_tree.headers.mutex);
    const auto found = m_tree.lost.upper_bound(after);
    return found == m_tree.lost.end() ? nullptr : found->second;
}

std::vector<DamagedBlock> ChainView::Damaged(size_t known) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return {m_tree.damaged.begin() + static_cast<std::ptrdiff_t>(known), m_tree.damaged.end()};
}

bool ChainView::IsLost(const HeaderNode& node) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return m_tree.IsLost(node);
}

bool ChainView::HasHoles() const
{
    const SharedLock lock(m_tree.headers.mutex);
    for (size_t i = 0; i < m_tree.headers.tree.Size(); ++i) {
        const HeaderNode& node = *m_tree.headers.tree.NodeAt(i);
        if (node.HasData() && node.prev && !node.prev->HasData() && !node.prev->Failed()) {
            return true;
        }
    }
    return false;
}

std::optional<int32_t> ChainView::LastWithoutData() const
{
    const HeaderNode* node = Tip();
    while (node && node->prev) {
        const SharedLock lock(m_tree.headers.mutex);
        for (size_t i = 0; i < kNodesAtOnce && node->prev; ++i, node = node->prev) {
            if (!node->HasData() || !node->HasUndo()) return node->height;
        }
    }
    return std::nullopt;
}

bool ChainView::IsInitialBlockDownload() const
{
    if (!m_initial_download) return false;
    if (m_importing) return true;
    const HeaderNode* const tip = Tip();
    if (!tip || tip->chain_work < m_options.minimum_work) return true;
    if (m_stores.env.UnixTime() - tip->time > m_options.max_tip_age) return true;
    if (m_initial_download.exchange(false)) {
        m_stores.log.Info("Leaving InitialBlockDownload (latching to false)");
    }
    return false;
}

double ChainView::VerificationProgress(const HeaderNode* node) const
{
    if (!node) return 0;
    ProgressInput input{node->chain_tx_count, int64_t{node->time}, m_stores.env.UnixTime()};
    {
        const SharedLock lock(m_tree.headers.mutex);
        if (const HeaderNode* best = m_tree.headers.tree.BestHeader()) {
            input.blocks_above = best->height - node->height;
        }
    }
    return ibd::VerificationProgress(m_params, input);
}

const char* ChainView::RebuildOption() const
{
    return IsPruneMode() ? "-reindex" : "-reindex-chainstate";
}

std::string ChainView::UndoRemedy() const
{
    if (SnapshotBase())
        return fmt::format("restart with {}, without the snapshot", RebuildOption());
    if (IsPruneMode()) return "restart with -reindex, which fetches all blocks anew";
    return "restart with -ibdboosterundo=now, or with -reindex-chainstate -ibdbooster=0";
}

} // namespace ibd
