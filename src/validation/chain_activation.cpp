// See chain_manager.h. This file: choosing the best chain, connecting and disconnecting.
#include "validation/chain_manager.h"

#include "consensus/block_check.h"
#include "util/strings.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/chrono.h>

namespace ibd {

namespace {

/** Blocks connected between two choices of the best chain. */
constexpr int kPathLength = 2048;
/** Fewer missing coins are not worth waking other threads for. */
constexpr size_t kFewestToPrefetch = 8;

/** log2 of the chain work, for people. */
double Log2Work(const HeaderNode& node) { return std::log2(node.chain_work.ToDouble()); }

} // namespace

void ChainManager::TipUpdated() { LogTip("UpdateTip", WarnOfUnknownRules()); }

void ChainManager::LogTip(const char* what, const std::string& warning) const
{
    const HeaderNode& tip = *Tip();
    m_stores.log.InfoUnlimited(
        "{}: new best={} height={} version=0x{:08x} log2_work={:.6f} tx={} "
        "date='{:%Y-%m-%dT%H:%M:%SZ}' progress={:.6f} cache={:.1f}MiB({}txo){}",
        what, tip.hash.ToHex(), tip.height, static_cast<uint32_t>(tip.version), Log2Work(tip),
        tip.chain_tx_count, fmt::gmtime(static_cast<std::time_t>(tip.time)),
        VerificationProgress(&tip), static_cast<double>(m_cache->MemoryUsage()) / (1 << 20),
        m_cache->Size(), warning.empty() ? "" : fmt::format(" warning='{}'", warning));
}

bool ChainManager::HasDataDownToChain(const HeaderNode* node) const
{
    while (node && node != m_complete && !m_active.Contains(node)) {
        if (!node->HasData()) return false;
        node = node->prev;
    }
    return true;
}

HeaderNode* ChainManager::FindBestCandidate()
{
    while (!m_candidates.empty()) {
        HeaderNode* best = *m_candidates.rbegin();
        // Failures were handed down to the descendants; data may be missing below when pruned.
        if (!best->Failed() && HasDataDownToChain(best)) {
            m_complete = best;
            return best;
        }
        if (best->Failed()) NoteInvalid(*best);
        m_candidates.erase(best);
    }
    return nullptr;
}

Result<> ChainManager::ActivateBestChain()
{
    const std::lock_guard activation(m_activation);
    while (!m_interrupt) {
        auto lock = Lock();
        const HeaderNode* start = Tip();
        // Nobody else sees a tip that is worse than before: a reorganisation keeps the lock, also
        // when it fails and the old branch is connected again.
        while (lock.owns_lock() && !m_interrupt) {
            HeaderNode* target = FindBestCandidate();
            if (Tip()) WarnOfInvalidChain();
            if (Tip()) ReviewMissingUndo();
            if (!target || target == Tip()) return Flush(FlushMode::kIfNeeded);
            IBD_RETURN_IF_ERROR(ActivateTowards(target, start, lock));
        }
    }
    return {};
}

std::vector<HeaderNode*> ChainManager::PathTo(HeaderNode* target) const
{
    const int first = Tip() ? Tip()->height + 1 : 0;
    const int last = std::min(target->height, first + kPathLength - 1);
    std::vector<HeaderNode*> path(static_cast<size_t>(last - first + 1));
    HeaderNode* node = target->Ancestor(last);
    for (size_t i = path.size(); i-- > 0; node = node->prev) path[i] = node;
    return path;
}

const HeaderNode* ChainManager::FirstWithoutUndo(const HeaderNode* fork) const
{
    int32_t present = -1; // number of a rev file that is there
    for (const HeaderNode* node = Tip(); node && node != fork && node->prev; node = node->prev) {
        if (!node->HasData() || !node->HasUndo()) return node;
        if (node->file == present) continue;
        if (!m_stores.env.Exists(m_stores.blocks.UndoPath(node->file))) return node;
        present = node->file;
    }
    return nullptr;
}

void ChainManager::LeaveAside(const HeaderNode& target, const HeaderNode& stuck)
{
    WarnOfMissingUndo(target, stuck);
    std::erase_if(m_candidates, [&](const HeaderNode* node) {
        return m_active.FindFork(node)->height < stuck.height;
    });
}

Result<> ChainManager::ActivateTowards(HeaderNode* target, const HeaderNode* start, HeldLock& lock)
{
    const HeaderNode* fork = m_active.FindFork(target);
    if (const HeaderNode* stuck = FirstWithoutUndo(fork)) {
        LeaveAside(*target, *stuck);
        return {};
    }
    while (Tip() && Tip() != fork) IBD_RETURN_IF_ERROR(DisconnectTip());
    const std::vector<HeaderNode*> path = PathTo(target);
    if (Tip() == start) lock.unlock();
    return ConnectPath(path, start, lock);
}

bool ChainManager::StillWanted(const HeaderNode& node) const
{
    if (node.Failed() || m_candidates.empty() || node.prev != Tip()) return false;
    return std::as_const(**m_candidates.rbegin()).Ancestor(node.height) == &node;
}

Result<> ChainManager::ConnectPath(const std::vector<HeaderNode*>& path, const HeaderNode* start,
                                   HeldLock& lock)
{
    BlockReader reader(m_stores.blocks, m_params.consensus, path);
    for (HeaderNode* node : path) {
        if (m_interrupt) return {};
        IBD_ASSIGN_OR_RETURN(std::unique_ptr<LoadedBlock> block, reader.Next());
        const auto own = Lock();
        // Somebody else may have marked or added a block while the lock was not held.
        if (!StillWanted(*node)) return {};
        IBD_ASSIGN_OR_RETURN(const bool connected, ConnectTip(*node, *block));
        if (!connected) return {};
        IBD_RETURN_IF_ERROR(Flush(FlushMode::kIfNeeded));
        if (lock.owns_lock() && !LessPreferred(*Tip(), *start)) lock.unlock();
    }
    return {};
}

void ChainManager::LogScriptCheck(const HeaderNode& node, ScriptCheckReason reason)
{
    if (!node.prev || m_script_check == reason) return; // genesis has no scripts to run
    m_script_check = reason;
    if (reason == ScriptCheckReason::kSkip) {
        m_stores.log.Info("Disabling script verification at block #{} ({}).", node.height,
                          node.hash.ToHex());
    } else {
        m_stores.log.Info("Enabling script verification at block #{} ({}): {}.", node.height,
                          node.hash.ToHex(), ScriptCheckReasonText(reason));
    }
}

Result<ScriptChecker*> ChainManager::CheckerFor(const HeaderNode& node)
{
    const ScriptCheckReason reason =
        ScriptCheckFor(Tree(), node, m_options.assume_valid, m_options.minimum_work);
    LogScriptCheck(node, reason);
    if (reason == ScriptCheckReason::kSkip) return static_cast<ScriptChecker*>(nullptr);
    if (m_checker) {
        m_checker->Remember(!IsInitialBlockDownload());
        return m_checker;
    }
    return SystemError("the scripts of block {} at height {} must be run ({}), and this node was "
                       "started without a script engine",
                       node.hash.ToHex(), node.height, ScriptCheckReasonText(reason));
}

Result<> ChainManager::PrefetchInputs(const BlockView& block)
{
    if (m_pool.ThreadCount() == 0) return {};
    std::vector<OutPoint> wanted;
    for (const TxView& tx : block.Txs().subspan(1)) {
        for (const InputView& input : tx.inputs) {
            const OutPoint outpoint = input.Prevout();
            if (!m_cache->Cached(outpoint)) wanted.push_back(outpoint);
        }
    }
    if (wanted.size() < kFewestToPrefetch) return {};
    // Coins of this same block are nowhere yet.
    std::unordered_set<Txid, Uint256Hasher> made;
    for (const TxView& tx : block.Txs()) made.insert(tx.txid);
    std::erase_if(wanted, [&](const OutPoint& o) { return made.contains(o.txid); });
    return m_cache->Prefetch(wanted, m_pool);
}

/** `intact`: the record of an earlier connection was read and its checksum is right. */
Result<> ChainManager::StoreUndo(HeaderNode& node, const BlockUndo& undo, bool intact)
{
    if (node.HasUndo() && intact) return {};
    if (node.HasUndo()) {
        m_stores.log.Warning("undo data of block {} at height {} in {} is damaged: written again",
                             node.hash.ToHex(), node.height,
                             m_stores.blocks.UndoPath(node.file).string());
    }
    IBD_ASSIGN_OR_RETURN(const FilePos pos,
                         m_stores.blocks.WriteUndo(node.file, undo.Encode(), node.prev->hash,
                                                   static_cast<uint32_t>(node.height)));
    node.undo_pos = pos.offset;
    node.status |= kHaveUndo;
    m_index.MarkDirty(&node);
    return {};
}

void ChainManager::MarkInvalid(HeaderNode& node, const RuleViolation& violation)
{
    m_stores.log.Info("Block validation error: {}", violation.ToString());
    const auto tell = [&](const char* what, const HeaderNode& block) {
        m_stores.log.Info("InvalidChainFound: {}={} height={} log2_work={:.6f} date={}", what,
                          block.hash.ToHex(), block.height, Log2Work(block),
                          FormatIso8601(block.time));
    };
    tell("invalid block", node);
    if (Tip() != nullptr) tell("current best", *Tip());
    m_index.MarkFailed(&node);
    m_candidates.erase(&node);
    NoteInvalid(node);
}

/** Before a block is called invalid: its hash does not cover witnesses, and when it was stored they
 *  were those it commits to. If they are not now, the file is damaged. */
Result<> ChainManager::CheckWitnessIntact(const HeaderNode& node, const BlockView& block,
                                          const RuleViolation& found) const
{
    const bool segwit = node.prev && node.height >= m_params.consensus.segwit_height;
    const RuleResult damage = CheckWitnessMalleation(block, segwit);
    if (!damage) return {};
    return m_stores.blocks.DamagedBlock(
        {node.file, node.data_pos}, node.hash, node.height,
        fmt::format("{} (found by: {})", damage->ToString(), found.reason));
}

Result<bool> ChainManager::ConnectTip(HeaderNode& node, LoadedBlock& block)
{
    IBD_ASSIGN_OR_RETURN(ScriptChecker * checker, CheckerFor(node));
    BlockUndo undo;
    Result<RuleResult> verdict = block.verdict;
    if (!block.verdict) {
        IBD_RETURN_IF_ERROR(PrefetchInputs(block.view)); // now it has a coinbase
        verdict = ConnectBlock(
            block.view, node, m_params, *m_cache, checker, undo, nullptr,
            [&](const BlockUndo& spent) { return StoreUndo(node, spent, block.undo_intact); });
        if (!verdict) return verdict.GetError();
    }
    if (*verdict) IBD_RETURN_IF_ERROR(CheckWitnessIntact(node, block.view, **verdict));
    if (m_observer) m_observer->BlockChecked(node.hash, *verdict);
    if (*verdict) {
        MarkInvalid(node, **verdict);
        return false;
    }
    // Nothing of the genesis block is ever connected, and its record says so.
    if (node.prev && node.RaiseValidity(kValidScripts)) m_index.MarkDirty(&node);
    m_active.SetTip(&node);
    PruneCandidates();
    TipUpdated();
    if (m_observer) {
        m_observer->BlockConnected(node, block.view);
        m_observer->TipChanged(node);
    }
    return true;
}

void ChainManager::PruneCandidates()
{
    while (!m_candidates.empty() && LessPreferred(**m_candidates.begin(), *Tip())) {
        m_candidates.erase(m_candidates.begin());
    }
    CHECK(!m_candidates.empty());
}

Result<> ChainManager::DisconnectTip()
{
    HeaderNode& node = *Tip();
    IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, node, m_params.consensus));
    Result<BlockUndo> undo = ReadUndo(node);
    if (!undo) {
        Error error = undo.GetError();
        const bool damaged = error.kind == Error::Kind::kBadData;
        if (damaged) error.message += "; restart with -reindex-chainstate";
        return error;
    }
    // The cache changes only when the whole block is back.
    CoinsCache before(*m_cache, OutPointHasher(m_options.hash_key));
    IBD_ASSIGN_OR_RETURN(const DisconnectVerdict verdict,
                         DisconnectBlock(block->view, node, m_params, std::move(*undo), before));
    if (verdict != DisconnectVerdict::kClean) {
        return BadData("block {} at height {}: coins and undo data disagree; restart with "
                       "-reindex-chainstate",
                       node.hash.ToHex(), node.height);
    }
    m_cache->Take(before);
    m_active.SetTip(m_active[node.height - 1]);
    if (m_observer) m_observer->BlockDisconnected(node, block->view);
    TipUpdated();
    return Flush(FlushMode::kIfNeeded);
}

