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
/** Below this number of missing coins other threads are not woken. */
constexpr size_t kFewestToPrefetch = 8;

/** log2 of the chain work, for display. */
double Log2Work(const HeaderNode& node) { return std::log2(node.chain_work.ToDouble()); }

} // namespace

void ChainManager::LogTip(const char* what, const std::string& warning) const
{
    const HeaderNode& tip = *m_connected;
    m_stores.log.InfoUnlimited(
        "{}: new best={} height={} version=0x{:08x} log2_work={:.6f} tx={} "
        "date='{:%Y-%m-%dT%H:%M:%SZ}' progress={:.6f} cache={:.1f}MiB({}txo){}",
        what, tip.hash.ToHex(), tip.height, static_cast<uint32_t>(tip.version), Log2Work(tip),
        tip.chain_tx_count, fmt::gmtime(static_cast<std::time_t>(tip.time)),
        VerificationProgress(&tip), static_cast<double>(m_cache->MemoryUsage()) / (1 << 20),
        m_cache->Size(), warning.empty() ? "" : fmt::format(" warning='{}'", warning));
}

void ChainManager::TellWarnings(const std::vector<ChainWarnings::News>& news)
{
    for (const auto& [warning, text] : news) {
        if (!text.empty()) m_stores.log.Warning("{}", text);
        if (!m_observer) continue;
        text.empty() ? m_observer->WarningCleared(warning) : m_observer->WarningSet(warning, text);
    }
}

/** Chooses the best candidate and notes the warnings about other branches. */
HeaderNode* ChainManager::ChooseTarget()
{
    const bool downloading = IsInitialBlockDownload();
    HeaderNode* best = nullptr;
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_headers.mutex);
        std::vector<const HeaderNode*> failed;
        best = m_candidates.Best(m_headers.active, failed);
        for (const HeaderNode* node : failed) m_warnings.NoteInvalid(*node);
        if (m_connected) m_warnings.Review(*m_connected, downloading);
        news = m_warnings.TakeNews();
    }
    TellWarnings(news);
    return best;
}

Result<> ChainManager::ActivateBestChain(const Pause& pause)
{
    const Lock activation(m_activation);
    return Activate(pause);
}

Result<> ChainManager::Activate(const Pause& pause)
{
    while (!m_interrupt && !(pause && pause())) {
        std::vector<HeaderNode*> path;
        {
            const Lock state(m_state);
            HeaderNode* const target = ChooseTarget();
            if (!target || target == m_connected) return FlushHeld(FlushMode::kIfNeeded);
            if (m_connected && target->Ancestor(m_connected->height) != m_connected) {
                IBD_RETURN_IF_ERROR(Reorganise());
                continue;
            }
            path = PathTo(*target);
        }
        IBD_RETURN_IF_ERROR(Extend(path, pause));
    }
    return {};
}

std::vector<HeaderNode*> ChainManager::PathTo(HeaderNode& target) const
{
    const int first = m_connected ? m_connected->height + 1 : 0;
    const int last = std::min(target.height, first + kPathLength - 1);
    std::vector<HeaderNode*> path(static_cast<size_t>(last - first + 1));
    HeaderNode* node = target.Ancestor(last);
    for (size_t i = path.size(); i-- > 0; node = node->prev) path[i] = node;
    return path;
}

std::vector<StoredBlock> ChainManager::Where(const std::vector<HeaderNode*>& path) const
{
    const SharedLock lock(m_headers.mutex);
    std::vector<StoredBlock> places;
    places.reserve(path.size());
    for (const HeaderNode* node : path) places.emplace_back(*node);
    return places;
}

const char* ChainManager::RebuildOption() const
{
    return IsPruneMode() ? "-reindex" : "-reindex-chainstate";
}

// Other threads never see a tip that is worse than before: the reorganisation is one change, also
// if it fails and the old branch is connected again.
Result<> ChainManager::Reorganise()
{
    const HeaderNode& start = *m_connected;
    do {
        HeaderNode* const target = ChooseTarget();
        if (!target || target == m_connected) break;
        const HeaderNode* const fork = LastCommonAncestor(m_connected, target);
        IBD_ASSIGN_OR_RETURN(const Obstacle obstacle, FindObstacle(fork));
        if (obstacle.block && obstacle.kind == Obstacle::Kind::kNoUndo) {
            return CannotDisconnect(*obstacle.block);
        }
        if (obstacle.block) {
            LeaveAside(*target, obstacle);
            continue;
        }
        while (m_connected != fork) IBD_RETURN_IF_ERROR(DisconnectTip());
        IBD_RETURN_IF_ERROR(ConnectHeld(*target, start));
    } while (!m_interrupt && IsWorse(*m_connected, start));
    if (m_connected != Tip()) ShowTip(); // interrupted, or no branch as good is left
    return {};
}

