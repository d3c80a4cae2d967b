// ChainManager: loading the stored state at start, and writing changes.
#include "validation/chain_manager.h"

#include "storage/data_dir.h"
#include "util/strings.h"
#include "validation/coins_replay.h"

namespace ibd {

namespace {

constexpr int64_t kFlushInterval = int64_t{60} * 60 * 1'000'000; //!< microseconds

Result<> CheckSpace(Env& env, const CoinsDb& coins, const CoinsCache& cache)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t space, env.SpaceAvailable(coins.Directory()));
    const uint64_t wanted = kMinDiskSpace + (cache.Size() * 96);
    if (space >= wanted) return {};
    return SystemError("disk space is too low: {} has {} MiB free, {} MiB are needed to write the "
                       "coins",
                       coins.Directory().string(), space >> 20, wanted >> 20);
}

/** The last block up to which all blocks were received: `tip`, unless blocks below the base of a
 *  snapshot, which arrive in any order, are missing. Under the lock of the headers. */
const HeaderNode* ReceivedUpTo(const HeaderNode* tip, const HeaderNode* base)
{
    const HeaderNode* out = tip;
    for (const HeaderNode* node = tip ? base : nullptr; node; node = node->prev) {
        if (node->tx_count == 0) out = node->prev;
    }
    return out;
}

/** Whether the block, or one below it, broke a rule. */
bool HasFailed(const BlockTree& tree, const HeaderNode& node)
{
    const SharedLock lock(tree.headers.mutex);
    return node.Failed();
}

} // namespace

Result<> ChainManager::LoadIndex()
{
    IBD_RETURN_IF_ERROR(m_pruner.Load());
    const Lock lock(m_tree.headers.mutex);
    IBD_RETURN_IF_ERROR(m_tree.index.Load());
    for (size_t i = 0; i < m_tree.headers.tree.Size(); ++i) {
        const HeaderNode& node = *m_tree.headers.tree.NodeAt(i);
        if (node.Failed()) m_tree.warnings.NoteInvalid(node);
    }
    return {};
}

Result<> ChainManager::StoreGenesis(bool pruned_too)
{
    if (Read().Tree().Genesis()->tx_count > 0 && !pruned_too) return {};
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, AcceptBlock(Params().genesis.raw));
    CHECK(!outcome.violation);
    return {};
}

Result<> ChainManager::AttachCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart* snapshot)
{
    const Lock activation(m_activation);
    if (HasCoins()) {
        CHECK(snapshot);
        return SwitchCoins(std::move(coins), *snapshot);
    }
    IBD_RETURN_IF_ERROR(TakeCoins(std::move(coins), snapshot));
    // The index is written before the coins: a stop in between leaves the coins above a block that
    // InvalidateBlock() marked.
    const HeaderNode* sound = Connected();
    while (sound && HasFailed(m_tree, *sound)) sound = sound->prev;
    if (sound != Connected()) {
        IBD_RETURN_IF_ERROR(Move([&]() IBD_NO_THREAD_CHECK { return DisconnectTo(*sound); }));
    }
    const Lock lock(m_tree.headers.mutex);
    m_tree.RebuildCandidates();
    return {};
}

/** Readers see the old tip until the new coins are complete, as in a reorganisation. */
Result<> ChainManager::SwitchCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart& snapshot)
{
    return Move([&]() IBD_NO_THREAD_CHECK -> Result<> {
        IBD_RETURN_IF_ERROR(TakeCoins(std::move(coins), &snapshot));
        ++m_steps;
        const Lock lock(m_tree.headers.mutex);
        m_tree.RebuildCandidates();
        return {};
    });
}

Result<> ChainManager::TakeCoins(std::unique_ptr<CoinsDb> coins, const SnapshotStart* snapshot)
{
    const Lock state(m_state);
    // Before anything changes: after an error the tip still belongs to the coins.
    IBD_ASSIGN_OR_RETURN(const std::vector<BlockHash> heads, coins->HeadBlocks());
    {
        const Lock lock(m_tree.headers.mutex);
        m_tree.candidates.Clear();
        if (snapshot) IBD_RETURN_IF_ERROR(m_tree.BeginAt(*snapshot, m_stores.log));
    }
    if (m_coins) m_older_coins = std::move(m_coins);
    m_coins = std::move(coins);
    m_coins_reader = std::make_unique<CoinsDbReader>(*m_coins);
    m_cache = std::make_unique<CoinsCache>(*m_coins_reader, OutPointHasher(Options().hash_key));
    m_tree.has_coins = true;
    if (!heads.empty()) {
        IBD_RETURN_IF_ERROR(CoinsReplay(*this, *m_coins, *m_cache).Complete(heads));
    }
    IBD_ASSIGN_OR_RETURN(const BlockHash best, m_coins->BestBlock());
    return best.IsNull() ? Result<>() : LoadTip(best);
}