Result<> ChainManager::InvalidateBlock(HeaderNode* node)
{
    {
        const std::lock_guard activation(m_activation);
        const auto lock = Lock();
        if (!node->prev) return {};
        const HeaderNode* stuck = m_active.Contains(node) ? FirstWithoutUndo(node->prev) : nullptr;
        if (stuck) {
            return BadData("Undo data of block {} at height {} is not stored; restart with "
                           "-reindex-chainstate",
                           stuck->hash.ToHex(), stuck->height);
        }
        while (m_active.Contains(node)) IBD_RETURN_IF_ERROR(DisconnectTip());
        m_index.MarkFailed(node);
        NoteInvalid(*node);
        RebuildCandidates();
        if (m_observer) m_observer->TipChanged(*Tip());
    }
    return ActivateBestChain();
}

Result<> ChainManager::ReconsiderBlock(HeaderNode* node)
{
    {
        const auto lock = Lock();
        m_index.ClearFailure(node);
        if (m_best_invalid && !m_best_invalid->Failed()) m_best_invalid = nullptr;
        RebuildCandidates();
    }
    return ActivateBestChain();
}

Result<> ChainManager::PreciousBlock(HeaderNode* node)
{
    {
        const auto lock = Lock();
        if (!Tip() || node->chain_work < Tip()->chain_work) return {};
        // Once the chain has grown, earlier calls no longer count.
        if (m_precious_work < Tip()->chain_work) m_next_precious = -1;
        m_precious_work = Tip()->chain_work;
        m_candidates.erase(node);
        Tree().SetSequence(*node, m_next_precious--);
        if (node->IsValid(kValidTransactions) && node->HaveChainTxs()) m_candidates.insert(node);
        PruneCandidates();
    }
    return ActivateBestChain();
}

} // namespace ibd
