// See chain_manager.h. This file: connecting one block on the tip, and disconnecting the tip.
#include "validation/chain_manager.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"
#include "util/found.h"

#include <fmt/chrono.h>

namespace ibd {

namespace {

/** Called before a block is declared invalid: its hash does not cover witnesses, but they matched
 *  their commitment when it was stored. If they do not now, the file is damaged. */
Result<> CheckWitnessIntact(const BlockStore& blocks, const ConsensusParams& params,
                            const HeaderNode& node, const BlockView& block,
                            const RuleViolation& found)
{
    const bool segwit = node.prev && node.height >= params.segwit_height;
    const RuleResult damage = CheckWitnessMalleation(block, segwit);
    if (!damage) return {};
    return blocks.DamagedBlock({node.file, node.data_pos}, node.hash, node.height,
                               fmt::format("{} (found by: {})", damage->ToString(), found.reason));
}

} // namespace

void ChainManager::LogTip(const std::string& warning) const
{
    const HeaderNode& tip = *m_connected;
    m_stores.log.InfoUnlimited(
        "UpdateTip: new best={} height={} version=0x{:08x} log2_work={:.6f} tx={} "
        "date='{:%Y-%m-%dT%H:%M:%SZ}' progress={:.6f} cache={:.1f}MiB({}txo){}",
        tip.hash.ToHex(), tip.height, static_cast<uint32_t>(tip.version), Log2Work(tip),
        tip.chain_tx_count, fmt::gmtime(static_cast<std::time_t>(tip.time)),
        VerificationProgress(&tip), static_cast<double>(m_cache->MemoryUsage()) / (1 << 20),
        m_cache->Size(), warning.empty() ? "" : fmt::format(" warning='{}'", warning));
}

/** The verdict on the next tip; on success the coins are at it. */
RuleVerdict ChainManager::Judge(HeaderNode& node, LoadedBlock& block)
{
    IBD_ASSIGN_OR_RETURN(ScriptChecker * checker, CheckerFor(node));
    RuleResult verdict = block.verdict;
    if (!verdict) {
        IBD_RETURN_IF_ERROR(
            m_prefetch.Read(block.view, *m_cache)); // checked before: it has a coinbase
        BlockUndo undo;
        IBD_ASSIGN_OR_RETURN(verdict, ConnectBlock(block.view, node, Params(), *m_cache, checker,
                                                   undo, nullptr, [&](const BlockUndo& spent) {
                                                       return m_undo.Store(node, spent,
                                                                           block.undo_intact);
                                                   }));
    }
    if (verdict) {
        IBD_RETURN_IF_ERROR(
            CheckWitnessIntact(m_stores.blocks, Params().consensus, node, block.view, *verdict));
    }
    if (&node == m_submitted) m_submitted_verdict = verdict;
    m_news.Checked(node.hash, verdict);
    return verdict;
}

Result<bool> ChainManager::ConnectTip(HeaderNode& node, LoadedBlock& block, bool shown)
{
    IBD_ASSIGN_OR_RETURN(const RuleResult verdict, Judge(node, block));
    if (verdict) {
        m_tree.MarkInvalid(node, *verdict, m_stores.log);
        return false;
    }
    SetTip(node, shown);
    return true;
}

/** Sets the block of the coins to `node`. `shown`: other threads see the new tip. */
void ChainManager::SetTip(HeaderNode& node, bool shown)
{
    const bool connected = node.prev == m_connected;
    m_connected = &node;
    ++m_steps;
    {
        const Lock lock(m_tree.headers.mutex);
        if (shown) m_tree.headers.SetTip(&node);
        if (connected) {
            // The index record of the genesis block never gets this status.
            if (node.prev && node.RaiseValidity(kValidScripts)) m_tree.index.MarkDirty(&node);
            m_tree.candidates.Prune(node);
            CHECK(!m_tree.candidates.Empty());
        }
    }
    LogTip(NoteUnknownRules());
}

/** Makes the block of the coins the visible tip. */
void ChainManager::ShowTip()
{
    {
        const Lock lock(m_tree.headers.mutex);
        m_tree.headers.SetTip(Connected());
    }
    m_news.Tip(*Connected());
}

/** Returns rules that will be active soon, for the log. */
std::string ChainManager::NoteUnknownRules()
{
    if (IsInitialBlockDownload()) return {};
    const auto rules = UnknownActivations(NodeAncestry(m_connected), Params(), m_version_bits);
    if (rules.empty()) return {};
    std::string expected;
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_tree.headers.mutex);
        expected = m_tree.warnings.NoteUnknownRules(rules);
        news = m_tree.warnings.TakeNews();
    }
    m_news.Warnings(news);
    return expected;
}

/** Reads the disk and notifies observers without the lock of the coins. */
Result<> ChainManager::DisconnectTip()
{
    HeaderNode& node = *Connected();
    const StoredBlock stored = Where(node);
    IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, stored, Params().consensus));
    Result<BlockUndo> undo = BlockArchive(m_stores.blocks).Undo(stored);
    if (!undo) {
        Error error = undo.GetError();
        const bool damaged = IsBadData(error);
        if (damaged) error.message += fmt::format("; restart with {}", RebuildOption());
        return error;
    }
    IBD_RETURN_IF_ERROR(Disconnect(node, block->view, std::move(*undo)));
    m_news.Disconnected(node, block->view);
    return {};
}

Result<> ChainManager::Disconnect(HeaderNode& node, const BlockView& block, BlockUndo undo)
{
    const Lock state(m_state);
    // The cache changes only when the whole block is undone.
    CoinsCache before(*m_cache, OutPointHasher(Options().hash_key));
    IBD_ASSIGN_OR_RETURN(const DisconnectVerdict verdict,
                         DisconnectBlock(block, node, Params(), std::move(undo), before));
    if (verdict != DisconnectVerdict::kClean) {
        return BadData("block {} at height {}: coins and undo data disagree; restart with "
                       "-reindex-chainstate",
                       node.hash.ToHex(), node.height);
    }
    m_cache->Take(before);
    SetTip(*node.prev, false);
    return FlushHeld(FlushMode::kIfNeeded);
}

} // namespace ibd
