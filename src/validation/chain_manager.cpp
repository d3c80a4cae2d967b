// See chain_manager.h. This file: start-up, accepting blocks, flushing.
#include "validation/chain_manager.h"

#include "consensus/block_check.h"
#include "util/strings.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kFlushInterval = int64_t{60} * 60 * 1'000'000; //!< microseconds
constexpr uint64_t kMinSpace = 50 << 20;                         //!< bytes left on the disk

} // namespace

ChainManager::ChainManager(const ChainParams& params, ChainStores stores,
                           ChainManagerOptions options, const std::atomic<bool>& interrupt)
    : m_params(params), m_stores(stores), m_options(options), m_interrupt(interrupt),
      m_index(params, stores.index),
      m_pool("prevout", options.threads > 1 ? options.threads - 1 : 0)
{
    m_last_flush = m_stores.env.MonotonicMicros();
}

ChainManager::~ChainManager() = default;

Result<> ChainManager::LoadIndex()
{
    const auto lock = Lock();
    IBD_RETURN_IF_ERROR(m_index.Load());
    for (size_t i = 0; i < Tree().Size(); ++i) {
        if (Tree().NodeAt(i)->Failed()) NoteInvalid(*Tree().NodeAt(i));
    }
    return {};
}

Result<> ChainManager::StoreGenesis()
{
    const auto lock = Lock();
    if (Tree().Genesis()->HasData()) return {};
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, AcceptBlock(m_params.genesis.raw));
    CHECK(!outcome.violation);
    return {};
}

RuleResult ChainManager::AcceptHeader(const BlockHeader& header, HeaderNode** out)
{
    const auto lock = Lock();
    const size_t before = Tree().Size();
    HeaderNode* node = nullptr;
    IBD_RETURN_IF_VIOLATED(Tree().Accept(header, m_stores.env.UnixTime(), &node));
    if (Tree().Size() != before) m_index.MarkDirty(node);
    if (out) *out = node;
    return std::nullopt;
}

RuleResult ChainManager::Check(const BlockView& view, HeaderNode& node, bool checked)
{
    RuleResult violation;
    if (!checked) violation = CheckBlock(view, m_params.consensus);
    // Genesis is what a network is defined by, and has no ancestors to be held against: whatever
    // -testactivationheight says, it stands.
    if (!violation && node.prev != nullptr) {
        violation = ContextualCheckBlock(view, NodeAncestry(node.prev), m_params.consensus);
    }
    if (violation && violation->kind != RuleViolation::Kind::kMutated) {
        MarkInvalid(node, *violation);
    }
    return violation;
}

Result<> ChainManager::Store(const BlockView& view, HeaderNode& node, const FilePos* stored)
{
    const auto height = static_cast<uint32_t>(node.height);
    FilePos pos;
    if (stored) {
        pos = *stored;
        m_stores.blocks.AddExisting(pos, static_cast<uint32_t>(view.Raw().size()), height,
                                    node.time);
    } else {
        IBD_ASSIGN_OR_RETURN(pos, m_stores.blocks.WriteBlock(view.Raw(), height, node.time));
    }
    SetStored(node, pos, static_cast<uint32_t>(view.Txs().size()));
    return {};
}

void ChainManager::SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count)
{
    const bool was_pruned = node.tx_count > 0;
    m_index.SetData(node, pos, tx_count);
    AddCandidates(m_index.Link(node));
    if (was_pruned) RebuildCandidates(); // blocks above may have waited for this one
}

Result<BlockOutcome> ChainManager::AcceptSound(const SoundBlock& block, const FilePos& stored)
{
    const auto lock = Lock();
    BlockOutcome outcome;
    outcome.violation = AcceptHeader(block.header, &outcome.node);
    if (outcome.violation) {
        if (m_observer) m_observer->BlockChecked(block.header.Hash(), outcome.violation);
        return outcome;
    }
    HeaderNode& node = *outcome.node;
    if (node.HasData()) return outcome;
    m_stores.blocks.AddExisting(stored, block.size, static_cast<uint32_t>(node.height), node.time);
    SetStored(node, stored, block.tx_count);
    outcome.is_new = true;
    return outcome;
}

