// See chain_manager.h. This file: accepting headers and blocks, and views.
#include "validation/chain_manager.h"

#include "chain/verification_progress.h"
#include "consensus/block_check.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

ChainManager::ChainManager(const ChainParams& params, ChainStores stores,
                           ChainManagerOptions options, const std::atomic<bool>& interrupt)
    : m_params(params), m_stores(stores), m_options(options), m_interrupt(interrupt),
      m_headers(params), m_index(m_headers.tree, stores.index),
      m_pool("prevout", options.threads > 1 ? options.threads - 1 : 0)
{
    m_last_flush = m_stores.env.MonotonicMicros();
}

ChainManager::~ChainManager() = default;

RuleResult ChainManager::AddHeader(const BlockHeader& header, HeaderNode** out)
{
    const size_t before = m_headers.tree.Size();
    IBD_RETURN_IF_VIOLATED(m_headers.tree.Accept(header, m_stores.env.UnixTime(), out));
    if (m_headers.tree.Size() != before) m_index.MarkDirty(*out);
    return std::nullopt;
}

void ChainManager::LogRefusedHeader(const BlockHeader& header, const RuleViolation& why) const
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

RuleResult ChainManager::AcceptHeader(const BlockHeader& header, const HeaderNode** out)
{
    HeaderNode* node = nullptr;
    RuleResult violation;
    {
        const Lock lock(m_headers.mutex);
        violation = AddHeader(header, &node);
    }
    if (violation) {
        LogRefusedHeader(header, *violation);
    } else if (out) {
        *out = node;
    }
    return violation;
}

RuleResult ChainManager::Check(const BlockView& view, HeaderNode& node, bool checked)
{
    RuleResult violation;
    if (!checked) violation = CheckBlock(view, m_params.consensus);
    // Genesis defines the network and has no ancestors to check against: it is valid whatever
    // -testactivationheight says.
    if (!violation && node.prev != nullptr) {
        violation = ContextualCheckBlock(view, NodeAncestry(node.prev), m_params.consensus);
    }
    if (violation && violation->kind != RuleViolation::Kind::kMutated) {
        MarkInvalid(node, *violation);
    }
    return violation;
}

Result<> ChainManager::Store(const BlockView& view, HeaderNode& node, const FilePos* stored,
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
    // Without effect where the copy is in the same file: the record is still there.
    return undo ? StoreUndo(node, *undo, true) : Result<>();
}

void ChainManager::SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count)
{
    const Lock lock(m_headers.mutex);
    if (IsLostHeld(node)) return Replace(node, pos);
    const bool was_pruned = node.tx_count > 0;
    m_index.SetData(node, pos, tx_count);
    Link(node);
    if (!was_pruned || !m_has_coins) return;
    // Stored blocks above may have waited for this one.
    for (HeaderNode* above : m_headers.tree.StoredAbove(&node)) {
        if (above->IsValid(kValidTransactions) && above->HaveChainTxs()) {
            m_candidates.Add(*above, Tip());
        }
    }
}

void ChainManager::Link(HeaderNode& node)
{
    for (HeaderNode* linked : m_index.Link(node)) {
        m_candidates.Remove(*linked);
        m_headers.tree.SetSequence(*linked, m_headers.tree.NextSequenceId());
        // Otherwise AttachCoins() collects them all.
        if (m_has_coins) m_candidates.Add(*linked, Tip());
    }
}

Result<> ChainManager::NotePruned(const BlockView& block, const HeaderNode& node)
{
    const Lock storing(m_storing);
    IBD_RETURN_IF_ERROR(SetPruned());
    const Lock lock(m_headers.mutex);
    HeaderNode& own = *m_headers.tree.Find(node.hash);
    if (own.tx_count > 0) return {}; // it was seen before and is linked
    m_index.SetSeen(own, static_cast<uint32_t>(block.Txs().size()));
    Link(own);
    return {};
}

void ChainManager::TellChecked(const BlockHash& hash, const RuleResult& verdict)
{
    if (m_observer) m_observer->BlockChecked(hash, verdict);
}

Result<BlockOutcome> ChainManager::AcceptSound(const SoundBlock& block, const FilePos& stored)
{
    const Lock storing(m_storing);
    BlockOutcome outcome;
    HeaderNode* node = nullptr;
    {
        const Lock lock(m_headers.mutex);
        outcome.violation = AddHeader(block.header, &node);
        outcome.node = node;
        if (node && node->HasData()) return outcome;
    }
    if (outcome.violation) {
        TellChecked(block.header.Hash(), outcome.violation);
        return outcome;
    }
    m_stores.blocks.AddExisting(stored, block.size, static_cast<uint32_t>(node->height),
                                node->time);
    SetStored(*node, stored, block.tx_count);
    outcome.is_new = true;
    return outcome;
}

