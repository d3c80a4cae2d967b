// ChainManager: loading the stored state at start, and writing changes.
#include "validation/chain_manager.h"

#include "util/strings.h"

namespace ibd {

namespace {

constexpr int64_t kFlushInterval = int64_t{60} * 60 * 1'000'000; //!< microseconds
constexpr uint64_t kMinSpace = 50 << 20;                         //!< bytes that stay free on the
                                                                 //!< disk
constexpr size_t kRecordsAtOnce = 512;                           //!< under one headers lock

} // namespace

Result<> ChainManager::LoadIndex()
{
    IBD_ASSIGN_OR_RETURN(const std::optional<bool> pruned, m_stores.index.Flag(kPrunedFlag));
    m_has_pruned = pruned.value_or(false);
    if (m_has_pruned) {
        m_stores.log.Info("Loading block index db: Block files have previously been pruned");
    }
    const Lock lock(m_headers.mutex);
    IBD_RETURN_IF_ERROR(m_index.Load());
    for (size_t i = 0; i < m_headers.tree.Size(); ++i) {
        const HeaderNode& node = *m_headers.tree.NodeAt(i);
        if (node.Failed()) m_warnings.NoteInvalid(node);
    }
    return {};
}

Result<> ChainManager::StoreGenesis()
{
    if (Read().Tree().Genesis()->tx_count > 0) return {}; // it may have been pruned
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, AcceptBlock(m_params.genesis.raw));
    CHECK(!outcome.violation);
    return {};
}

Result<> ChainManager::AttachCoins(std::unique_ptr<CoinsDb> coins)
{
    const Lock state(m_state);
    {
        const Lock lock(m_headers.mutex);
        m_candidates.Clear();
    }
    m_coins = std::move(coins);
    m_coins_reader = std::make_unique<CoinsDbReader>(*m_coins);
    m_cache = std::make_unique<CoinsCache>(*m_coins_reader, OutPointHasher(m_options.hash_key));
    m_has_coins = true;
    IBD_ASSIGN_OR_RETURN(const std::vector<BlockHash> heads, m_coins->HeadBlocks());
    if (!heads.empty()) IBD_RETURN_IF_ERROR(ReplayInterruptedWrite(heads));
    IBD_ASSIGN_OR_RETURN(const BlockHash best, m_coins->BestBlock());
    if (!best.IsNull()) IBD_RETURN_IF_ERROR(LoadTip(best));
    // The index is written before the coins: a stop in between leaves the coins above a block that
    // InvalidateBlock() marked.
    while (m_connected && HasFailed(*m_connected)) IBD_RETURN_IF_ERROR(DisconnectTip());
    if (m_connected != Tip()) ShowTip();
    const Lock lock(m_headers.mutex);
    m_candidates.Rebuild(m_headers.tree, Tip());
    return {};
}

Result<> ChainManager::LoadTip(const BlockHash& best)
{
    {
        const Lock lock(m_headers.mutex);
        HeaderNode* node = m_headers.tree.Find(best);
        if (!node || !node->HaveChainTxs()) {
            return BadData("chainstate in {} is at block {}, which the block index does not have "
                           "with all blocks below it; restart with {}, or with "
                           "-reindex if block files are there",
                           m_coins->Directory().string(), best.ToHex(), RebuildOption());
        }
        m_connected = node;
        m_headers.SetTip(node);
        for (HeaderNode* n = node; n; n = n->prev) {
            m_headers.tree.SetSequence(*n, 0);
            // The booster connects without the index, and the last write of the index may be older
            // than the coins.
            if (n->prev && n->RaiseValidity(kValidScripts)) m_index.MarkDirty(n);
        }
    }
    m_stores.log.Info("Loaded best chain: hashBestChain={} height={} date={} progress={:.6f}",
                      best.ToHex(), Tip()->height, FormatIso8601(Tip()->time),
                      VerificationProgress(Tip()));
    return {};
}

Result<> ChainManager::RollForward(const HeaderNode& node, CoinsCache& coins)
{
    IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, Where(node), m_params.consensus));
    coins.BeginBlock();
    for (const TxView& tx : block->view.Txs()) {
        if (!tx.IsCoinbase()) {
            for (const InputView& input : tx.inputs) {
                IBD_RETURN_IF_ERROR(coins.Spend(input.Prevout()));
            }
        }
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            coins.Add({tx.txid, i},
                      {tx.outputs[i].value, ScriptBytes(tx.outputs[i].script_pubkey),
                       static_cast<uint32_t>(node.height), tx.IsCoinbase()},
                      true);
        }
    }
    coins.EndBlock();
    return {};
}