Result<BlockOutcome> ChainManager::Accept(const BlockView& view, const FilePos* stored,
                                          bool checked)
{
    const auto lock = Lock();
    BlockOutcome outcome;
    outcome.violation = AcceptHeader(view.Header(), &outcome.node);
    if (!outcome.violation) {
        if (outcome.node->HasData()) return outcome;
        outcome.violation = Check(view, *outcome.node, checked);
    }
    if (outcome.violation) {
        if (m_observer) m_observer->BlockChecked(view.Hash(), outcome.violation);
        return outcome;
    }
    IBD_RETURN_IF_ERROR(Store(view, *outcome.node, stored));
    outcome.is_new = true;
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

Result<BlockOutcome> ChainManager::ProcessBlock(ByteSpan raw)
{
    BlockOutcome outcome;
    BlockView view;
    if (auto parsed = view.Parse(raw); !parsed) {
        outcome.violation = Invalid("block-deserialization-failed", parsed.Message());
        return outcome;
    }
    outcome.violation = CheckBlock(view, m_params.consensus);
    if (outcome.violation) {
        const auto lock = Lock();
        if (m_observer) m_observer->BlockChecked(view.Hash(), outcome.violation);
        return outcome;
    }
    IBD_ASSIGN_OR_RETURN(outcome, Accept(view, nullptr, true));
    if (!outcome.violation) IBD_RETURN_IF_ERROR(ActivateBestChain());
    return outcome;
}

void ChainManager::AddCandidates(const std::vector<HeaderNode*>& linked)
{
    for (HeaderNode* node : linked) {
        m_candidates.erase(node);
        Tree().SetSequence(*node, Tree().NextSequenceId());
        if (!m_coins) continue; // AttachCoins collects them all
        if (!Tip() || !LessPreferred(*node, *Tip())) m_candidates.insert(node);
    }
}

void ChainManager::RebuildCandidates()
{
    m_candidates.clear();
    for (size_t i = 0; i < Tree().Size(); ++i) {
        HeaderNode* node = Tree().NodeAt(i);
        if (!node->IsValid(kValidTransactions) || !node->HaveChainTxs()) continue;
        if (!Tip() || !LessPreferred(*node, *Tip())) m_candidates.insert(node);
    }
}

Result<> ChainManager::AttachCoins(std::unique_ptr<CoinsDb> coins)
{
    const auto lock = Lock();
    m_candidates.clear();
    m_coins = std::move(coins);
    m_coins_reader = std::make_unique<CoinsDbReader>(*m_coins);
    m_cache = std::make_unique<CoinsCache>(*m_coins_reader, OutPointHasher(m_options.hash_key));
    IBD_ASSIGN_OR_RETURN(const std::vector<BlockHash> heads, m_coins->HeadBlocks());
    if (!heads.empty()) IBD_RETURN_IF_ERROR(ReplayInterruptedWrite(heads));
    IBD_ASSIGN_OR_RETURN(const BlockHash best, m_coins->BestBlock());
    if (!best.IsNull()) {
        HeaderNode* node = Tree().Find(best);
        if (!node || !node->HaveChainTxs()) {
            return BadData("chainstate in {} is at block {}, which the block index does not have "
                           "with all blocks below it; restart with -reindex-chainstate, or with "
                           "-reindex if block files are there",
                           m_coins->Directory().string(), best.ToHex());
        }
        m_active.SetTip(node);
        for (HeaderNode* n = node; n; n = m_active[n->height - 1]) {
            Tree().SetSequence(*n, 0);
            // The booster connects without the index; and its last write may be older than the
            // coins.
            if (n->prev && n->RaiseValidity(kValidScripts)) m_index.MarkDirty(n);
        }
        m_stores.log.Info("Loaded best chain: hashBestChain={} height={} date={} progress={:.6f}",
                          best.ToHex(), node->height, FormatIso8601(node->time),
                          VerificationProgress(node));
    }
    // The index is written before the coins: a stop between the two leaves the coins above a block
    // that InvalidateBlock marked.
    while (Tip() && Tip()->Failed()) IBD_RETURN_IF_ERROR(DisconnectTip());
    RebuildCandidates();
    return {};
}

Result<> ChainManager::RollForward(const HeaderNode& node, CoinsCache& coins)
{
    IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, node, m_params.consensus));
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
    const HeaderNode* to = Tree().Find(heads[0]);
    const HeaderNode* from = heads[1].IsNull() ? nullptr : Tree().Find(heads[1]);
    if (!to || (!from && !heads[1].IsNull())) {
        return BadData("chainstate in {} was being moved to block {}, which the block index does "
                       "not have; restart with -reindex-chainstate",
                       m_coins->Directory().string(), heads[0].ToHex());
    }
    const HeaderNode* fork = from ? LastCommonAncestor(from, to) : nullptr;
    for (; from != fork; from = from->prev) {
        if (!from->prev) break; // genesis makes no coins
        IBD_ASSIGN_OR_RETURN(auto block, LoadBlock(m_stores.blocks, *from, m_params.consensus));
        if (!from->HasUndo()) {
            return BadData("an interrupted write of the coins cannot be completed: block {} at "
                           "height {} has no undo data; restart with -reindex-chainstate",
                           from->hash.ToHex(), from->height);
        }
        IBD_ASSIGN_OR_RETURN(BlockUndo undo, ReadUndo(*from));
        IBD_RETURN_IF_ERROR(
            DisconnectBlock(block->view, *from, m_params, std::move(undo), *m_cache));
    }
    for (int height = fork ? fork->height + 1 : 1; height <= to->height; ++height) {
        IBD_RETURN_IF_ERROR(RollForward(*to->Ancestor(height), *m_cache));
    }
    return m_cache->Flush(*m_coins, to->hash);
}