bool ChainManager::IsWorse(const HeaderNode& node, const HeaderNode& other) const
{
    const SharedLock lock(m_headers.mutex);
    return LessPreferred(node, other);
}

bool ChainManager::StillWanted(const HeaderNode& node) const
{
    const SharedLock lock(m_headers.mutex);
    return !node.Failed() && node.prev == m_connected && m_candidates.LeadsToBest(node);
}

/** Connects blocks up to the first one that makes the tip as good as `start`. */
Result<> ChainManager::ConnectHeld(HeaderNode& target, const HeaderNode& start)
{
    const std::vector<HeaderNode*> path = PathTo(target);
    BlockReader reader(m_stores.blocks, m_params.consensus, Where(path));
    for (HeaderNode* node : path) {
        if (m_interrupt) return {};
        Result<std::unique_ptr<LoadedBlock>> block = reader.Next();
        if (!block) return LeaveToPeers(block.GetError());
        if (!StillWanted(*node)) return {};
        const bool good = !IsWorse(*node, start);
        const Result<bool> connected = ConnectTip(*node, **block, good);
        if (!connected) return LeaveToPeers(connected.GetError());
        if (!*connected) return {};
        IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
        if (good) return {};
    }
    return {};
}

/** Connects blocks on the tip, and releases the coins after each. */
Result<> ChainManager::Extend(const std::vector<HeaderNode*>& path, const Pause& pause)
{
    BlockReader reader(m_stores.blocks, m_params.consensus, Where(path));
    for (HeaderNode* node : path) {
        if (m_interrupt || (pause && pause())) return {};
        Result<std::unique_ptr<LoadedBlock>> block = reader.Next();
        if (!block) return LeaveToPeers(block.GetError());
        const Lock state(m_state);
        // Another thread may have marked or added a block meanwhile.
        if (!StillWanted(*node)) return {};
        const Result<bool> connected = ConnectTip(*node, **block, true);
        if (!connected) return LeaveToPeers(connected.GetError());
        if (!*connected) return {};
        IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
    }
    return {};
}

void ChainManager::LogScriptCheck(const HeaderNode& node, ScriptCheckReason reason)
{
    if (!node.prev || m_script_check.exchange(reason) == reason) return; // genesis has no scripts
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
        ScriptCheckFor(Read().Tree(), node, m_options.assume_valid, m_options.minimum_work);
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
    // Coins of this block itself are in no database.
    std::unordered_set<Txid, Uint256Hasher> made;
    for (const TxView& tx : block.Txs()) made.insert(tx.txid);
    std::erase_if(wanted, [&](const OutPoint& o) { return made.contains(o.txid); });
    return m_cache->Prefetch(wanted, m_pool);
}

Result<> ChainManager::NoteBroken(const HeaderNode& node)
{
    {
        const Lock lock(m_headers.mutex);
        m_broken = &node;
        m_index.MarkDirty(&node);
    }
    return FlushIndex();
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
    const Lock lock(m_headers.mutex);
    m_index.MarkFailed(&node);
    m_candidates.Remove(node);
    m_warnings.NoteInvalid(node);
}

/** Called before a block is declared invalid: its hash does not cover witnesses, but they matched
 *  their commitment when it was stored. If they do not now, the file is damaged. */
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

/** The verdict on the next tip; on success the coins are at it. */
Result<RuleResult> ChainManager::Judge(HeaderNode& node, LoadedBlock& block)
{
    IBD_ASSIGN_OR_RETURN(ScriptChecker * checker, CheckerFor(node));
    RuleResult verdict = block.verdict;
    if (!verdict) {
        IBD_RETURN_IF_ERROR(PrefetchInputs(block.view)); // checked before: it has a coinbase
        BlockUndo undo;
        IBD_ASSIGN_OR_RETURN(verdict, ConnectBlock(block.view, node, m_params, *m_cache, checker,
                                                   undo, nullptr, [&](const BlockUndo& spent) {
                                                       return StoreUndo(node, spent,
                                                                        block.undo_intact);
                                                   }));
    }
    if (verdict) IBD_RETURN_IF_ERROR(CheckWitnessIntact(node, block.view, *verdict));
    if (&node == m_submitted) m_submitted_verdict = verdict;
    TellChecked(node.hash, verdict);
    return verdict;
}

Result<bool> ChainManager::ConnectTip(HeaderNode& node, LoadedBlock& block, bool shown)
{
    IBD_ASSIGN_OR_RETURN(const RuleResult verdict, Judge(node, block));
    if (verdict) {
        MarkInvalid(node, *verdict);
        return false;
    }
    SetTip(node, shown);
    if (m_observer) m_observer->BlockConnected(node, block.view);
    if (m_observer && shown) m_observer->TipChanged(node);
    return true;
}

