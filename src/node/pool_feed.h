// PoolFeed: keeps the transaction pool in step with the chain. Confirmed transactions leave it;
// transactions of disconnected blocks return if they are still valid, and the whole pool is checked
// again. Owned by the node. Called under the chain's state lock, on the thread that changes the
// chain. Memory: kMostReturned bytes of transactions during a reorganisation; above it the youngest
// are dropped. Time: a reorganisation checks the whole pool.
#pragma once

#include "mempool/tx_acceptance.h"
#include "validation/chain_manager.h"

#include <deque>

namespace ibd {

class PoolFeed final : public ChainObserver {
public:
    static constexpr size_t kMostReturned = 20'000'000;

    /** All arguments outlive it. While `chain` is null the pool is empty. `fatal` receives disk
     *  errors while coins are read. */
    PoolFeed(TxPool& pool, const TxAcceptance& acceptance, const std::atomic<ChainManager*>& chain,
             std::function<void(const Error&)> fatal)
        : m_pool(pool), m_acceptance(acceptance), m_chain(chain), m_fatal(std::move(fatal))
    {
    }

    void BlockConnected(const HeaderNode& node, const BlockView& block) override;
    void BlockDisconnected(const HeaderNode& node, const BlockView& block) override;
    void TipChanged(const HeaderNode& node) override;

private:
    Result<> CheckAnew(ChainManager& chain, const HeaderNode& tip) IBD_REQUIRES(m_pool.mutex);

    TxPool& m_pool;
    const TxAcceptance& m_acceptance;
    const std::atomic<ChainManager*>& m_chain;
    const std::function<void(const Error&)> m_fatal;
    bool m_disconnected = false;           //!< since the last tip
    std::deque<TransactionRef> m_returned; //!< in the order of their blocks
    size_t m_bytes = 0;                    //!< of m_returned
};

} // namespace ibd