Result<> ChainManager::ReplayInterruptedWrite(const std::vector<BlockHash>& heads)
{
    m_stores.log.Info("Replaying blocks: the last write of the coins was interrupted");
    CHECK(heads.size() == 2);
    const HeaderNode* to = Read().Find(heads[0]);
    const HeaderNode* from = heads[1].IsNull() ? nullptr : Read().Find(heads[1]);
    if (!to || (!from && !heads[1].IsNull())) {
        return BadData("chainstate in {} was being moved to block {}, which the block index does "
                       "not have; restart with {}",
                       m_coins->Directory().string(), heads[0].ToHex(), RebuildOption());
    }
    const HeaderNode* fork = from ? LastCommonAncestor(from, to) : nullptr;
    for (; from != fork; from = from->prev) {
        if (!from->prev) break; // genesis makes no coins
        const StoredBlock stored = Where(*from);
        IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, stored, m_params.consensus));
        if (stored.undo.IsNull()) {
            return BadData("an interrupted write of the coins cannot be completed: block {} at "
                           "height {} has no undo data; restart with {}",
                           from->hash.ToHex(), from->height, RebuildOption());
        }
        IBD_ASSIGN_OR_RETURN(BlockUndo undo, BlockArchive(m_stores.blocks).Undo(stored));
        IBD_RETURN_IF_ERROR(
            DisconnectBlock(block->view, *from, m_params, std::move(undo), *m_cache));
    }
    for (int height = fork ? fork->height + 1 : 1; height <= to->height; ++height) {
        IBD_RETURN_IF_ERROR(RollForward(*to->Ancestor(height), *m_cache));
    }
    return m_cache->Flush(*m_coins, to->hash);
}

// Makes a few records at a time: after the first headers there are as many as headers.
Result<> ChainManager::WriteIndex(const BlockIndex::Nodes& nodes)
{
    std::vector<std::pair<BlockHash, BlockIndexRecord>> records;
    records.reserve(nodes.size());
    for (auto it = nodes.begin(); it != nodes.end();) {
        const SharedLock lock(m_headers.mutex);
        for (size_t i = 0; i < kRecordsAtOnce && it != nodes.end(); ++i, ++it) {
            records.emplace_back((*it)->hash, ToRecord(**it));
            if (*it == m_broken) records.back().second.status |= kFailedValid;
        }
    }
    // From here on the files contain everything that the records name; later additions do no harm.
    const auto files = m_stores.blocks.TakeDirty();
    const Result<> written = WriteRecords({files, 0, records});
    // A later write that named the blocks without the files' new sizes would let the next start
    // overwrite them.
    if (!written) m_stores.blocks.PutBack(files);
    return written;
}

Result<> ChainManager::WriteRecords(BlockIndexUpdate update)
{
    IBD_RETURN_IF_ERROR(m_stores.blocks.Flush());
    if (update.files.empty() && update.blocks.empty()) return {};
    update.last_file = m_stores.blocks.LastFile();
    return m_stores.index.Write(update);
}

Result<> ChainManager::SaveIndex()
{
    const Lock saving(m_saving);
    BlockIndex::Nodes nodes;
    {
        const Lock lock(m_headers.mutex);
        nodes = m_index.TakeDirty();
    }
    Result<> written = WriteIndex(nodes);
    if (written) return written;
    const Lock lock(m_headers.mutex);
    m_index.PutBack(nodes);
    return written;
}

Result<> ChainManager::CheckSpace() const
{
    IBD_ASSIGN_OR_RETURN(const uint64_t space, m_stores.env.SpaceAvailable(m_coins->Directory()));
    const uint64_t wanted = kMinSpace + (m_cache->Size() * 96);
    if (space >= wanted) return {};
    return SystemError("disk space is too low: {} has {} MiB free, {} MiB are needed to write the "
                       "coins",
                       m_coins->Directory().string(), space >> 20, wanted >> 20);
}

Result<> ChainManager::FlushHeld(FlushMode mode)
{
    const int64_t now = m_stores.env.MonotonicMicros();
    const bool full = m_cache && m_cache->MemoryUsage() > m_options.cache_bytes;
    // Only grown files can exceed the target.
    const bool grown = IsPruneMode() && m_stores.blocks.TakeGrown();
    const std::vector<int32_t> old = grown ? FilesToPrune() : std::vector<int32_t>();
    const bool due = full || m_flush_soon || !old.empty() || now - m_last_flush >= kFlushInterval;
    if (mode == FlushMode::kIfNeeded && !due) return {};
    IBD_RETURN_IF_ERROR(WriteAll(full));
    return Prune(old);
}

/** Drops coins only for lack of room: recently written ones may be spent soon. */
Result<> ChainManager::WriteAll(bool drop_coins)
{
    m_flush_soon = false;
    if (m_coins) IBD_RETURN_IF_ERROR(CheckSpace());
    IBD_RETURN_IF_ERROR(SaveIndex());
    if (m_cache && m_connected) {
        IBD_RETURN_IF_ERROR(drop_coins ? m_cache->Flush(*m_coins, m_connected->hash)
                                       : m_cache->Sync(*m_coins, m_connected->hash));
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
    if (IsPruneMode()) { // a file is removed from the index in one write with its blocks
        const Lock state(m_state);
        return SaveIndex();
    }
    IBD_RETURN_IF_ERROR(m_stores.blocks.Flush()); // writes most of it before `saving` is locked
    return SaveIndex();
}

Result<> ChainManager::VisitFlushed(
    const std::function<Result<>(CoinsDb& coins, const CoinsCache& cache)>& visit)
{
    const Lock state(m_state);
    IBD_RETURN_IF_ERROR(FlushHeld(FlushMode::kAlways));
    return visit(*m_coins, *m_cache);
}

} // namespace ibd
