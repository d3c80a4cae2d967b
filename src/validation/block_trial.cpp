// ChainManager::TestBlock: checks a block without accepting it.
#include "validation/chain_manager.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"

namespace ibd {

namespace {

/** The node that a header on `prev` would get, outside the tree. */
HeaderNode NodeOn(const BlockView& block, HeaderNode& prev)
{
    HeaderNode node;
    node.hash = block.Hash();
    node.prev = &prev;
    node.height = prev.height + 1;
    node.version = block.Header().version;
    node.time = block.Header().time;
    node.bits = block.Header().bits;
    return node;
}

} // namespace

RuleVerdict ChainManager::TestBlock(const BlockView& block, bool check_merkle_root)
{
    const Lock state(m_state);
    if (block.Header().prev_hash != m_connected->hash) {
        return RuleResult(Invalid("inconclusive-not-best-prevblk"));
    }
    BlockCheckOptions checks;
    checks.check_pow = false;
    checks.check_merkle_root = check_merkle_root;
    const NodeAncestry branch(m_connected);
    const ConsensusParams& params = Params().consensus;
    RuleResult found = CheckBlock(block, params, checks);
    if (!found) {
        found = ContextualCheckBlockHeader(block.Header(), branch, params, m_stores.env.UnixTime());
    }
    if (!found) found = ContextualCheckBlock(block, branch, params);
    if (found) return found;
    const HeaderNode node = NodeOn(block, *m_connected);
    CoinsCache overlay(*m_cache, OutPointHasher(Options().hash_key));
    BlockUndo undo;
    ScriptChecker* const checker = m_scripts.Checker();
    if (checker) {
        checker->Remember(true); // the block is likely to come soon
        checker->Batch(false);
    }
    return ConnectBlock(block, node, Params(), overlay, checker, undo);
}

} // namespace ibd
