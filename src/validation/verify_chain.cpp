// ChainManager::VerifyChain: the check of what is stored, at start-up and by RPC.
#include "validation/chain_manager.h"

#include "consensus/block_check.h"

namespace ibd {

Result<Verification> ChainManager::VerifyChain(int level, int blocks)
{
    const auto lock = Lock();
    if (!Tip() || !Tip()->prev) return Verification{};
    const int depth = blocks <= 0 || blocks > Tip()->height ? Tip()->height : blocks;
    level = std::clamp(level, 0, 4);
    m_stores.log.Info("Verifying last {} blocks at level {}", depth, level);
    CoinsCache overlay(*m_cache, OutPointHasher(m_options.hash_key));
    const HeaderNode* lowest = nullptr;
    Verification found;
    IBD_ASSIGN_OR_RETURN(found, VerifyDown(level, depth, overlay, lowest));
    if (found.sound && !m_interrupt && level >= 4 && lowest) {
        IBD_ASSIGN_OR_RETURN(found.sound, VerifyUp(lowest, overlay));
    }
    found.complete = found.complete && !m_interrupt;
    if (found.sound && found.complete) {
        m_stores.log.Info("Verification: checked last {} blocks at level {}", depth, level);
        if (level >= 3) m_stores.log.Info("Verification: no coin database inconsistencies");
    }
    return found;
}

Result<Verification> ChainManager::VerifyDown(int level, int depth, CoinsCache& overlay,
                                              const HeaderNode*& lowest)
{
    const int tip_height = Tip()->height;
    const auto failed = [&](const std::string& why) {
        m_stores.log.Error("Verification error: {}", why);
        return Verification{.sound = false};
    };
    Verification found;
    bool undo = level >= 3;
    for (const HeaderNode* node = Tip(); node->prev && node->height > tip_height - depth;
         node = node->prev) {
        if (m_interrupt) return found;
        if (!node->HasData() && node->tx_count > 0) { // pruned
            m_stores.log.Info("Verification: no block data at height {} and below", node->height);
            found.complete = false;
            break;
        }
        auto block = LoadBlock(m_stores.blocks, *node, m_params.consensus);
        if (!block && block.GetError().kind == Error::Kind::kSystem) return block.GetError();
        if (!block) return failed(block.Message());
        RuleResult broken = (*block)->verdict;
        // Not in Core: it is the witness commitment that tells a damaged witness.
        if (level >= 1 && !broken) {
            broken =
                ContextualCheckBlock((*block)->view, NodeAncestry(node->prev), m_params.consensus);
        }
        if (level >= 1 && broken) {
            return failed(fmt::format("block {} at height {}: {}", node->hash.ToHex(), node->height,
                                      broken->ToString()));
        }
        if (level < 2) continue;
        if (!node->HasUndo()) {
            if (undo) {
                m_stores.log.Info("Verification: no undo data at height {} and below; coins are "
                                  "checked above it only",
                                  node->height);
                undo = found.complete = false;
            }
            continue;
        }
        auto spent = ReadUndo(*node);
        if (!spent && spent.GetError().kind == Error::Kind::kSystem) return spent.GetError();
        if (!spent) return failed(spent.Message());
        if (undo && overlay.MemoryUsage() + m_cache->MemoryUsage() > m_options.cache_bytes) {
            m_stores.log.Info("Verification: the cache (-dbcache) is full at height {}; coins are "
                              "checked above it only",
                              node->height);
            undo = found.complete = false;
        }
        if (!undo) continue; // deeper blocks cannot be taken back without this one
        auto verdict = DisconnectBlock((*block)->view, *node, m_params, std::move(*spent), overlay);
        if (!verdict) return failed(verdict.Message());
        if (*verdict != DisconnectVerdict::kClean) {
            return failed(fmt::format("coins do not match block {} at height {}",
                                      node->hash.ToHex(), node->height));
        }
        lowest = node;
    }
    return found;
}

Result<bool> ChainManager::VerifyUp(const HeaderNode* from, CoinsCache& overlay)
{
    for (int height = from->height; height <= Tip()->height; ++height) {
        if (m_interrupt) return true;
        const HeaderNode& node = *m_active[height];
        IBD_ASSIGN_OR_RETURN(ScriptChecker * checker, CheckerFor(node));
        auto block = LoadBlock(m_stores.blocks, node, m_params.consensus);
        if (!block && block.GetError().kind == Error::Kind::kSystem) return block.GetError();
        if (!block) {
            m_stores.log.Error("Verification error: {}", block.Message());
            return false;
        }
        BlockUndo undo;
        RuleResult violation = (*block)->verdict;
        if (!violation) {
            IBD_ASSIGN_OR_RETURN(
                violation, ConnectBlock((*block)->view, node, m_params, overlay, checker, undo));
        }
        if (violation) {
            m_stores.log.Error("Verification error: block {} at height {} does not connect: {}",
                               node.hash.ToHex(), height, violation->ToString());
            return false;
        }
    }
    return true;
}

} // namespace ibd
