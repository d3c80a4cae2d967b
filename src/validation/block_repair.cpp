// See block_repair.h.
#include "validation/block_repair.h"

#include "consensus/block_check.h"
#include "validation/block_reader.h"

#include <algorithm>

namespace ibd {

namespace {

/** Damaged blocks that the log names per search; further ones are only counted. */
constexpr size_t kNamedBlocks = 10;

} // namespace

/** Lost blocks are skipped: they were already requested. */
std::vector<BlockRepair::Stored> BlockRepair::StoredIn(const std::vector<int32_t>& files) const
{
    std::vector<Stored> found;
    const SharedLock lock(m_tree.headers.mutex);
    for (size_t i = 0; i < m_tree.headers.tree.Size(); ++i) {
        HeaderNode* const node = m_tree.headers.tree.NodeAt(i);
        if (!node->HasData() || node->Failed() || m_tree.IsLost(*node)) continue;
        if (std::ranges::find(files, node->file) == files.end()) continue;
        found.push_back({node, StoredBlock(*node)});
    }
    return found;
}

/** The fault of the block on the disk; empty if it is intact. */
Found<Error> BlockRepair::FindDamage(const StoredBlock& block) const
{
    const auto loaded = LoadBlock(m_stores.blocks, block, m_chain.Params().consensus);
    if (!loaded) {
        IBD_RETURN_IF_SYSTEM_ERROR(loaded);
        return std::optional(loaded.GetError());
    }
    const bool segwit =
        block.height > 0 && block.height >= m_chain.Params().consensus.segwit_height;
    const RuleResult witness = CheckWitnessMalleation((*loaded)->view, segwit);
    if (!witness) return std::optional<Error>();
    return std::optional(
        m_stores.blocks.DamagedBlock(block.data, block.hash, block.height, witness->ToString()));
}

/** Once per block: a disk that damages every new copy would cause endless fetching. */
Result<> BlockRepair::Forget(const Stored& block, const Error& damage)
{
    const Lock lock(m_tree.headers.mutex);
    if (!m_forgotten.insert(block.node).second) {
        return SystemError("{}. It was fetched from a peer before: the disk or the memory of this "
                           "machine seems to fail",
                           damage.message);
    }
    m_tree.damaged.push_back({block.place.hash, block.place.data});
    if (m_tree.headers.active.Contains(block.node)) {
        m_tree.lost.emplace(block.node->height, block.node);
        return {};
    }
    m_tree.index.Forget(*block.node);
    m_tree.candidates.DataRemoved();
    return {};
}

Result<const HeaderNode*> BlockRepair::FindDamaged(const HeaderNode* connected,
                                                   const HeaderNode* fork)
{
    const HeaderNode* highest = nullptr;
    for (const HeaderNode* node = connected; node && node != fork; node = node->prev) {
        if (!m_chain.IsLost(*node)) {
            IBD_ASSIGN_OR_RETURN(const auto damage, FindDamage(m_chain.Where(*node)));
            if (!damage) continue;
            if (!m_chain.Options().peers_bring_blocks) return *damage;
            IBD_RETURN_IF_ERROR(ForgetDamaged());
        }
        if (!m_chain.IsLost(*node)) { // peers sent it during the search, or that was interrupted
            IBD_ASSIGN_OR_RETURN(const auto damage, FindDamage(m_chain.Where(*node)));
            if (damage) return *damage;
            continue;
        }
        if (!highest) highest = node;
    }
    return highest;
}

Result<std::vector<const HeaderNode*>> BlockRepair::ForgetDamaged()
{
    std::vector<const HeaderNode*> forgotten;
    const std::vector<int32_t> files = m_stores.blocks.TakeSuspects();
    if (files.empty()) return forgotten;
    for (const Stored& block : StoredIn(files)) {
        if (m_chain.Interrupted()) break;
        IBD_ASSIGN_OR_RETURN(const auto damage, FindDamage(block.place));
        if (!damage) continue;
        IBD_RETURN_IF_ERROR(Forget(block, *damage));
        forgotten.push_back(block.node);
        if (forgotten.size() <= kNamedBlocks) m_stores.log.Error("{}", damage->message);
    }
    (void)m_stores.blocks.TakeSuspects(); // those of this search
    if (forgotten.empty()) return forgotten;
    m_stores.log.Warning("{} stored blocks are damaged: they are fetched again from peers",
                         forgotten.size());
    return forgotten;
}

void BlockRepair::NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why)
{
    const std::string where = fmt::format(
        "{}, offset {}: {}", m_stores.blocks.BlockPath(pos.file).string(), pos.offset, why);
    const Lock lock(m_tree.headers.mutex);
    if (m_left_out.size() < kMostLeftOut) m_left_out.emplace(hash, where);
}

std::string BlockRepair::DescribeMissing(const HeaderNode& node) const
{
    const std::string block = fmt::format("block {} at height {}", node.hash.ToHex(), node.height);
    const SharedLock lock(m_tree.headers.mutex);
    const auto found = m_left_out.find(node.hash);
    if (found == m_left_out.end()) return block;
    return fmt::format("{}, which is damaged in {}", block, found->second);
}

Result<> BlockRepair::LeaveToPeers(const Error& error)
{
    if (!m_chain.Options().peers_bring_blocks) return error;
    IBD_ASSIGN_OR_RETURN(const auto forgotten, ForgetDamaged());
    return forgotten.empty() ? Result<>(error) : Result<>();
}

} // namespace ibd
