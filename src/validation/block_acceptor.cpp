// See block_acceptor.h.
#include "validation/block_acceptor.h"

#include "consensus/block_check.h"

namespace ibd {

RuleResult BlockAcceptor::AddHeader(const BlockHeader& header, HeaderNode** out)
{
    const size_t before = m_tree.headers.tree.Size();
    IBD_RETURN_IF_VIOLATED(m_tree.headers.tree.Accept(header, m_stores.env.UnixTime(), out));
    if (m_tree.headers.tree.Size() != before) m_tree.index.MarkDirty(*out);
    return std::nullopt;
}

void BlockAcceptor::LogRefusedHeader(const BlockHeader& header, const RuleViolation& why) const
{
    if (!m_stores.log.Wants(LogLevel::kDebug, LogCategory::kValidation)) return;
    const std::string hash = header.Hash().ToHex();
    const std::string prev = header.prev_hash.ToHex();
    std::string text;
    switch (why.kind) {
    case RuleViolation::Kind::kCachedInvalid:
        text = fmt::format("AcceptBlockHeader: block {} is marked invalid", hash);
        break;
    case RuleViolation::Kind::kMissingPrev:
        text = fmt::format("header {} has prev block not found: {}", hash, prev);
        break;
    case RuleViolation::Kind::kInvalidPrev:
        text = fmt::format("header {} has prev block invalid: {}", hash, prev);
        break;
    default: {
        const bool alone = why.reason == "high-hash";
        text = fmt::format("AcceptBlockHeader: Consensus::{}: {}, {}",
                           alone ? "CheckBlockHeader" : "ContextualCheckBlockHeader", hash,
                           why.ToString());
    }
    }
    m_stores.log.Debug(LogCategory::kValidation, "{}", text);
}

RuleResult BlockAcceptor::AcceptHeader(const BlockHeader& header, const HeaderNode** out)
{
    HeaderNode* node = nullptr;
    RuleResult violation;
    {
        const Lock lock(m_tree.headers.mutex);
        violation = AddHeader(header, &node);
    }
    if (violation) {
        LogRefusedHeader(header, *violation);
    } else if (out) {
        *out = node;
    }
    return violation;
}

RuleResult BlockAcceptor::Check(const BlockView& view, HeaderNode& node, bool checked)
{
    RuleResult violation;
    if (!checked) violation = CheckBlock(view, m_params.consensus);
    // Genesis defines the network and has no ancestors to check against: it is valid regardless of
    // -testactivationheight.
    if (!violation && node.prev != nullptr) {
        violation = ContextualCheckBlock(view, NodeAncestry(node.prev), m_params.consensus);
    }
    if (violation && violation->kind != RuleViolation::Kind::kMutated) {
        m_tree.MarkInvalid(node, *violation, m_stores.log);
    }
    return violation;
}

Result<> BlockAcceptor::Store(const BlockView& view, HeaderNode& node, const FilePos* stored,
                              ReadAgain again)
{
    const auto height = static_cast<uint32_t>(node.height);
    const std::optional<BlockUndo> undo = UndoToMove(node);
    FilePos pos;
    if (stored) {
        pos = *stored;
        m_stores.blocks.AddExisting(pos, static_cast<uint32_t>(view.Raw().size()), height,
                                    node.time);
    } else {
        IBD_ASSIGN_OR_RETURN(pos, m_stores.blocks.WriteBlock(view.Raw(), height, node.time, again));
    }
    SetStored(node, pos, static_cast<uint32_t>(view.Txs().size()));
    // Without effect if the copy is in the same file, as the undo record still exists.
    return undo ? m_undo.Store(node, *undo, true) : Result<>();
}

/** The undo data of a lost block. Empty if it is unreadable: it is then made again from the blocks.
 */
std::optional<BlockUndo> BlockAcceptor::UndoToMove(const HeaderNode& node) const
{
    if (!m_chain.IsLost(node)) return std::nullopt;
    auto undo = m_chain.ReadUndo(node);
    return undo ? std::optional(std::move(*undo)) : std::nullopt;
}

void BlockAcceptor::SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count)
{
    const Lock lock(m_tree.headers.mutex);
    if (m_tree.IsLost(node)) return m_tree.Replace(node, pos);
    const bool was_pruned = node.tx_count > 0;
    m_tree.index.SetData(node, pos, tx_count);
    Link(node);
    if (!was_pruned || !m_tree.has_coins) return;
    // Stored blocks above may have waited for this one.
    for (HeaderNode* above : m_tree.headers.tree.StoredAbove(&node)) {
        if (above->IsValid(kValidTransactions) && above->HaveChainTxs()) {
            m_tree.candidates.Add(*above, m_tree.Tip());
        }
    }
}

