// See base_coins.h.
#include "booster/base_coins.h"

#include "storage/undo.h"
#include "swiftsync/coin_sorter.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** Adds the coins that a block spends, if they were made at or below `max_height`. */
Result<> AddSpent(const BlockView& block, const BlockUndo& undo, uint32_t max_height,
                  CoinSorter& sorter, Bytes& value)
{
    for (size_t i = 0; i < undo.txs.size(); ++i) {
        const TxView& tx = block.Txs()[i + 1];
        const std::vector<Coin>& spent = undo.txs[i].spent;
        if (spent.size() != tx.inputs.size()) return BadData("undo data does not fit the block");
        for (size_t j = 0; j < spent.size(); ++j) {
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

Result<std::unique_ptr<BaseCoins>> BaseCoins::Start(ChainManager& chain, const HeaderNode& base)
{
    std::unique_ptr<BaseCoins> walk;
    IBD_RETURN_IF_ERROR(chain.VisitFlushed([&](CoinsDb& coins, const CoinsCache&) -> Result<> {
        const HeaderNode& tip = *chain.Tip();
        CoinsCursor cursor = coins.Cursor();
        if (tip.Ancestor(base.height) != &base || cursor.BestBlock() != tip.hash) {
            return BadData("the coins are not above block {}", base.hash.ToHex());
        }
        walk.reset(new BaseCoins(chain, base, tip, std::move(cursor)));
        return {};
    }));
    return walk;
}

Result<bool> BaseCoins::TakeBack(Env& env, const Path& directory, size_t memory_bytes,
                                 const std::atomic<bool>& stop)
{
    if (&m_tip == &m_base) return true;
    IBD_RETURN_IF_ERROR(env.CreateDirectories(directory));
    CoinSorter sorter(env, directory, m_base.hash, memory_bytes);
    BlockView block;
    Bytes value;
    for (const HeaderNode* node = &m_tip; node != &m_base; node = node->prev) {
        if (stop) return false;
        IBD_ASSIGN_OR_RETURN(const Bytes raw, m_chain.ReadBlock(*node));
        IBD_ASSIGN_OR_RETURN(const BlockUndo undo, m_chain.ReadUndo(*node));
        IBD_RETURN_IF_ERROR(block.Parse(raw));
        if (undo.txs.size() + 1 != block.Txs().size()) {
            return BadData("undo data does not fit block {}", node->hash.ToHex());
        }
        IBD_RETURN_IF_ERROR(
            AddSpent(block, undo, static_cast<uint32_t>(m_base.height), sorter, value));
    }
    IBD_ASSIGN_OR_RETURN(const auto run, sorter.Finish(stop));
    if (!run) return false;
    IBD_ASSIGN_OR_RETURN(m_runs, OpenRuns(env, directory, {&*run, 1}, m_base.hash));
    m_spent.emplace(m_runs, 0, std::numeric_limits<uint64_t>::max());
    return true;
}

Result<> BaseCoins::NextSpent()
{
    m_next_spent.reset();
    if (!m_spent) return {};
    IBD_ASSIGN_OR_RETURN(const bool more, m_spent->Next());
    if (!more) return {};
    IBD_ASSIGN_OR_RETURN(Coin coin, DecodeCoin(m_spent->Record().Value()));
    m_next_spent.emplace(OutPointOf(m_spent->Record()), std::move(coin));
    return {};
}

Result<> BaseCoins::NextKept()
{
    m_next_kept.reset();
    for (; m_cursor.Valid() && !m_next_kept; m_cursor.Next()) {
        IBD_ASSIGN_OR_RETURN(Coin coin, m_cursor.Value());
        if (coin.height > static_cast<uint32_t>(m_base.height)) continue;
        m_next_kept.emplace(m_cursor.Key(), std::move(coin));
    }
    return m_next_kept ? Result<>() : m_cursor.Status();
}

Result<bool> BaseCoins::Next(OutPoint& outpoint, Coin& coin)
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

} // namespace ibd
