// See undo_keeper.h.
#include "validation/undo_keeper.h"

#include "util/found.h"
#include "validation/pruning.h"

namespace ibd {

Result<bool> UndoKeeper::HasUsable(HeaderNode& node)
{
    const StoredBlock stored = m_chain.Where(node);
    if (stored.data.IsNull() || stored.undo.IsNull()) return false;
    const Result<> sound = BlockArchive(m_stores.blocks).CheckUndo(stored);
    if (sound) return true;
    IBD_RETURN_IF_SYSTEM_ERROR(sound);
    IBD_RETURN_IF_ERROR(Forget(node, sound.Message()));
    return false;
}

// Reads each record before the first block is disconnected, so that a reorganisation never stops
// half way. Continues after a missing record, down to the records that the next start reads, so
// that all missing ones are made together.
Result<Obstacle> UndoKeeper::FindMissing(HeaderNode* connected, const HeaderNode* fork)
{
    Obstacle missing;
    const int32_t kept = connected->height - kMinBlocksToKeep;
    bool below = false; // the fork
    for (HeaderNode* node = connected; node && node->prev; node = node->prev) {
        below = below || node == fork;
        if (below && (!missing.block || node->height <= kept)) break;
        IBD_ASSIGN_OR_RETURN(const bool usable, HasUsable(*node));
        if (!usable && !missing.block) missing.block = node;
    }
    if (!missing.block) return missing;
    IBD_RETURN_IF_ERROR(m_writer.Save()); // a start that makes undo data reads it
    if (m_maker && m_maker()) missing.kind = Obstacle::Kind::kUndoIsMade;
    return missing;
}

Result<> UndoKeeper::Forget(HeaderNode& node, const std::string& why)
{
    m_stores.log.Warning("Undo data of block {} at height {} cannot be used: {}", node.hash.ToHex(),
                         node.height, why);
    // Prevents endless writing to a disk that does not keep written data.
    if (!m_forgotten.insert(&node).second) m_maker = {};
    IBD_RETURN_IF_ERROR(m_stores.blocks.ReopenUndo(node.file));
    const Lock lock(m_tree.headers.mutex);
    m_tree.index.ForgetUndo(node);
    return {};
}

/** `intact`: the record of an earlier connection was read and its checksum is right. */
Result<> UndoKeeper::Store(HeaderNode& node, const BlockUndo& undo, bool intact)
{
    const StoredBlock stored = m_chain.Where(node);
    if (!stored.undo.IsNull() && intact) return {};
    if (!stored.undo.IsNull()) {
        m_stores.log.Warning("undo data of block {} at height {} in {} is damaged: written again",
                             node.hash.ToHex(), node.height,
                             m_stores.blocks.UndoPath(stored.undo.file).string());
    }
    IBD_ASSIGN_OR_RETURN(const FilePos pos,
                         m_stores.blocks.WriteUndo(stored.data.file, undo.Encode(), node.prev->hash,
                                                   static_cast<uint32_t>(node.height)));
    const Lock lock(m_tree.headers.mutex);
    m_tree.index.SetUndo(node, pos);
    return {};
}

Result<> UndoKeeper::Put(const HeaderNode& node, const UndoRecord& undo)
{
    const StoredBlock stored = m_chain.Where(node);
    // The block may have been found damaged meanwhile. Its next copy may be in another file, where
    // its undo data must be too, so this record is of no use.
    if (!stored.undo.IsNull() || stored.data.IsNull()) return {};
    IBD_ASSIGN_OR_RETURN(const FilePos pos,
                         m_stores.blocks.WriteUndo(stored.data.file, undo,
                                                   static_cast<uint32_t>(node.height),
                                                   ReadAgain::kLate));
    const Lock lock(m_tree.headers.mutex);
    HeaderNode& now = *m_tree.headers.tree.Find(node.hash);
    if (now.HasData() && now.file == pos.file) m_tree.index.SetUndo(now, pos);
    return {};
}

} // namespace ibd
