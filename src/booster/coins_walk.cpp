// See coins_walk.h.
#include "booster/coins_walk.h"

#include "storage/undo.h"
#include "swiftsync/coin_sorter.h"
#include "swiftsync/snapshot_coins.h"
#include "util/progress.h"
#include "validation/block_reader.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** Bitcoin Core before 0.15 stored the height of a coin only if it was the last coin of its
 *  transaction to be spent. A coin without a height may be above the block of the walk. */
Error OldUndo(const HeaderNode& node)
{
    return BadData("the undo data of block {} at height {} is from a Bitcoin Core before 0.15 and "
                   "lacks heights: restart with -reindex, which makes new undo data",
                   node.hash.ToHex(), node.height);
}

/** Adds the coins that a block spends, if they were made at or below `max_height`. */
Result<> AddSpent(const HeaderNode& node, const BlockView& block, const BlockUndo& undo,
                  uint32_t max_height, CoinSorter& sorter, Bytes& value)
{
    if (!undo.Fits(block)) {
        return BadData("block {} at height {} and its undo data disagree: restart with "
                       "-reindex-chainstate",
                       node.hash.ToHex(), node.height);
    }
    for (size_t i = 0; i < undo.txs.size(); ++i) {
        const TxView& tx = block.Txs()[i + 1];
        const std::vector<Coin>& spent = undo.txs[i].spent;
        for (size_t j = 0; j < spent.size(); ++j) {
            if (spent[j].height == 0) return OldUndo(node);
            if (spent[j].height > max_height) continue;
            const OutPoint outpoint = tx.inputs[j].Prevout();
            value.clear();
            AppendCoin(value, spent[j]);
            IBD_RETURN_IF_ERROR(sorter.Add(outpoint.txid.Span(), outpoint.vout, value));
        }
    }
    return {};
}

bool ComesFirst(const OutPoint& a, const OutPoint& b)
{
    return std::ranges::lexicographical_compare(CoinKey(a).Span(), CoinKey(b).Span());
}

} // namespace

Result<std::unique_ptr<CoinsWalk>> CoinsWalk::Start(ChainManager& chain, const HeaderNode* target)
{
    if (!chain.Tip()) return BadData("there is no block yet");
    std::unique_ptr<CoinsWalk> walk;
    IBD_RETURN_IF_ERROR(chain.VisitFlushed([&](CoinsDb& coins, const CoinsCache&) -> Result<> {
        const HeaderNode& tip = *chain.Tip();
        const HeaderNode& block = target ? *target : tip;
        CoinsCursor cursor = coins.Cursor();
        if (tip.Ancestor(block.height) != &block || cursor.BestBlock() != tip.hash) {
            return BadData("block {} is not on the active chain", block.hash.ToHex());
        }
        walk.reset(new CoinsWalk(chain, block, std::move(cursor)));
        return {};
    }));
    return walk;
}

CoinsWalk::~CoinsWalk()
{
    if (!m_env) return;
    m_spent.reset();
    m_runs.clear();
    if (RemoveProofFiles(*m_env, m_directory)) (void)m_env->Remove(m_directory);
}

Result<bool> CoinsWalk::TakeBack(Env& env, const Path& directory, size_t memory_bytes,
                                 const std::atomic<bool>& stop, Logger& log)
{
    if (!IsBelowTip()) return true;
    IBD_RETURN_IF_ERROR(env.CreateDirectories(directory));
    m_env = &env;
    m_directory = directory;
    CoinSorter sorter(env, m_directory, m_block.hash, memory_bytes);
    Bytes value;
    ProgressMeter progress(env, log,
                           {.label = "Reading spent coins",
                            .unit = "blocks",
                            .total = uint64_t(m_tip.height - m_block.height)});
    for (const HeaderNode* node = &m_tip; node != &m_block; node = node->prev) {
        if (stop) return false;
        const StoredBlock stored = m_chain.Where(*node);
        IBD_ASSIGN_OR_RETURN(const auto block,
                             LoadBlock(m_chain.Blocks(), stored, m_chain.Params().consensus));
        IBD_ASSIGN_OR_RETURN(const BlockUndo undo, BlockArchive(m_chain.Blocks()).Undo(stored));
        IBD_RETURN_IF_ERROR(AddSpent(*node, block->view, undo,
                                     static_cast<uint32_t>(m_block.height), sorter, value));
        progress.Update(static_cast<uint64_t>(m_tip.height - node->height) + 1);
    }
    IBD_ASSIGN_OR_RETURN(const auto run, sorter.Finish(stop));
    if (!run) return false;
    IBD_ASSIGN_OR_RETURN(m_runs, OpenRuns(env, m_directory, {&*run, 1}, m_block.hash));
    m_spent.emplace(m_runs, 0, std::numeric_limits<uint64_t>::max());
    return true;
}

Result<> CoinsWalk::NextSpent()
{
    m_next_spent.reset();
    if (!m_spent) return {};
    IBD_ASSIGN_OR_RETURN(const bool more, m_spent->Next());
    if (!more) return {};
    IBD_ASSIGN_OR_RETURN(Coin coin, DecodeCoin(m_spent->Record().Value()));
    m_next_spent.emplace(OutPointOf(m_spent->Record()), std::move(coin));
    return {};
}

Result<> CoinsWalk::NextKept()
{
    m_next_kept.reset();
    for (; m_cursor.Valid() && !m_next_kept; m_cursor.Next()) {
        IBD_ASSIGN_OR_RETURN(Coin coin, m_cursor.Value());
        if (coin.height > static_cast<uint32_t>(m_block.height)) continue;
        m_next_kept.emplace(m_cursor.Key(), std::move(coin));
    }
    return m_next_kept ? Result<>() : m_cursor.Status();
}

Result<bool> CoinsWalk::Next(OutPoint& outpoint, Coin& coin)
{
    if (!std::exchange(m_begun, true)) {
        IBD_RETURN_IF_ERROR(NextKept());
        IBD_RETURN_IF_ERROR(NextSpent());
    }
    if (!m_next_kept && !m_next_spent) return false;
    const bool kept =
        m_next_kept && (!m_next_spent || ComesFirst(m_next_kept->first, m_next_spent->first));
    std::tie(outpoint, coin) = std::move(kept ? *m_next_kept : *m_next_spent);
    IBD_RETURN_IF_ERROR(kept ? NextKept() : NextSpent());
    return true;
}

Result<CoinsStats> ComputeCoinsStats(CoinsWalk& walk, CoinsHashKind kind,
                                     const std::atomic<bool>& interrupt)
{
    CoinsStatsBuilder builder(kind);
    OutPoint outpoint;
    Coin coin;
    while (true) {
        if (interrupt) return BadData("interrupted");
        IBD_ASSIGN_OR_RETURN(const bool more, walk.Next(outpoint, coin));
        if (!more) break;
        builder.Add(outpoint, std::move(coin));
    }
    CoinsStats stats = builder.Finish();
    stats.height = walk.Block().height;
    stats.best = walk.Block().hash;
    return stats;
}

} // namespace ibd
