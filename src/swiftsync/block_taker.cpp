// See block_taker.h.
#include "swiftsync/block_taker.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"
#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "util/found.h"

namespace ibd {

namespace {

FoldFailure Failed(FoldFailure::Kind kind, const HeaderNode& node, const Error& error)
{
    return {kind, error, node.height};
}

} // namespace

std::optional<FoldFailure> BlockTaker::Take(BlockSource& source, const SuppliedBlock& block,
                                            bool& kept)
{
    using Kind = FoldFailure::Kind;
    const HeaderNode& node = *block.node;
    kept = false;
    const RuleVerdict broken = Check(block);
    if (!broken) {
        const bool damaged = IsBadData(broken);
        return Failed(damaged ? Kind::kUndo : Kind::kMachine, node, broken.GetError());
    }
    if (*broken) {
        const Result<bool> go_on = source.Reject(block, **broken);
        if (!go_on) return Failed(Kind::kMachine, node, go_on.GetError());
        if (*go_on) return std::nullopt;
        return Failed(Kind::kBlock, node,
                      BadData("block {} at height {}: {}", node.hash.ToHex(), node.height,
                              (*broken)->ToString()));
    }
    if (const Result<> done = source.Keep(block, m_view); !done) {
        return Failed(Kind::kMachine, node, done.GetError());
    }
    kept = true;
    return block.fold ? CheckSpendOrder(node) : std::nullopt;
}

int64_t BlockTaker::LegacySigOps() const
{
    return m_sigops >= 0 ? m_sigops : LegacySigOpCount(m_view.Inputs(), m_view.Outputs());
}

RuleVerdict BlockTaker::Check(const SuppliedBlock& block)
{
    using Kind = RuleViolation::Kind;
    const HeaderNode& node = *block.node;
    m_sigops = -1;
    if (const Result<> parsed = m_view.Parse(block.bytes); !parsed) {
        return Violation(Kind::kUndecodable, m_view.Fault(), parsed.Message());
    }
    if (m_view.Hash() != node.hash) {
        return Violation(Kind::kMutated,
                         "another block lies in its place: " + m_view.Hash().ToHex());
    }
    if (!m_other) return block.indexed ? CheckStored(node) : CheckAnew(node);
    RuleVerdict broken = m_other(m_view, block);
    if (broken && *broken && !block.indexed) NoteMutation(**broken, node);
    return broken;
}

/** Bytes from a peer can be a mutated form of the block that the header names. This must be noticed
 *  even if another rule fails first. */
void BlockTaker::NoteMutation(RuleViolation& broken, const HeaderNode& node) const
{
    if (IsMutated(broken)) return;
    const bool segwit = BuriedActive(node.height, m_params, BuriedDeployment::kSegwit);
    if (IsBlockMutated(m_view, segwit)) broken.kind = RuleViolation::Kind::kMutated;
}

/** Checks all rules that need no coins. */
RuleResult BlockTaker::CheckAnew(const HeaderNode& node)
{
    RuleResult broken = CheckBlock(m_view, m_params, {.legacy_sigops = &m_sigops});
    if (!broken && node.prev) {
        broken = ContextualCheckBlock(m_view, NodeAncestry(node.prev), m_params);
    }
    if (broken) NoteMutation(*broken, node);
    return broken;
}

/** Checks only the rules that show whether it is still the block that was checked once. */
RuleResult BlockTaker::CheckStored(const HeaderNode& node)
{
    const BlockCheckOptions options{.check_pow = false, .legacy_sigops = &m_sigops};
    if (auto broken = CheckBlock(m_view, m_params, options)) return broken;
    if (node.prev == nullptr) return {}; // genesis is valid with any activation heights
    return CheckCoinbaseHeight(m_view, node.height, m_params);
}

/** Checks blocks to be folded only; the index's verdict on a block also ignores coins. */
std::optional<FoldFailure> BlockTaker::CheckSpendOrder(const HeaderNode& node)
{
    if (m_other) return std::nullopt;
    const auto wrong = m_order.Check(m_view.Txs());
    if (!wrong) return std::nullopt;
    const auto id = [this](size_t tx) { return m_view.Txs()[tx].txid.ToHex(); };
    return Failed(FoldFailure::Kind::kBlock, node,
                  BadData("block {} at height {}: bad-txns-inputs-missingorspent, {} spends an "
                          "output of {}, which does not come before it",
                          node.hash.ToHex(), node.height, id(wrong->spender), id(wrong->maker)));
}

} // namespace ibd
