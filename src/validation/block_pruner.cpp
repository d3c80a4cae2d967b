// See block_pruner.h.
#include "validation/block_pruner.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kNodesAtOnce = 4096; //!< under one headers lock

void Append(std::vector<PruneLock>& all, std::vector<PruneLock> some)
{
    std::ranges::move(some, std::back_inserter(all));
}

} // namespace

Result<> BlockPruner::Load()
{
    IBD_ASSIGN_OR_RETURN(const std::optional<bool> pruned, m_stores.index.Flag(kPrunedFlag));
    m_has_pruned = pruned.value_or(false);
    if (m_has_pruned) {
        m_stores.log.Info("Loading block index db: Block files have previously been pruned");
    }
    return {};
}

Result<> BlockPruner::SetPruned()
{
    if (m_has_pruned) return {};
    IBD_RETURN_IF_ERROR(m_stores.index.SetFlag(kPrunedFlag, true));
    m_has_pruned = true;
    return {};
}

int32_t BlockPruner::LastUnlocked(const HeaderNode& connected) const
{
    std::vector<PruneLock> now;
    for (const PruneLocks* locks : m_chain.Options().prune_locks) Append(now, locks->Current());
    const PruneLimit limit = LimitOf(now, connected.height);
    if (!limit.by.empty()) {
        m_stores.log.Debug(LogCategory::kPrune, "{} limited pruning to height {}", limit.by,
                           limit.last);
    }
    return limit.last;
}

std::vector<int32_t> BlockPruner::FilesToPrune(const HeaderNode* connected) const
{
    const uint64_t target = m_chain.Options().prune_target;
    const bool automatic = target != 0 && target != kManualPruning;
    if (!automatic || !connected) return {};
    if (static_cast<uint64_t>(connected->height) <= m_chain.Params().prune_after_height) return {};
    PruneGoal goal;
    goal.target = target;
    goal.tip = connected->height;
    goal.last = LastUnlocked(*connected);
    goal.best_header = m_chain.Read().Tree().BestHeader()->height;
    goal.downloading = m_chain.IsInitialBlockDownload();
    std::vector<int32_t> files = FilesAboveTarget(m_stores.blocks.Files(), goal);
    m_stores.log.Debug(LogCategory::kPrune,
                       "target={}MiB actual={}MiB max_prune_height={}: {} blk/rev pairs go",
                       goal.target >> 20, m_stores.blocks.DiskUsage() >> 20,
                       LastToPrune(goal.tip, goal.last), files.size());
    return files;
}

std::vector<int32_t> BlockPruner::FilesBelow(const HeaderNode& connected, int32_t height) const
{
    const int32_t wanted = std::min(height, LastUnlocked(connected));
    const int32_t last = LastToPrune(connected.height, wanted);
    std::vector<int32_t> files = FilesUpTo(m_stores.blocks.Files(), last);
    m_stores.log.Info("[normal] Prune (Manual): prune_height={} removed {} blk/rev pairs", last,
                      files.size());
    return files;
}

/** The coins are on disk now, so readers can save what they have read, which they could not when
 *  the files were chosen. */
void BlockPruner::KeepLocked(std::vector<int32_t>& files) const
{
    if (files.empty()) return;
    std::vector<PruneLock> saved;
    for (PruneLocks* locks : m_chain.Options().prune_locks) Append(saved, locks->Save());
    const int32_t last = LimitOf(saved, std::numeric_limits<int32_t>::max()).last;
    const std::vector<BlockFileInfo> infos = m_stores.blocks.Files();
    std::erase_if(files, [&](int32_t n) {
        return int64_t{infos[static_cast<size_t>(n)].height_last} > last;
    });
}

Result<> BlockPruner::Prune(std::vector<int32_t> files, CoinsDb* coins)
{
    KeepLocked(files);
    if (files.empty()) return {};
    if (coins) IBD_RETURN_IF_ERROR(coins->MakeDurable());
    IBD_RETURN_IF_ERROR(SetPruned());
    // Headers added later have no stored block yet.
    const size_t headers = m_chain.Read().Tree().Size();
    for (size_t begin = 0; begin < headers; begin += kNodesAtOnce) {
        const Lock lock(m_tree.headers.mutex);
        m_tree.index.ForgetFiles(files, begin, std::min(begin + kNodesAtOnce, headers));
        m_tree.candidates.DataRemoved();
    }
    for (const int32_t n : files) m_stores.blocks.ForgetFile(n);
    IBD_RETURN_IF_ERROR(m_index.Save());
    DeleteFiles(files);
    return {};
}

/** Deletes files that are removed from the index. A failed deletion is tried again at the next
 *  start; until then the file only takes space. */
void BlockPruner::DeleteFiles(const std::vector<int32_t>& files) const
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

void BlockPruner::DeleteForgotten() const
{
    std::vector<int32_t> found;
    const std::vector<BlockFileInfo> files = m_stores.blocks.Files();
    for (int32_t n = 0; n < m_stores.blocks.LastFile(); ++n) {
        if (files[static_cast<size_t>(n)].size > 0) continue;
        const bool there = m_stores.env.Exists(m_stores.blocks.BlockPath(n)) ||
                           m_stores.env.Exists(m_stores.blocks.UndoPath(n));
        if (there) found.push_back(n);
    }
    DeleteFiles(found);
}

} // namespace ibd
