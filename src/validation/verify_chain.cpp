// See verify_chain.h.
#include "validation/verify_chain.h"

#include "consensus/block_check.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

/** Whether the block is pruned, or below the base of a snapshot and not yet received. */
bool IsAbsent(const ChainReader&, const HeaderNode& node) { return !node.HasData(); }

/** One verification: the chain, and its coins as blocks are disconnected one by one. */
class Verifier {
public:
    Verifier(ChainManager& chain, const CoinsGuard& coins, int level)
        : m_chain(chain), m_coins(coins), m_level(level),
          m_overlay(coins.Cache(), OutPointHasher(chain.Options().hash_key))
    {
    }

    Result<Verification> Down(int depth);
    /** Connects the disconnected blocks again. */
    Result<bool> Up();
    bool HasDisconnected() const { return m_lowest != nullptr; }

private:
    Verification Failed(const std::string& why)
    {
        m_chain.Log().Error("Verification error: {}", why);
        return {.sound = false};
    }
    /** Turns bad data into a finding; passes errors of the machine on. */
    template <typename T>
    Result<Verification> Judge(const Result<T>& result)
    {
        IBD_RETURN_IF_SYSTEM_ERROR(result);
        return Failed(result.Message());
    }
    Result<Verification> CheckOne(const HeaderNode& node);
    RuleResult CheckRules(const HeaderNode& node, const LoadedBlock& block) const;
    Result<Verification> Disconnect(const HeaderNode& node, const LoadedBlock& block,
                                    BlockUndo undo);
    /** Ends the check of coins at this block and logs why. */
    void StopUndoing(const HeaderNode& node, const char* why)
    {
        m_chain.Log().Info("Verification: {} at height {}; coins are checked above it only", why,
                           node.height);
        m_undo = m_found.complete = false;
    }

    ChainManager& m_chain;
    const CoinsGuard& m_coins;
    const int m_level;
    CoinsCache m_overlay;
    Verification m_found;
    bool m_undo = m_level >= 3;           //!< blocks are disconnected
    const HeaderNode* m_lowest = nullptr; //!< last disconnected block
};

RuleResult Verifier::CheckRules(const HeaderNode& node, const LoadedBlock& block) const
{
    if (m_level < 1) return std::nullopt;
    if (block.verdict) return block.verdict;
    // Not in Core: the witness commitment reveals a damaged witness.
    return ContextualCheckBlock(block.view, NodeAncestry(node.prev), m_chain.Params().consensus);
}

Result<Verification> Verifier::Disconnect(const HeaderNode& node, const LoadedBlock& block,
                                          BlockUndo undo)
{
    auto verdict = DisconnectBlock(block.view, node, m_chain.Params(), std::move(undo), m_overlay);
    if (!verdict) return Failed(verdict.Message());
    if (*verdict != DisconnectVerdict::kClean) {
        return Failed(fmt::format("coins do not match block {} at height {}", node.hash.ToHex(),
                                  node.height));
    }
    m_lowest = &node;
    return m_found;
}

Result<Verification> Verifier::CheckOne(const HeaderNode& node)
{
    const StoredBlock stored = m_chain.Where(node);
    auto block = LoadBlock(m_chain.Blocks(), stored, m_chain.Params().consensus);
    if (!block) return Judge(block);
    if (const RuleResult broken = CheckRules(node, **block)) {
        return Failed(fmt::format("block {} at height {}: {}", node.hash.ToHex(), node.height,
                                  broken->ToString()));
    }
    if (m_level < 2) return m_found;
    if (stored.undo.IsNull()) {
        if (m_undo) StopUndoing(node, "no undo data");
        return m_found;
    }
    auto undo = BlockArchive(m_chain.Blocks()).Undo(stored);
    if (!undo) return Judge(undo);
    const size_t memory = m_overlay.MemoryUsage() + m_coins.Cache().MemoryUsage();
    if (m_undo && memory > m_chain.Options().cache_bytes) {
        StopUndoing(node, "the cache (-dbcache) is full");
    }
    if (!m_undo) return m_found; // deeper blocks cannot be disconnected before this one
    return Disconnect(node, **block, std::move(*undo));
}