Result<> ChainManager::Flush(FlushMode mode)
{
    const auto lock = Lock();
    const int64_t now = m_stores.env.MonotonicMicros();
    const bool full = m_cache && m_cache->MemoryUsage() > m_options.cache_bytes;
    const bool due = full || m_flush_soon || now - m_last_flush >= kFlushInterval;
    if (mode == FlushMode::kIfNeeded && !due) return {};
    m_flush_soon = false;
    if (m_coins) {
        IBD_ASSIGN_OR_RETURN(const uint64_t space,
                             m_stores.env.SpaceAvailable(m_coins->Directory()));
        const uint64_t wanted = kMinSpace + (m_cache->Size() * 96);
        if (space < wanted) {
            return SystemError("disk space is too low: {} has {} MiB free, {} MiB are needed to "
                               "write the coins",
                               m_coins->Directory().string(), space >> 20, wanted >> 20);
        }
    }
    IBD_RETURN_IF_ERROR(m_index.Save(m_stores.blocks));
    if (m_cache && Tip()) {
        // Coins are dropped for lack of room only: what was written may soon be spent.
        IBD_RETURN_IF_ERROR(full ? m_cache->Flush(*m_coins, Tip()->hash)
                                 : m_cache->Sync(*m_coins, Tip()->hash));
    }
    m_last_flush = m_stores.env.MonotonicMicros();
    return {};
}

bool ChainManager::IsInitialBlockDownload() const
{
    const auto lock = Lock();
    if (!m_initial_download) return false;
    if (m_importing) return true;
    if (!Tip() || Tip()->chain_work < m_options.minimum_work) return true;
    if (Tip()->time < m_stores.env.UnixTime() - m_options.max_tip_age) return true;
    m_initial_download = false;
    m_stores.log.Info("Leaving InitialBlockDownload (latching to false)");
    return false;
}

double ChainManager::VerificationProgress(const HeaderNode* node) const
{
    if (!node || node->chain_tx_count == 0) return 0;
    const ChainTxData& data = m_params.chain_tx_data;
    const auto done = static_cast<double>(node->chain_tx_count);
    const int64_t now = m_stores.env.UnixTime();
    double total;
    if (node->chain_tx_count <= data.tx_count) {
        total = static_cast<double>(data.tx_count) +
                static_cast<double>(now - data.time) * data.tx_rate;
    } else {
        total = done + static_cast<double>(now - int64_t{node->time}) * data.tx_rate;
    }
    return std::min(done / total, 1.0);
}

Result<Bytes> ChainManager::ReadBlock(const HeaderNode& node) const
{
    if (!node.HasData()) {
        return BadData("block {} at height {} is not stored", node.hash.ToHex(), node.height);
    }
    return m_stores.blocks.ReadBlock({node.file, node.data_pos}, &node.hash);
}

Result<BlockUndo> ChainManager::ReadUndo(const HeaderNode& node) const
{
    if (!node.HasUndo()) {
        return BadData("block {} at height {} has no undo data", node.hash.ToHex(), node.height);
    }
    IBD_ASSIGN_OR_RETURN(const Bytes raw,
                         m_stores.blocks.ReadUndo({node.file, node.undo_pos}, node.PrevHash()));
    return BlockUndo::Decode(raw);
}

} // namespace ibd
