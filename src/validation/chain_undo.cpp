// ChainManager: undo data of blocks, and the handling of missing undo data. See chain_manager.h.
#include "validation/chain_manager.h"

namespace ibd {

std::string ChainManager::UndoRemedy() const
{
    if (IsPruneMode()) return "restart with -reindex, which fetches all blocks anew";
    return "restart with -ibdboosterundo=now, or with -reindex-chainstate -ibdbooster=0";
}

Result<bool> ChainManager::HasUsableUndo(HeaderNode& node)
{
    const StoredBlock stored = Where(node);
    if (stored.data.IsNull() || stored.undo.IsNull()) return false;
    const Result<> sound = BlockArchive(m_stores.blocks).CheckUndo(stored);
    if (sound) return true;
    if (sound.GetError().kind == Error::Kind::kSystem) return sound.GetError();
    IBD_RETURN_IF_ERROR(ForgetUndo(node, sound.Message()));
    return false;
}

// Reads each record before the first block is disconnected, so that a reorganisation never stops
// half way. Goes on after a missing record, down to the records that the next start reads: all
// missing ones are made at once.
Result<Obstacle> ChainManager::FindMissingUndo(const HeaderNode* fork)
{
    Obstacle missing;
    const int32_t kept = m_connected->height - kMinBlocksToKeep;
    bool below = false; // the fork
    for (HeaderNode* node = m_connected; node && node->prev; node = node->prev) {
        below = below || node == fork;
        if (below && (!missing.block || node->height <= kept)) break;
        IBD_ASSIGN_OR_RETURN(const bool usable, HasUsableUndo(*node));
        if (!usable && !missing.block) missing.block = node;
    }
    if (!missing.block) return missing;
    IBD_RETURN_IF_ERROR(SaveIndex()); // a start that makes undo data reads it
    if (m_undo_maker && m_undo_maker()) missing.kind = Obstacle::Kind::kUndoIsMade;
    return missing;
}

Result<Obstacle> ChainManager::FindObstacle(const HeaderNode* fork)
{
    IBD_ASSIGN_OR_RETURN(const Obstacle missing, FindMissingUndo(fork));
    if (missing.block) return missing;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const damaged, FindDamaged(fork));
    return Obstacle{damaged, Obstacle::Kind::kDamaged};
}

Result<> ChainManager::ForgetUndo(HeaderNode& node, const std::string& why)
{
    m_stores.log.Warning("Undo data of block {} at height {} cannot be used: {}", node.hash.ToHex(),
                         node.height, why);
    // Prevents endless writing to a disk that does not keep written data.
    if (!m_forgotten_undo.insert(&node).second) m_undo_maker = {};
    IBD_RETURN_IF_ERROR(m_stores.blocks.ReopenUndo(node.file));
    const Lock lock(m_headers.mutex);
    m_index.ForgetUndo(node);
    return {};
}

Error ChainManager::CannotDisconnect(const HeaderNode& stuck) const
{
    m_stores.log.Error("Undo data of block {} at height {} is not stored, and a better chain forks "
                       "below it: {}",
                       stuck.hash.ToHex(), stuck.height, UndoRemedy());
    m_stores.log.Error("DisconnectBlock(): failure reading undo data");
    m_stores.log.Error("DisconnectTip(): DisconnectBlock {} failed", stuck.hash.ToHex());
    return BadData("Failed to disconnect block.");
}

void ChainManager::LeaveAside(const HeaderNode& target, const Obstacle& obstacle)
{
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_headers.mutex);
        m_warnings.NoteOutOfReach(target, *obstacle.block,
                                  obstacle.kind == Obstacle::Kind::kDamaged);
        m_candidates.RemoveForksBelow(m_headers.active, obstacle.block->height);
        news = m_warnings.TakeNews();
    }
    TellWarnings(news);
}

void ChainManager::TryLeftAside()
{
    const Lock lock(m_headers.mutex);
    m_candidates.Rebuild(m_headers.tree, Tip());
}

/** `intact`: the record of an earlier connection was read and its checksum is right. */
Result<> ChainManager::StoreUndo(HeaderNode& node, const BlockUndo& undo, bool intact)
{
    const StoredBlock stored = Where(node);
    if (!stored.undo.IsNull() && intact) return {};
    if (!stored.undo.IsNull()) {
        m_stores.log.Warning("undo data of block {} at height {} in {} is damaged: written again",
                             node.hash.ToHex(), node.height,
                             m_stores.blocks.UndoPath(stored.undo.file).string());
    }
    IBD_ASSIGN_OR_RETURN(const FilePos pos,
                         m_stores.blocks.WriteUndo(stored.data.file, undo.Encode(), node.prev->hash,
                                                   static_cast<uint32_t>(node.height)));
    const Lock lock(m_headers.mutex);
    m_index.SetUndo(node, pos);
    return {};
}

Result<> ChainManager::PutUndo(const HeaderNode& node, const UndoRecord& undo)
{
    const StoredBlock stored = Where(node);
    if (!stored.undo.IsNull()) return {};
    CHECK(!stored.data.IsNull());
    IBD_ASSIGN_OR_RETURN(
        const FilePos pos,
        m_stores.blocks.WriteUndo(stored.data.file, undo, static_cast<uint32_t>(node.height),
                                  ReadAgain::kLate));
    const Lock lock(m_headers.mutex);
    m_index.SetUndo(*m_headers.tree.Find(node.hash), pos);
    return {};
}

} // namespace ibd