Result<Verification> Verifier::Down(int depth)
{
    const HeaderNode& tip = m_coins.Tip();
    for (const HeaderNode* node = &tip; node->prev && node->height > tip.height - depth;
         node = node->prev) {
        if (m_chain.Interrupted()) break;
        if (IsAbsent(m_chain.Read(), *node)) {
            m_chain.Log().Info("Verification: no block data at height {} and below", node->height);
            m_found.complete = false;
            break;
        }
        IBD_ASSIGN_OR_RETURN(const Verification one, CheckOne(*node));
        if (!one.sound) return one;
    }
    return m_found;
}

Result<bool> Verifier::Up()
{
    const HeaderNode& tip = m_coins.Tip();
    for (int height = m_lowest->height; height <= tip.height; ++height) {
        if (m_chain.Interrupted()) return true;
        const HeaderNode& node = *tip.Ancestor(height);
        IBD_ASSIGN_OR_RETURN(ScriptChecker * checker, m_chain.CheckerFor(node));
        auto block = LoadBlock(m_chain.Blocks(), m_chain.Where(node), m_chain.Params().consensus);
        if (!block) {
            IBD_ASSIGN_OR_RETURN(const Verification found, Judge(block));
            return found.sound;
        }
        BlockUndo undo;
        RuleResult violation = (*block)->verdict;
        if (!violation) {
            IBD_ASSIGN_OR_RETURN(violation, ConnectBlock((*block)->view, node, m_chain.Params(),
                                                         m_overlay, checker, undo));
        }
        if (violation) {
            return Failed(fmt::format("block {} at height {} does not connect: {}",
                                      node.hash.ToHex(), height, violation->ToString()))
                .sound;
        }
    }
    return true;
}

} // namespace

Result<Verification> VerifyChain(ChainManager& chain, int level, int blocks)
{
    if (!chain.Tip() || !chain.Tip()->prev) return Verification{};
    const CoinsGuard coins = chain.HoldCoins();
    const int height = coins.Tip().height;
    const int depth = blocks <= 0 || blocks > height ? height : blocks;
    level = std::clamp(level, 0, 4);
    chain.Log().Info("Verifying last {} blocks at level {}", depth, level);
    Verifier verifier(chain, coins, level);
    IBD_ASSIGN_OR_RETURN(Verification found, verifier.Down(depth));
    if (found.sound && !chain.Interrupted() && level >= 4 && verifier.HasDisconnected()) {
        IBD_ASSIGN_OR_RETURN(found.sound, verifier.Up());
    }
    found.complete = found.complete && !chain.Interrupted();
    if (found.sound && found.complete) {
        chain.Log().Info("Verification: checked last {} blocks at level {}", depth, level);
        if (level >= 3) chain.Log().Info("Verification: no coin database inconsistencies");
    }
    return found;
}

// The user must request the check for the rebuild, or given hints would be trusted again.
Result<> RefuseBroken(const ChainManager& chain, const CoinsDb& coins)
{
    IBD_ASSIGN_OR_RETURN(const BlockHash best, coins.BestBlock());
    const ChainReader reader = chain.Read();
    const HeaderNode* broken = nullptr; // lowest one
    bool can_go_back = true;
    for (const HeaderNode* node = reader.Find(best); node && node->Failed(); node = node->prev) {
        broken = node;
        can_go_back = can_go_back && node->HasUndo();
    }
    if (can_go_back) return {};
    return BadData("The chainstate is built on block {} at height {}, which is invalid, and there "
                   "is no undo data to go back. Please restart with {} -ibdbooster=0 to recover",
                   broken->hash.ToHex(), broken->height, chain.RebuildOption());
}

} // namespace ibd
