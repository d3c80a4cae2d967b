// See chain_manager.h. This file: chooses the best chain and connects it.
#include "validation/chain_manager.h"

#include <algorithm>

namespace ibd {

namespace {

/** Blocks connected between two choices of the best chain. */
constexpr int kPathLength = 2048;

bool IsWorse(const BlockTree& tree, const HeaderNode& node, const HeaderNode& other)
{
    const SharedLock lock(tree.headers.mutex);
    return LessPreferred(node, other);
}

Error CannotDisconnect(Logger& log, const HeaderNode& stuck, const std::string& remedy)
{
    log.Error("Undo data of block {} at height {} is not stored, and a better chain forks "
              "below it: {}",
              stuck.hash.ToHex(), stuck.height, remedy);
    log.Error("DisconnectBlock(): failure reading undo data");
    log.Error("DisconnectTip(): DisconnectBlock {} failed", stuck.hash.ToHex());
    return BadData("Failed to disconnect block.");
}

} // namespace

/** Chooses the best candidate and notes the warnings about other branches. */
HeaderNode* ChainManager::ChooseTarget()
{
    const bool downloading = IsInitialBlockDownload();
    const HeaderNode* const connected = Connected();
    HeaderNode* best = nullptr;
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_tree.headers.mutex);
        std::vector<const HeaderNode*> failed;
        best = m_tree.candidates.Best(m_tree.headers.active, failed);
        for (const HeaderNode* node : failed) m_tree.warnings.NoteInvalid(*node);
        if (connected) m_tree.warnings.Review(*connected, downloading);
        news = m_tree.warnings.TakeNews();
    }
    m_news.Warnings(news);
    return best;
}

Result<> ChainManager::ActivateBestChain(const Pause& pause)
{
    const Lock activation(m_activation);
    return Activate(pause);
}

Result<> ChainManager::Activate(const Pause& pause)
{
    while (!Interrupted() && !(pause && pause())) {
        HeaderNode* const target = ChooseTarget();
        const HeaderNode* const connected = Connected();
        if (!target || target == connected) return Flush(FlushMode::kIfNeeded);
        if (connected && target->Ancestor(connected->height) != connected) {
            IBD_RETURN_IF_ERROR(Reorganise());
        } else {
            IBD_RETURN_IF_ERROR(Extend(PathTo(*target), pause));
        }
    }
    return {};
}

std::vector<HeaderNode*> ChainManager::PathTo(HeaderNode& target) const
{
    const HeaderNode* const connected = Connected();
    const int first = connected ? connected->height + 1 : 0;
    const int last = std::min(target.height, first + kPathLength - 1);
    std::vector<HeaderNode*> path(static_cast<size_t>(last - first + 1));
    HeaderNode* node = target.Ancestor(last);
    for (size_t i = path.size(); i-- > 0; node = node->prev) path[i] = node;
    return path;
}

// Other threads never see a tip that is worse than before: the reorganisation is one change, also
// if it fails and the old branch is connected again. Only the coins move block by block, and their
// lock is free between two blocks.
Result<> ChainManager::Reorganise()
{
    return Move([this]() IBD_NO_THREAD_CHECK { return MoveToBetter(); });
}

/** `move` leaves the tip. */
Result<> ChainManager::Move(const std::function<Result<>()>& move)
{
    const uint64_t before = m_steps;
    m_news.Left();
    const Result<> moved = move();
    m_news.Reached(moved ? Connected() : nullptr);
    if (moved && m_steps != before) ShowTip();
    return moved;
}

Result<> ChainManager::MoveToBetter()
{
    const HeaderNode& start = *Connected();
    do {
        const uint64_t rebuilds = m_tree.rebuilds;
        HeaderNode* const target = ChooseTarget();
        if (!target || target == Connected()) break;
        const HeaderNode* const fork = LastCommonAncestor(Connected(), target);
        IBD_ASSIGN_OR_RETURN(const Obstacle obstacle, FindObstacle(fork));
        if (obstacle.block && obstacle.kind == Obstacle::Kind::kNoUndo) {
            return CannotDisconnect(m_stores.log, *obstacle.block, UndoRemedy());
        }
        if (obstacle.block) {
            LeaveAside(*target, obstacle, rebuilds);
            continue;
        }
        IBD_RETURN_IF_ERROR(DisconnectTo(*fork));
        if (Interrupted()) return {}; // perhaps above the fork
        IBD_RETURN_IF_ERROR(ConnectHidden(*target, start));
    } while (!Interrupted() && IsWorse(m_tree, *Connected(), start));
    return {}; // interrupted, or no branch as good is left: the tip may be worse
}

Result<> ChainManager::DisconnectTo(const HeaderNode& node)
{
    while (Connected() != &node && !Interrupted()) IBD_RETURN_IF_ERROR(DisconnectTip());
    return {};
}

Result<Obstacle> ChainManager::FindObstacle(const HeaderNode* fork)
{
    HeaderNode* const connected = Connected();
    IBD_ASSIGN_OR_RETURN(const Obstacle missing, m_undo.FindMissing(connected, fork));
    if (missing.block) return missing;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const damaged, m_repair.FindDamaged(connected, fork));
    return Obstacle{damaged, Obstacle::Kind::kDamaged};
}