Result<BlockOutcome> ChainManager::AcceptAlone(const BlockView& view, const FilePos* stored,
                                               bool checked)
{
    BlockOutcome outcome;
    HeaderNode* node = nullptr;
    {
        const Lock lock(m_headers.mutex);
        outcome.violation = AddHeader(view.Header(), &node);
        outcome.node = node;
        if (!outcome.violation && node->HasData() && !IsLostHeld(*node)) return outcome;
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

Result<> ChainManager::StoreSound(const BlockView& block, const HeaderNode& node)
{
    const Lock storing(m_storing);
    HeaderNode* own = nullptr;
    {
        const SharedLock lock(m_headers.mutex);
        own = m_headers.tree.Find(node.hash);
        CHECK(own == &node);
        if (own->HasData() && !IsLostHeld(*own)) return {};
    }
    return Store(block, *own, nullptr, ReadAgain::kLate);
}

Result<BlockOutcome> ChainManager::Accept(const BlockView& view, const FilePos* stored,
                                          bool checked)
{
    Result<BlockOutcome> outcome = BlockOutcome{};
    {
        const Lock storing(m_storing);
        outcome = AcceptAlone(view, stored, checked);
    }
    if (outcome && outcome->violation) TellChecked(view.Hash(), outcome->violation);
    return outcome;
}

Result<BlockOutcome> ChainManager::AcceptBlock(ByteSpan raw, const FilePos* stored)
{
    BlockView view;
    if (auto parsed = view.Parse(raw); !parsed) {
        BlockOutcome outcome;
        outcome.violation = Invalid("block-deserialization-failed", parsed.Message());
        return outcome;
    }
    return Accept(view, stored, false);
}

/** Checks that need only the bytes; `view` is parsed from them. */
RuleResult ChainManager::CheckStranger(ByteSpan raw, BlockView& view)
{
    if (auto parsed = view.Parse(raw); !parsed) {
        return Violation(RuleViolation::Kind::kUndecodable, view.Fault(), parsed.Message());
    }
    RuleResult violation = CheckBlock(view, m_params.consensus);
    if (violation) TellChecked(view.Hash(), violation);
    return violation;
}

void ChainManager::LogRefused(const RuleViolation& violation) const
{
    m_stores.log.Error("ProcessNewBlock: AcceptBlock FAILED ({})", violation.ToString());
}

Result<BlockOutcome> ChainManager::TakeBlock(ByteSpan raw)
{
    BlockOutcome outcome;
    BlockView view;
    outcome.violation = CheckStranger(raw, view);
    if (!outcome.violation) {
        IBD_ASSIGN_OR_RETURN(outcome, Accept(view, nullptr, true));
    }
    if (!outcome.violation || outcome.violation->kind == RuleViolation::Kind::kUndecodable) {
        return outcome;
    }
    if (outcome.violation->kind == RuleViolation::Kind::kMutated) {
        m_stores.log.Debug(LogCategory::kValidation, "Block mutated: {}",
                           outcome.violation->ToString());
    } else {
        LogRefused(*outcome.violation);
    }
    return outcome;
}

Result<BlockOutcome> ChainManager::ProcessBlock(ByteSpan raw)
{
    BlockOutcome outcome;
    BlockView view;
    outcome.violation = CheckStranger(raw, view);
    if (outcome.violation) {
        LogRefused(*outcome.violation);
        return outcome;
    }
    const Lock activation(m_activation);
    IBD_ASSIGN_OR_RETURN(outcome, Accept(view, nullptr, true));
    if (outcome.violation) {
        LogRefused(*outcome.violation);
        return outcome;
    }
    {
        const Lock state(m_state);
        m_submitted = outcome.node;
        m_submitted_verdict.reset();
    }
    IBD_RETURN_IF_ERROR(Activate({}));
    const Lock state(m_state);
    m_submitted = nullptr;
    outcome.verdict = m_submitted_verdict;
    return outcome;
}

TipInfo ChainManager::Current() const
{
    const HeaderNode* const tip = Tip();
    return tip ? TipInfo{tip->hash, tip->height} : TipInfo{};
}

// clang cannot follow that the guard keeps the lock which is taken here.
CoinsGuard ChainManager::HoldCoins() const
{
    std::shared_lock lock(m_state);
    return {std::move(lock), *m_cache, *m_connected};
}

bool ChainManager::IsInitialBlockDownload() const
{
    if (!m_initial_download) return false;
    if (m_importing) return true;
    const HeaderNode* const tip = Tip();
    if (!tip || tip->chain_work < m_options.minimum_work) return true;
    if (tip->time < m_stores.env.UnixTime() - m_options.max_tip_age) return true;
    if (m_initial_download.exchange(false)) {
        m_stores.log.Info("Leaving InitialBlockDownload (latching to false)");
    }
    return false;
}

double ChainManager::VerificationProgress(const HeaderNode* node) const
{
    if (!node) return 0;
    ProgressInput input{node->chain_tx_count, int64_t{node->time}, m_stores.env.UnixTime()};
    {
        const SharedLock lock(m_headers.mutex);
        if (const HeaderNode* best = m_headers.tree.BestHeader()) {
            input.blocks_above = best->height - node->height;
        }
    }
    return ibd::VerificationProgress(m_params, input);
}

bool ChainManager::HasFailed(const HeaderNode& node) const
{
    const SharedLock lock(m_headers.mutex);
    return node.Failed();
}

StoredBlock ChainManager::Where(const HeaderNode& node) const
{
    const SharedLock lock(m_headers.mutex);
    return StoredBlock(node);
}

Result<Bytes> ChainManager::ReadBlock(const HeaderNode& node) const
{
    return BlockArchive(m_stores.blocks).Block(Where(node));
}

Result<BlockUndo> ChainManager::ReadUndo(const HeaderNode& node) const
{
    return BlockArchive(m_stores.blocks).Undo(Where(node));
}

} // namespace ibd