/** The coins are at `node`. `shown`: other threads see the new tip. */
void ChainManager::SetTip(HeaderNode& node, bool shown)
{
    const bool connected = node.prev == m_connected;
    m_connected = &node;
    ++m_steps;
    {
        const Lock lock(m_headers.mutex);
        if (shown) m_headers.SetTip(&node);
        if (connected) {
            // The genesis block is never connected, as its record says.
            if (node.prev && node.RaiseValidity(kValidScripts)) m_index.MarkDirty(&node);
            m_candidates.Prune(node);
            CHECK(!m_candidates.Empty());
        }
    }
    LogTip("UpdateTip", NoteUnknownRules());
}

/** Makes the block that the coins are at the visible tip. */
void ChainManager::ShowTip()
{
    {
        const Lock lock(m_headers.mutex);
        m_headers.SetTip(m_connected);
    }
    if (m_observer) m_observer->TipChanged(*m_connected);
}

/** Returns rules that will be active soon, for the log. */
std::string ChainManager::NoteUnknownRules()
{
    if (IsInitialBlockDownload()) return {};
    const auto rules = UnknownActivations(NodeAncestry(m_connected), m_params, m_version_bits);
    if (rules.empty()) return {};
    std::string expected;
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_headers.mutex);
        expected = m_warnings.NoteUnknownRules(rules);
        news = m_warnings.TakeNews();
    }
    TellWarnings(news);
    return expected;
}

Result<> ChainManager::DisconnectTip()
{
    HeaderNode& node = *m_connected;
    const StoredBlock stored = Where(node);
    IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, stored, m_params.consensus));
    Result<BlockUndo> undo = BlockArchive(m_stores.blocks).Undo(stored);
    if (!undo) {
        Error error = undo.GetError();
        const bool damaged = error.kind == Error::Kind::kBadData;
        if (damaged) error.message += fmt::format("; restart with {}", RebuildOption());
        return error;
    }
    // The cache changes only when the whole block is undone.
    CoinsCache before(*m_cache, OutPointHasher(m_options.hash_key));
    IBD_ASSIGN_OR_RETURN(const DisconnectVerdict verdict,
                         DisconnectBlock(block->view, node, m_params, std::move(*undo), before));
    if (verdict != DisconnectVerdict::kClean) {
        return BadData("block {} at height {}: coins and undo data disagree; restart with "
                       "-reindex-chainstate",
                       node.hash.ToHex(), node.height);
    }
    m_cache->Take(before);
    SetTip(*node.prev, false);
    if (m_observer) m_observer->BlockDisconnected(node, block->view);
    return FlushHeld(FlushMode::kIfNeeded);
}

Result<Obstacle> ChainManager::InvalidateBlock(const HeaderNode& node)
{
    const Lock activation(m_activation);
    if (!node.prev) return Obstacle{};
    {
        const Lock state(m_state);
        const bool on_chain = m_connected && m_connected->Ancestor(node.height) == &node;
        if (on_chain) {
            IBD_ASSIGN_OR_RETURN(const Obstacle obstacle, FindObstacle(node.prev));
            if (obstacle.block) return obstacle;
        }
        while (on_chain && m_connected != node.prev) IBD_RETURN_IF_ERROR(DisconnectTip());
        {
            const Lock lock(m_headers.mutex);
            m_headers.SetTip(m_connected);
            m_index.MarkFailed(m_headers.tree.Find(node.hash));
            m_warnings.NoteInvalid(node);
            m_candidates.Rebuild(m_headers.tree, Tip());
        }
        if (m_observer) m_observer->TipChanged(*Tip());
    }
    IBD_RETURN_IF_ERROR(Activate({}));
    return Obstacle{};
}

Result<> ChainManager::ReconsiderBlock(const HeaderNode& node)
{
    const Lock activation(m_activation);
    {
        const Lock lock(m_headers.mutex);
        m_index.ClearFailure(m_headers.tree.Find(node.hash));
        m_warnings.ForgetReconsidered();
        m_candidates.Rebuild(m_headers.tree, Tip());
    }
    return Activate({});
}

Result<> ChainManager::PreciousBlock(const HeaderNode& precious)
{
    const Lock activation(m_activation);
    if (!Tip() || precious.chain_work < Tip()->chain_work) return {};
    {
        const Lock lock(m_headers.mutex);
        HeaderNode& node = *m_headers.tree.Find(precious.hash);
        // Once the chain has grown, earlier calls have no effect.
        if (m_precious_work < Tip()->chain_work) m_next_precious = -1;
        m_precious_work = Tip()->chain_work;
        m_candidates.Remove(node);
        m_headers.tree.SetSequence(node, m_next_precious--);
        if (node.IsValid(kValidTransactions) && node.HaveChainTxs()) m_candidates.Add(node, Tip());
        m_candidates.Prune(*Tip());
        CHECK(!m_candidates.Empty());
    }
    return Activate({});
}

} // namespace ibd
