// See coins_walk.h.
#include "validation/coins_walk.h"

#include <algorithm>

namespace ibd {

namespace {

int CompareKeys(const CoinKey& a, const CoinKey& b)
{
    const int order = std::memcmp(a.bytes, b.bytes, std::min(a.size, b.size));
    return order != 0 ? order : int{a.size} - int{b.size};
}

} // namespace

Result<> CoinsWalk::UndoDownTo(const ChainView& chain, const HeaderNode& target,
                               CoinsCache& overlay)
{
    for (const HeaderNode* node = chain.Tip(); node != &target; node = node->prev) {
        if (chain.Interrupted()) return SystemError("Shutting down");
        const StoredBlock stored = chain.Where(*node);
        IBD_ASSIGN_OR_RETURN(auto block,
                             LoadBlock(chain.Blocks(), stored, chain.Params().consensus));
        IBD_ASSIGN_OR_RETURN(BlockUndo undo, BlockArchive(chain.Blocks()).Undo(stored));
        IBD_ASSIGN_OR_RETURN(
            const DisconnectVerdict verdict,
            DisconnectBlock(block->view, *node, chain.Params(), std::move(undo), overlay));
        if (verdict == DisconnectVerdict::kClean) continue;
        return BadData("block {} at height {}, its undo data and the coins disagree: restart with "
                       "-reindex-chainstate",
                       node->hash.ToHex(), node->height);
    }
    return {};
}

void CoinsWalk::TakeChanges(const CoinsCache& overlay)
{
    overlay.ForEachChange([&](const OutPoint& outpoint, const Coin* coin) {
        m_changes.push_back(
            {outpoint, CoinKey(outpoint), coin ? std::optional<Coin>(*coin) : std::nullopt});
    });
    std::sort(m_changes.begin(), m_changes.end(),
              [](const Change& a, const Change& b) { return CompareKeys(a.key, b.key) < 0; });
}

Result<std::unique_ptr<CoinsWalk>> CoinsWalk::Start(ChainManager& chain, const HeaderNode* target)
{
    if (!chain.Tip()) return BadData("there is no block yet");
    std::unique_ptr<CoinsWalk> walk;
    const auto start = [&](CoinsDb& coins, const CoinsCache& cache) -> Result<> {
        const HeaderNode& tip = *chain.Tip();
        const HeaderNode& block = target ? *target : tip;
        if (tip.Ancestor(block.height) != &block) {
            return BadData("block {} is not on the active chain", block.hash.ToHex());
        }
        CoinsCache overlay(cache, OutPointHasher(chain.Options().hash_key));
        IBD_RETURN_IF_ERROR(UndoDownTo(chain, block, overlay));
        walk.reset(new CoinsWalk(block, coins.Cursor()));
        walk->TakeChanges(overlay);
        return {};
    };
    IBD_RETURN_IF_ERROR(chain.VisitFlushed(start));
    return walk;
}

bool CoinsWalk::ChangeComesFirst() const
{
    if (m_next == m_changes.size()) return false;
    if (!m_cursor.Valid()) return true;
    return CompareKeys(m_changes[m_next].key, CoinKey(m_cursor.Key())) <= 0;
}

Result<bool> CoinsWalk::Next(OutPoint& outpoint, Coin& coin)
{
    while (ChangeComesFirst()) {
        Change& change = m_changes[m_next++];
        if (m_cursor.Valid() && m_cursor.Key() == change.outpoint) m_cursor.Next();
        if (!change.coin) continue;
        outpoint = change.outpoint;
        coin = std::move(*change.coin);
        return true;
    }
    if (!m_cursor.Valid()) {
        IBD_RETURN_IF_ERROR(m_cursor.Status());
        return false;
    }
    outpoint = m_cursor.Key();
    IBD_ASSIGN_OR_RETURN(coin, m_cursor.Value());
    m_cursor.Next();
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
