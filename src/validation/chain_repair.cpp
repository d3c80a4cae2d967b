// ChainManager: damaged stored blocks. With a network they are fetched again. An I/O error does not
// count as damage: the block on the disk may be intact.
#include "consensus/block_check.h"
#include "validation/chain_manager.h"

#include <algorithm>

namespace ibd {

namespace {

/** Damaged blocks that the log names per search; further ones are only counted. */
constexpr size_t kNamedBlocks = 10;

} // namespace

/** Lost blocks are left out: their fetching has begun. */
std::vector<ChainManager::Stored> ChainManager::StoredIn(const std::vector<int32_t>& files) const
{
    std::vector<Stored> found;
    const SharedLock lock(m_headers.mutex);
    for (size_t i = 0; i < m_headers.tree.Size(); ++i) {
        HeaderNode* const node = m_headers.tree.NodeAt(i);
        if (!node->HasData() || node->Failed() || IsLostHeld(*node)) continue;
        if (std::ranges::find(files, node->file) == files.end()) continue;
        found.push_back({node, StoredBlock(*node)});
    }
    return found;
}

/** The fault of the block on the disk; empty if it is intact. */
Result<std::optional<Error>> ChainManager::FindDamage(const StoredBlock& block) const
{
    const auto loaded = LoadBlock(m_stores.blocks, block, m_params.consensus);
    if (!loaded) {
        if (loaded.GetError().kind == Error::Kind::kSystem) return loaded.GetError();
        return std::optional(loaded.GetError());
    }
    const bool segwit = block.height > 0 && block.height >= m_params.consensus.segwit_height;
    const RuleResult witness = CheckWitnessMalleation((*loaded)->view, segwit);
    if (!witness) return std::optional<Error>();
    return std::optional(
        m_stores.blocks.DamagedBlock(block.data, block.hash, block.height, witness->ToString()));
}

/** Once per block: a disk that damages every new copy would cause endless fetching. */
Result<> ChainManager::ForgetBlock(const Stored& block, const Error& damage)
{
    const Lock lock(m_headers.mutex);
    if (!m_forgotten.insert(block.node).second) {
        return SystemError("{}. It was fetched from a peer before: the disk or the memory of this "
                           "machine seems to fail",
                           damage.message);
    }
    if (m_headers.active.Contains(block.node)) {
        m_lost.emplace(block.node->height, block.node);
        return {};
    }
    m_index.Forget(*block.node);
    m_candidates.DataRemoved();
    return {};
}

bool ChainManager::IsLostHeld(const HeaderNode& node) const
{
    const auto found = m_lost.find(node.height);
    return found != m_lost.end() && found->second == &node;
}

bool ChainManager::IsLost(const HeaderNode& node) const
{
    const SharedLock lock(m_headers.mutex);
    return IsLostHeld(node);
}

const HeaderNode* ChainManager::NextLost(int32_t after) const
{
    const SharedLock lock(m_headers.mutex);
    const auto found = m_lost.upper_bound(after);
    return found == m_lost.end() ? nullptr : found->second;
}

void ChainManager::Replace(HeaderNode& node, const FilePos& pos)
{
    m_index.MoveData(node, pos);
    m_lost.erase(node.height);
    // Branches that were put aside may be reached now.
    if (m_lost.empty()) m_candidates.Rebuild(m_headers.tree, Tip());
}

/** Empty also if it is unreadable: undo data is then made from the blocks. */
std::optional<BlockUndo> ChainManager::UndoToMove(const HeaderNode& node) const
{
    if (!IsLost(node)) return std::nullopt;
    auto undo = ibd::ReadUndo(m_stores.blocks, Where(node));
    return undo ? std::optional(std::move(*undo)) : std::nullopt;
}

Result<const HeaderNode*> ChainManager::FindDamaged(const HeaderNode* fork)
{
    const HeaderNode* highest = nullptr;
    for (const HeaderNode* node = m_connected; node && node != fork; node = node->prev) {
        if (!IsLost(*node)) {
            IBD_ASSIGN_OR_RETURN(const auto damage, FindDamage(Where(*node)));
            if (!damage) continue;
            if (!m_options.peers_bring_blocks) return *damage;
            IBD_RETURN_IF_ERROR(ForgetDamaged());
            if (!IsLost(*node)) return *damage;
        }
        if (!highest) highest = node;
    }
    return highest;
}

Result<std::vector<const HeaderNode*>> ChainManager::ForgetDamaged()
{
    std::vector<const HeaderNode*> forgotten;
    const std::vector<int32_t> files = m_stores.blocks.TakeSuspects();
    if (files.empty()) return forgotten;
    for (const Stored& block : StoredIn(files)) {
        if (m_interrupt) break;
        IBD_ASSIGN_OR_RETURN(const auto damage, FindDamage(block.place));
        if (!damage) continue;
        IBD_RETURN_IF_ERROR(ForgetBlock(block, *damage));
        forgotten.push_back(block.node);
        if (forgotten.size() <= kNamedBlocks) m_stores.log.Error("{}", damage->message);
    }
    (void)m_stores.blocks.TakeSuspects(); // those of this search
    if (forgotten.empty()) return forgotten;
    m_stores.log.Warning("{} stored blocks are damaged: they are fetched again from peers",
                         forgotten.size());
    return forgotten;
}

void ChainManager::NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why)
{
    const std::string where = fmt::format(
        "{}, offset {}: {}", m_stores.blocks.BlockPath(pos.file).string(), pos.offset, why);
    const Lock lock(m_headers.mutex);
    if (m_left_out.size() < kMostLeftOut) m_left_out.emplace(hash, where);
}

std::string ChainManager::DescribeMissing(const HeaderNode& node) const
{
    const std::string block = fmt::format("block {} at height {}", node.hash.ToHex(), node.height);
    const SharedLock lock(m_headers.mutex);
    const auto found = m_left_out.find(node.hash);
    if (found == m_left_out.end()) return block;
    return fmt::format("{}, which is damaged in {}", block, found->second);
}

bool ChainManager::HasHoles() const
{
    const SharedLock lock(m_headers.mutex);
    for (size_t i = 0; i < m_headers.tree.Size(); ++i) {
        const HeaderNode& node = *m_headers.tree.NodeAt(i);
        if (node.HasData() && node.prev && !node.prev->HasData() && !node.prev->Failed()) {
            return true;
        }
    }
    return false;
}

bool ChainManager::IsStored(const BlockHash& hash) const
{
    const SharedLock lock(m_headers.mutex);
    const HeaderNode* const node = m_headers.tree.Find(hash);
    return node && node->HasData();
}

Result<> ChainManager::LeaveToPeers(const Error& error)
{
    if (!m_options.peers_bring_blocks) return error;
    IBD_ASSIGN_OR_RETURN(const auto forgotten, ForgetDamaged());
    return forgotten.empty() ? Result<>(error) : Result<>();
}

} // namespace ibd