// Another thread may have removed the obstacle since it was found. It has made candidates of the
// branches then, and does not do so again.
void ChainManager::LeaveAside(const HeaderNode& target, const Obstacle& obstacle, uint64_t rebuilds)
{
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_tree.headers.mutex);
        if (m_tree.rebuilds != rebuilds) return;
        m_tree.warnings.NoteOutOfReach(target, *obstacle.block,
                                       obstacle.kind == Obstacle::Kind::kDamaged);
        m_tree.candidates.RemoveForksBelow(m_tree.headers.active, obstacle.block->height);
        news = m_tree.warnings.TakeNews();
    }
    m_news.Warnings(news);
}

void ChainManager::TryLeftAside()
{
    const Lock lock(m_tree.headers.mutex);
    m_tree.RebuildCandidates();
}

bool ChainManager::StillWanted(const HeaderNode& node) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return !node.Failed() && node.prev == m_connected && m_tree.candidates.LeadsToBest(node);
}

/** Connects blocks up to the first one that makes the tip as good as `start`; other threads do not
 *  see it. */
Result<> ChainManager::ConnectHidden(HeaderNode& target, const HeaderNode& start)
{
    const std::vector<HeaderNode*> path = PathTo(target);
    BlockReader reader(m_stores.blocks, Params().consensus, Where(path));
    for (HeaderNode* node : path) {
        if (Interrupted()) return {};
        Result<std::unique_ptr<LoadedBlock>> block = reader.Next();
        if (!block) return m_repair.LeaveToPeers(block.GetError());
        {
            const Lock state(m_state);
            if (!StillWanted(*node)) return {};
            const Result<bool> connected = ConnectTip(*node, **block, false);
            if (!connected) return m_repair.LeaveToPeers(connected.GetError());
            if (!*connected) return {};
            IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
        }
        m_news.Connected(*node, (*block)->view);
        if (!IsWorse(m_tree, *node, start)) return {};
    }
    return {};
}

/** Connects blocks on the tip, and releases the coins after each. */
Result<> ChainManager::Extend(const std::vector<HeaderNode*>& path, const Pause& pause)
{
    std::unique_ptr<LoadedBlock> fresh = m_fresh.Take(*path.front());
    const std::vector<HeaderNode*> stored(path.begin() + (fresh ? 1 : 0), path.end());
    std::optional<BlockReader> reader;
    if (!stored.empty()) reader.emplace(m_stores.blocks, Params().consensus, Where(stored));
    for (HeaderNode* node : path) {
        if (Interrupted() || (pause && pause())) return {};
        Result<std::unique_ptr<LoadedBlock>> block = std::exchange(fresh, nullptr);
        if (!*block) block = reader->Next();
        if (!block) return m_repair.LeaveToPeers(block.GetError());
        const Lock state(m_state);
        // Another thread may have marked or added a block meanwhile.
        if (!StillWanted(*node)) return {};
        const Result<bool> connected = ConnectTip(*node, **block, true);
        if (!connected) return m_repair.LeaveToPeers(connected.GetError());
        if (!*connected) return {};
        m_news.Connected(*node, (*block)->view);
        m_news.Tip(*node);
        IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
    }
    return {};
}

Result<Obstacle> ChainManager::InvalidateBlock(const HeaderNode& node)
{
    const Lock activation(m_activation);
    if (!node.prev) return Obstacle{};
    const HeaderNode* const tip = Connected();
    const bool on_chain = tip && tip->Ancestor(node.height) == &node;
    if (on_chain) {
        IBD_ASSIGN_OR_RETURN(const Obstacle obstacle, FindObstacle(node.prev));
        if (obstacle.block) return obstacle;
        const auto step_back = [&]() IBD_NO_THREAD_CHECK -> Result<> {
            for (int blocks = 1; Connected() != node.prev && !Interrupted(); ++blocks) {
                IBD_RETURN_IF_ERROR(DisconnectTip());
                m_news.SteppedBack(*Connected(), blocks);
            }
            return {};
        };
        IBD_RETURN_IF_ERROR(Move(step_back));
    }
    { // After an interrupt, too: then the next start disconnects the rest.
        const Lock lock(m_tree.headers.mutex);
        m_tree.index.MarkFailed(m_tree.headers.tree.Find(node.hash));
        m_tree.warnings.NoteInvalid(node);
        m_tree.RebuildCandidates();
    }
    IBD_RETURN_IF_ERROR(Activate({}));
    return Obstacle{};
}

Result<> ChainManager::ReconsiderBlock(const HeaderNode& node)
{
    const Lock activation(m_activation);
    {
        const Lock lock(m_tree.headers.mutex);
        m_tree.index.ClearFailure(m_tree.headers.tree.Find(node.hash));
        m_tree.warnings.ForgetReconsidered();
        m_tree.RebuildCandidates();
    }
    return Activate({});
}

Result<> ChainManager::PreciousBlock(const HeaderNode& precious)
{
    const Lock activation(m_activation);
    if (!Tip() || precious.chain_work < Tip()->chain_work) return {};
    {
        const Lock lock(m_tree.headers.mutex);
        HeaderNode& node = *m_tree.headers.tree.Find(precious.hash);
        // Once the chain has grown, earlier calls have no effect.
        if (m_precious_work < Tip()->chain_work) m_next_precious = -1;
        m_precious_work = Tip()->chain_work;
        m_tree.candidates.Remove(node);
        m_tree.headers.tree.SetSequence(node, m_next_precious--);
        const bool known = node.IsValid(kValidTransactions) && node.HaveChainTxs();
        if (known || &node == Tip()) m_tree.candidates.Add(node, Tip());
        m_tree.candidates.Prune(*Tip());
        CHECK(!m_tree.candidates.Empty());
    }
    return Activate({});
}

} // namespace ibd
