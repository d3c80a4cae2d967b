// ChainManager: deleting block files. First everything is written, so that no coins depend on a
// block that is about to be deleted; then the files are removed from the index, durably; then they
// are deleted. A crash in between leaves files that the next start deletes.
#include "validation/chain_manager.h"

namespace ibd {

namespace {

constexpr size_t kNodesAtOnce = 4096; //!< under one headers lock

} // namespace

/** The files that -prune has no room for now. */
std::vector<int32_t> ChainManager::FilesToPrune() const
{
    const bool automatic = IsPruneMode() && m_options.prune_target != kManualPruning;
    if (!automatic || !m_connected) return {};
    const auto height = static_cast<uint64_t>(m_connected->height);
    if (height <= m_params.prune_after_height) return {};
    PruneGoal goal;
    goal.target = m_options.prune_target;
    goal.tip = m_connected->height;
    goal.best_header = Read().Tree().BestHeader()->height;
    goal.downloading = IsInitialBlockDownload();
    std::vector<int32_t> files = FilesAboveTarget(m_stores.blocks.Files(), goal);
    m_stores.log.Debug(LogCategory::kPrune,
                       "target={}MiB actual={}MiB max_prune_height={}: {} blk/rev pairs go",
                       goal.target >> 20, m_stores.blocks.DiskUsage() >> 20,
                       LastToPrune(goal.tip, goal.tip), files.size());
    return files;
}

/** Durable with the next write of the index. */
Result<> ChainManager::SetPruned()
{
    if (m_has_pruned) return {};
    IBD_RETURN_IF_ERROR(m_stores.index.SetFlag(kPrunedFlag, true));
    m_has_pruned = true;
    return {};
}

/** Everything connected must be written. */
Result<> ChainManager::Prune(const std::vector<int32_t>& files)
{
    if (files.empty()) return {};
    IBD_RETURN_IF_ERROR(SetPruned());
    const size_t headers = Read().Tree().Size(); // headers that come later have no stored block yet
    for (size_t begin = 0; begin < headers; begin += kNodesAtOnce) {
        const Lock lock(m_headers.mutex);
        m_index.ForgetFiles(files, begin, std::min(begin + kNodesAtOnce, headers));
        m_candidates.DataRemoved();
    }
    for (const int32_t n : files) m_stores.blocks.ForgetFile(n);
    IBD_RETURN_IF_ERROR(SaveIndex());
    DeleteFiles(files);
    return {};
}

/** Deletes files that are removed from the index. A failed deletion is tried again at the next
 *  start; until then the file only takes room. */
void ChainManager::DeleteFiles(const std::vector<int32_t>& files)
{
    for (const int32_t n : files) {
        if (const Result<> deleted = m_stores.blocks.DeleteFile(n); !deleted) {
            m_stores.log.Warning("a pruned file could not be deleted: {}", deleted.Message());
            continue;
        }
        m_stores.log.Debug(LogCategory::kBlockStorage,
                           "Prune: UnlinkPrunedFiles deleted blk/rev ({:05})", n);
    }
}

Result<> ChainManager::PruneTo(int32_t height)
{
    CHECK(IsPruneMode());
    const Lock state(m_state);
    if (!m_connected || height <= 0) return {};
    const int32_t last = LastToPrune(m_connected->height, height);
    const std::vector<int32_t> files = FilesUpTo(m_stores.blocks.Files(), last);
    m_stores.log.Info("[normal] Prune (Manual): prune_height={} removed {} blk/rev pairs", last,
                      files.size());
    if (files.empty()) return {};
    IBD_RETURN_IF_ERROR(WriteAll(false));
    return Prune(files);
}

/** Existing files that the index does not name. */
std::vector<int32_t> ChainManager::ForgottenFiles() const
{
    std::vector<int32_t> out;
    const std::vector<BlockFileInfo> files = m_stores.blocks.Files();
    for (int32_t n = 0; n < m_stores.blocks.LastFile(); ++n) {
        if (files[static_cast<size_t>(n)].size > 0) continue;
        const bool there = m_stores.env.Exists(m_stores.blocks.BlockPath(n)) ||
                           m_stores.env.Exists(m_stores.blocks.UndoPath(n));
        if (there) out.push_back(n);
    }
    return out;
}

Result<> ChainManager::PruneAtStart()
{
    const Lock state(m_state);
    if (m_has_pruned) DeleteFiles(ForgottenFiles());
    const std::vector<int32_t> old = FilesToPrune();
    if (old.empty()) return {};
    IBD_RETURN_IF_ERROR(WriteAll(false));
    return Prune(old);
}

std::optional<int32_t> ChainManager::LastWithoutData() const
{
    const HeaderNode* node = Tip();
    while (node && node->prev) {
        const SharedLock lock(m_headers.mutex);
        for (size_t i = 0; i < kNodesAtOnce && node->prev; ++i, node = node->prev) {
            if (!node->HasData() || !node->HasUndo()) return node->height;
        }
    }
    return std::nullopt;
}

} // namespace ibd