Result<> ChainManager::LoadTip(const BlockHash& best)
{
    {
        const Lock lock(m_tree.headers.mutex);
        HeaderNode* node = m_tree.headers.tree.Find(best);
        const HeaderNode* const base = SnapshotBase();
        const bool fits = node && (!base || node->Ancestor(base->height) == base);
        if (!fits || !node->HaveChainTxs()) {
            return BadData("chainstate in {} is at block {}, which the block index does not have "
                           "with all blocks below it; restart with {}, or with -reindex if there "
                           "are block files",
                           m_coins->Directory().string(), best.ToHex(), RebuildOption());
        }
        m_connected = node;
        m_flushed = ReceivedUpTo(node, base);
        m_tree.headers.SetTip(node);
        bool built = true; // from the block below
        for (HeaderNode* n = node; n; n = n->prev) {
            m_tree.headers.tree.SetSequence(*n, 0);
            built = built && n != base;
            // The booster connects without the index, and the last write of the index may be older
            // than the coins.
            if (built && n->prev && n->RaiseValidity(kValidScripts)) m_tree.index.MarkDirty(n);
        }
    }
    m_stores.log.Info("Loaded best chain: hashBestChain={} height={} date={} progress={:.6f}",
                      best.ToHex(), Tip()->height, FormatIso8601(Tip()->time),
                      VerificationProgress(Tip()));
    return {};
}

Result<> ChainManager::FlushHeld(FlushMode mode)
{
    const int64_t now = m_stores.env.MonotonicMicros();
    const bool full = m_cache && m_cache->MemoryUsage() > Options().cache_bytes;
    // Files can exceed the target only after they have grown.
    const bool grown = IsPruneMode() && m_stores.blocks.TakeGrown();
    const std::vector<int32_t> old =
        grown ? m_pruner.FilesToPrune(m_connected) : std::vector<int32_t>();
    const bool due = full || m_flush_soon || !old.empty() || now - m_last_flush >= kFlushInterval;
    if (mode == FlushMode::kIfNeeded && !due) return {};
    IBD_RETURN_IF_ERROR(WriteAll(full));
    return m_pruner.Prune(old, m_coins.get());
}

/** Drops coins only if memory is short: recently written ones may be spent soon. */
Result<> ChainManager::WriteAll(bool drop_coins)
{
    m_flush_soon = false;
    if (m_coins) IBD_RETURN_IF_ERROR(CheckSpace(m_stores.env, *m_coins, *m_cache));
    const HeaderNode* received = nullptr; // now: blocks that arrive during the write are not in it
    {
        const Lock lock(m_tree.headers.mutex);
        received = ReceivedUpTo(m_connected, SnapshotBase());
    }
    IBD_RETURN_IF_ERROR(m_writer.Save());
    if (m_cache && m_connected) {
        IBD_RETURN_IF_ERROR(drop_coins ? m_cache->Flush(*m_coins, m_connected->hash)
                                       : m_cache->Sync(*m_coins, m_connected->hash));
        m_flushed = received;
    }
    m_last_flush = m_stores.env.MonotonicMicros();
    return {};
}

Result<> ChainManager::Flush(FlushMode mode)
{
    const Lock state(m_state);
    return FlushHeld(mode);
}

Result<> ChainManager::FlushIndex()
{
    if (IsPruneMode()) { // the records of a file and of its blocks are removed in one write
        const Lock state(m_state);
        return m_writer.Save();
    }
    IBD_RETURN_IF_ERROR(m_stores.blocks.Flush()); // writes most of it before `saving` is locked
    return m_writer.Save();
}

Result<> ChainManager::NoteBroken(const HeaderNode& node)
{
    m_writer.MarkBroken(node);
    return FlushIndex();
}

Result<> ChainManager::PruneTo(int32_t height)
{
    CHECK(IsPruneMode());
    const Lock state(m_state);
    if (!m_connected || height <= 0) return {};
    const std::vector<int32_t> files = m_pruner.FilesBelow(*m_connected, height);
    if (files.empty()) return {};
    IBD_RETURN_IF_ERROR(WriteAll(false));
    return m_pruner.Prune(files, m_coins.get());
}

Result<> ChainManager::PruneAtStart()
{
    const Lock state(m_state);
    if (HasPruned()) m_pruner.DeleteForgotten();
    const std::vector<int32_t> old = m_pruner.FilesToPrune(m_connected);
    if (old.empty()) return {};
    IBD_RETURN_IF_ERROR(WriteAll(false));
    return m_pruner.Prune(old, m_coins.get());
}

Result<> ChainManager::VisitFlushed(
    const std::function<Result<>(CoinsDb& coins, const CoinsCache& cache)>& visit)
{
    const Lock state(m_state);
    IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kAlways));
    return visit(*m_coins, *m_cache);
}

} // namespace ibd
