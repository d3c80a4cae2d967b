// See chain_manager.h. This file: choosing the best chain and the way to it.
#include "validation/chain_manager.h"

#include <algorithm>

namespace ibd {

namespace {

/** Blocks connected between two choices of the best chain. */
constexpr int kPathLength = 2048;

} // namespace

/** Chooses the best candidate and notes the warnings about other branches. */
HeaderNode* ChainManager::ChooseTarget()
{
    const bool downloading = IsInitialBlockDownload();
    HeaderNode* best = nullptr;
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_tree.headers.mutex);
        std::vector<const HeaderNode*> failed;
        best = m_tree.candidates.Best(m_tree.headers.active, failed);
        for (const HeaderNode* node : failed) m_tree.warnings.NoteInvalid(*node);
        if (m_connected) m_tree.warnings.Review(*m_connected, downloading);
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
    } while (!Interrupted() && IsWorse(*m_connected, start));
    if (m_connected != Tip()) ShowTip(); // interrupted, or no branch as good is left
    return {};
}

Result<Obstacle> ChainManager::FindObstacle(const HeaderNode* fork)
{
    IBD_ASSIGN_OR_RETURN(const Obstacle missing, m_undo.FindMissing(m_connected, fork));
    if (missing.block) return missing;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const damaged, m_repair.FindDamaged(m_connected, fork));
    return Obstacle{damaged, Obstacle::Kind::kDamaged};
}

Error ChainManager::CannotDisconnect(const HeaderNode& stuck) const
{
    m_stores.log.Error("Undo data of block {} at height {} is not stored, and a better chain forks "
                       "below it: {}",
                       stuck.hash.ToHex(), stuck.height, UndoRemedy());
    m_stores.log.Error("DisconnectBlock(): failure reading undo data");
    m_stores.log.Error("DisconnectTip(): DisconnectBlock {} failed", stuck.hash.ToHex());
    return BadData("Failed to disconnect block.");
}

void ChainManager::LeaveAside(const HeaderNode& target, const Obstacle& obstacle)
{
    std::vector<ChainWarnings::News> news;
    {
        const Lock lock(m_tree.headers.mutex);
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

bool ChainManager::IsWorse(const HeaderNode& node, const HeaderNode& other) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return LessPreferred(node, other);
}

bool ChainManager::StillWanted(const HeaderNode& node) const
{
    const SharedLock lock(m_tree.headers.mutex);
    return !node.Failed() && node.prev == m_connected && m_tree.candidates.LeadsToBest(node);
}

/** Connects blocks up to the first one that makes the tip as good as `start`. */
Result<> ChainManager::ConnectHeld(HeaderNode& target, const HeaderNode& start)
{
    const std::vector<HeaderNode*> path = PathTo(target);
    BlockReader reader(m_stores.blocks, Params().consensus, Where(path));
    for (HeaderNode* node : path) {
        if (Interrupted()) return {};
        Result<std::unique_ptr<LoadedBlock>> block = reader.Next();
        if (!block) return m_repair.LeaveToPeers(block.GetError());
        if (!StillWanted(*node)) return {};
        const bool good = !IsWorse(*node, start);
        const Result<bool> connected = ConnectTip(*node, **block, good);
        if (!connected) return m_repair.LeaveToPeers(connected.GetError());
        if (!*connected) return {};
        IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
        if (good) return {};
    }
    return {};
}

/** Connects blocks on the tip, and releases the coins after each. */
Result<> ChainManager::Extend(const std::vector<HeaderNode*>& path, const Pause& pause)
{
    BlockReader reader(m_stores.blocks, Params().consensus, Where(path));
    for (HeaderNode* node : path) {
        if (Interrupted() || (pause && pause())) return {};
        Result<std::unique_ptr<LoadedBlock>> block = reader.Next();
        if (!block) return m_repair.LeaveToPeers(block.GetError());
        const Lock state(m_state);
        // Another thread may have marked or added a block meanwhile.
        if (!StillWanted(*node)) return {};
        const Result<bool> connected = ConnectTip(*node, **block, true);
        if (!connected) return m_repair.LeaveToPeers(connected.GetError());
        if (!*connected) return {};
        IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kIfNeeded));
    }
    return {};
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
            const Lock lock(m_tree.headers.mutex);
            m_tree.headers.SetTip(m_connected);
            m_tree.index.MarkFailed(m_tree.headers.tree.Find(node.hash));
            m_tree.warnings.NoteInvalid(node);
            m_tree.RebuildCandidates();
        }
        m_news.Tip(*Tip());
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
        if (node.IsValid(kValidTransactions) && node.HaveChainTxs())
            m_tree.candidates.Add(node, Tip());
        m_tree.candidates.Prune(*Tip());
        CHECK(!m_tree.candidates.Empty());
    }
    return Activate({});
}

} // namespace ibd
