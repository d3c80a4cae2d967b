// See pool_feed.h.
#include "node/pool_feed.h"

#include "mempool/eviction.h"

namespace ibd {

void PoolFeed::BlockConnected(const HeaderNode&, const BlockView& block)
{
    const Lock lock(m_pool.mutex);
    m_pool.Confirm(block);
}

void PoolFeed::BlockDisconnected(const HeaderNode&, const BlockView& block)
{
    m_disconnected = true;
    if (m_chain == nullptr) return;
    const auto txs = block.Txs();
    for (size_t i = txs.size(); i-- > 1;) {
        auto tx = Transaction::Parse(txs[i].raw);
        CHECK(tx.Ok()); // it was in a valid block
        m_bytes += txs[i].raw.size();
        m_returned.push_front(std::move(*tx));
    }
    while (m_bytes > kMostReturned) {
        m_bytes -= m_returned.back()->View().raw.size();
        m_returned.pop_back();
    }
}

void PoolFeed::TipChanged(const HeaderNode& node)
{
    if (!m_disconnected) return;
    m_disconnected = false;
    if (ChainManager* const chain = m_chain) {
        const Lock lock(m_pool.mutex);
        if (const Result<> checked = CheckAnew(*chain, node); !checked) {
            m_fatal(checked.GetError());
        }
    }
    m_returned.clear();
    m_bytes = 0;
}

Result<> PoolFeed::CheckAnew(ChainManager& chain, const HeaderNode& tip)
{
    const CoinsAtTip at{tip, chain.Coins()};
    std::vector<PoolTx> before = m_pool.TakeAll();
    // Transactions also in a block of the new branch fail, as their coins are spent.
    for (const TransactionRef& tx : m_returned) {
        PoolTx entry{.tx = tx, .time = chain.Now(), .height = tip.height};
        IBD_RETURN_IF_ERROR(m_acceptance.Restore(std::move(entry), at, m_pool));
    }
    for (PoolTx& tx : before) {
        IBD_RETURN_IF_ERROR(m_acceptance.Restore(std::move(tx), at, m_pool));
    }
    Trim(m_pool);
    return {};
}

} // namespace ibd