void BlockAcceptor::Link(HeaderNode& node)
{
    for (HeaderNode* linked : m_tree.index.Link(node)) {
        // A block below the base of a snapshot, or pruned earlier, keeps its sequence number.
        if (m_tree.headers.active.Contains(linked)) continue;
        m_tree.candidates.Remove(*linked);
        m_tree.headers.tree.SetSequence(*linked, m_tree.headers.tree.NextSequenceId());
        // Otherwise AttachCoins() collects them all.
        if (m_tree.has_coins) m_tree.candidates.Add(*linked, m_tree.Tip());
    }
}

void BlockAcceptor::NotePruned(const BlockView& block, const HeaderNode& node)
{
    const Lock storing(m_storing);
    const Lock lock(m_tree.headers.mutex);
    HeaderNode& own = *m_tree.headers.tree.Find(node.hash);
    if (own.tx_count > 0) return; // it was received before and is linked
    m_tree.index.SetSeen(own, static_cast<uint32_t>(block.Txs().size()));
    Link(own);
}

Result<BlockOutcome> BlockAcceptor::AcceptSound(const SoundBlock& block, const FilePos& stored)
{
    const Lock storing(m_storing);
    BlockOutcome outcome;
    HeaderNode* node = nullptr;
    {
        const Lock lock(m_tree.headers.mutex);
        outcome.violation = AddHeader(block.header, &node);
        outcome.node = node;
        if (node && node->HasData()) return outcome;
    }
    if (outcome.violation) {
        m_news.Checked(block.header.Hash(), outcome.violation);
        return outcome;
    }
    m_stores.blocks.AddExisting(stored, block.size, static_cast<uint32_t>(node->height),
                                node->time);
    SetStored(*node, stored, block.tx_count);
    outcome.is_new = true;
    return outcome;
}

Result<BlockOutcome> BlockAcceptor::AcceptAlone(const BlockView& view, const FilePos* stored,
                                                bool checked)
{
    BlockOutcome outcome;
    HeaderNode* node = nullptr;
    {
        const Lock lock(m_tree.headers.mutex);
        outcome.violation = AddHeader(view.Header(), &node);
        outcome.node = node;
        if (!outcome.violation && node->HasData() && !m_tree.IsLost(*node)) return outcome;
    }
    if (outcome.violation) {
        LogRefusedHeader(view.Header(), *outcome.violation);
        return outcome;
    }
    outcome.violation = Check(view, *node, checked);
    if (outcome.violation) {
        m_stores.log.Error("AcceptBlock: {}", outcome.violation->ToString());
        return outcome;
    }
    IBD_RETURN_IF_ERROR(Store(view, *node, stored, ReadAgain::kSoon));
    outcome.is_new = true;
    return outcome;
}

Result<> BlockAcceptor::StoreSound(const BlockView& block, const HeaderNode& node)
{
    const Lock storing(m_storing);
    HeaderNode* own = nullptr;
    {
        const SharedLock lock(m_tree.headers.mutex);
        own = m_tree.headers.tree.Find(node.hash);
        CHECK(own == &node);
        if (own->HasData() && !m_tree.IsLost(*own)) return {};
    }
    return Store(block, *own, nullptr, ReadAgain::kLate);
}

Result<BlockOutcome> BlockAcceptor::Accept(const BlockView& view, const FilePos* stored,
                                           bool checked)
{
    Result<BlockOutcome> outcome = BlockOutcome{};
    {
        const Lock storing(m_storing);
        outcome = AcceptAlone(view, stored, checked);
    }
    if (outcome && outcome->violation) m_news.Checked(view.Hash(), outcome->violation);
    return outcome;
}

Result<BlockOutcome> BlockAcceptor::AcceptBytes(ByteSpan raw, const FilePos* stored)
{
    BlockView view;
    if (auto parsed = view.Parse(raw); !parsed) {
        BlockOutcome outcome;
        outcome.violation = Invalid("block-deserialization-failed", parsed.Message());
        return outcome;
    }
    return Accept(view, stored, false);
}

RuleResult BlockAcceptor::CheckStranger(ByteSpan raw, BlockView& view) const
{
    if (auto parsed = view.Parse(raw); !parsed) {
        return Violation(RuleViolation::Kind::kUndecodable, view.Fault(), parsed.Message());
    }
    RuleResult violation = CheckBlock(view, m_params.consensus);
    if (violation) m_news.Checked(view.Hash(), violation);
    return violation;
}

} // namespace ibd
