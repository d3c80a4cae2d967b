// See pool_feed.h.
#include "node/pool_feed.h"

#include "mempool/upkeep.h"

namespace ibd {

void PoolFeed::BlockConnected(const HeaderNode& node, const BlockView& block)
{
    if (m_disconnected) {
        for (const TxView& tx : block.Txs()) m_open.erase(tx.txid);
    }
    const Lock lock(m_pool.mutex);
    Confirm(m_pool, block, node.height, m_env.UnixTime());
}

void PoolFeed::BlockDisconnected(const HeaderNode& node, const BlockView& block)
{
    m_fork_height = m_disconnected ? std::min(m_fork_height, node.height - 1) : node.height - 1;
    m_disconnected = true;
    if (m_chain == nullptr) return;
    const auto txs = block.Txs();
    for (const TxView& tx : txs) m_open.emplace(tx.txid, tx.outputs.size());
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

void PoolFeed::SteppedBack(const HeaderNode& node, int blocks)
{
    if (blocks > kMostSteps) m_returned.clear();
    Follow(&node);
}

void PoolFeed::TipReached(const HeaderNode* node)
{
    Follow(node);
    m_pool.gate.Open();
}

/** Null: the chain failed, and the pool with it. */
void PoolFeed::Follow(const HeaderNode* node)
{
    if (m_disconnected && m_chain != nullptr && node != nullptr) Reorganise(*node);
    m_disconnected = false;
    m_returned.clear();
    m_bytes = 0;
    m_open.clear();
}

void PoolFeed::Reorganise(const HeaderNode& node)
{
    DisconnectedTxs disconnected;
    disconnected.fork_height = m_fork_height;
    for (TransactionRef& tx : m_returned) {
        if (m_open.erase(tx->Id()) != 0) disconnected.txs.push_back(std::move(tx));
    }
    disconnected.lost.assign(m_open.begin(), m_open.end());
    const Result<> done =
        ibd::Reorganise(m_acceptance, disconnected, node, m_coins, m_pool, m_env.UnixTime());
    if (!done) m_fatal(done.GetError());
}

} // namespace ibd
