// See block_tree.h.
#include "validation/block_tree.h"

#include "util/strings.h"

#include <cmath>

namespace ibd {

double Log2Work(const HeaderNode& node) { return std::log2(node.chain_work.ToDouble()); }

void BlockTree::MarkInvalid(HeaderNode& node, const RuleViolation& violation, Logger& log)
{
    log.Info("Block validation error: {}", violation.ToString());
    const auto tell = [&](const char* what, const HeaderNode& block) {
        log.Info("InvalidChainFound: {}={} height={} log2_work={:.6f} date={}", what,
                 block.hash.ToHex(), block.height, Log2Work(block), FormatIso8601(block.time));
    };
    tell("invalid block", node);
    if (Tip() != nullptr) tell("current best", *Tip());
    const Lock lock(headers.mutex);
    index.MarkFailed(&node);
    candidates.Remove(node);
    warnings.NoteInvalid(node);
}

bool BlockTree::IsLost(const HeaderNode& node) const
{
    const auto found = lost.find(node.height);
    return found != lost.end() && found->second == &node;
}

void BlockTree::Replace(HeaderNode& node, const FilePos& pos)
{
    index.MoveData(node, pos);
    lost.erase(node.height);
    // Branches that were put aside may be reached now.
    if (lost.empty()) RebuildCandidates();
}

Result<> BlockTree::BeginAt(const SnapshotStart& start, Logger& log)
{
    HeaderNode* const base = headers.tree.Find(start.data.block_hash);
    if (!base) {
        return BadData("the block index lacks block {}, the base of the snapshot in use; restart "
                       "with -reindex",
                       start.data.block_hash.ToHex());
    }
    index.LinkFrom(*base, start.data.chain_tx_count);
    historical_tip = headers.tree.Find(start.historical);
    snapshot_base = base;
    log.Info("[snapshot] set m_chain_tx_count={} for {}", base->chain_tx_count, base->hash.ToHex());
    return {};
}

} // namespace ibd
